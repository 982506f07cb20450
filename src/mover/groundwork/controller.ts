import type { Ground, Grounds } from "../../reconciler/port.ts";
import type { View } from "../look/controller.ts";

/** What Applications of a moved unit need on its two instances. */
export interface Groundwork {
  /** Makes it on the target. Returns what that waits for, for people. */
  raise(view: View, signal: AbortSignal): Promise<readonly string[]>;
  clear(view: View, side: "source" | "target", signal: AbortSignal): Promise<void>;
}

export function createGroundwork(grounds: Grounds): Groundwork {
  const groundOf = ({ move, source, target }: View, side: "source" | "target"): Ground => {
    return { unitId: move.unitId, instance: side === "source" ? source : target, epoch: move.toEpoch };
  };
  return {
    async raise(view, signal) {
      // The source's too where accounts are made: what it entered an environment with before may be nothing that can be taken from it.
      const { abroad, move } = view;
      const onSource =
        abroad.length === 0
          ? []
          : await grounds.raise({ ...groundOf(view, "source"), epoch: move.fromEpoch, withoutEnvironments: view.unknown }, signal);
      return [...onSource, ...(await grounds.raise({ ...groundOf(view, "target"), withoutEnvironments: view.unknown }, signal))];
    },
    clear: (view, side, signal) => grounds.clear(groundOf(view, side), signal),
  };
}
