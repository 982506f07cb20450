import type { Environment } from "../../domain/environment.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { EnvironmentRegisters, VisitEnd } from "../../workspace/environment/port.ts";
import type { Abroad } from "../abroad.ts";
import type { View } from "../look/controller.ts";
import { ENVIRONMENT_FENCE_MS, judgeAnswer, type PlacedAnswer } from "../proof.ts";
import type { Visited } from "../visits.ts";

/** What a move does in the environments where its unit has registers. */
export interface Outside {
  /** Does in each what the move's phase asks. */
  visit(view: View, signal: AbortSignal): Promise<readonly Visited[]>;
  /** Asks there whether the account of a side may write; not where nothing could be done in this phase. */
  ask(view: View, whom: "source" | "target", signal: AbortSignal): Promise<readonly PlacedAnswer[]>;
}

/** How a unit that is not moved after all goes back to its owner. */
interface Back {
  readonly unitId: UnitId;
  readonly from: InstanceId;
  readonly to: InstanceId;
  /** The move's, and the newer one that the owner has the unit under. */
  readonly epoch: number;
  readonly unitEpoch: number;
}

export function createOutside(registers: EnvironmentRegisters): Outside {
  const visitOne = ({ move, unitEpoch }: View, environment: Environment, signal: AbortSignal): Promise<VisitEnd> => {
    const { unitId, from, to, toEpoch: epoch } = move;
    switch (move.phase) {
      case "PREPARE":
        return registers.prepare(environment, { unitId, instanceId: to, epoch }, signal);
      case "REVOKE":
        return registers.hand(environment, { unitId, epoch, instanceId: undefined }, signal);
      case "GRANT":
        return registers.hand(environment, { unitId, epoch, instanceId: to }, signal);
      case "CLEANUP":
        return registers.clear(environment, { unitId, instanceId: from, epoch }, signal);
      case "ABORT":
        return giveBack(environment, { unitId, from, to, epoch, unitEpoch }, signal);
      default:
        return Promise.resolve({ kind: "done" });
    }
  };

  /** The old owner first: it has had no right for long enough. */
  const giveBack = async (environment: Environment, back: Back, signal: AbortSignal): Promise<VisitEnd> => {
    const { unitId, from, to, epoch, unitEpoch } = back;
    const handed = await registers.hand(environment, { unitId, epoch: unitEpoch, instanceId: from }, signal);
    if (handed.kind === "away" || handed.kind === "waiting") return handed;
    return registers.clear(environment, { unitId, instanceId: to, epoch }, signal);
  };

  return {
    visit: (view, signal) =>
      Promise.all(
        view.abroad.map(async ({ environment }) => {
          return { environment: environment.name, outcome: await visitOne(view, environment, signal) };
        }),
      ),
    async ask({ abroad, visits, move }, whom, signal) {
      const instanceId = whom === "source" ? move.from : move.to;
      const reached = new Set(visits?.flatMap(({ environment, outcome }) => (outcome.kind === "away" ? [] : [environment])));
      const askOne = async ({ environment, namespaces }: Abroad): Promise<readonly PlacedAnswer[]> => {
        const said = await registers.ask(environment, { unitId: move.unitId, instanceId, namespaces }, signal);
        return said.map(({ endpoint, user, isAllowed, trial }) => {
          return { endpoint, answer: judgeAnswer(isAllowed, trial, user), environment: environment.name, fenceMs: ENVIRONMENT_FENCE_MS };
        });
      };
      return (await Promise.all(abroad.filter(({ environment }) => reached.has(environment.name)).map(askOne))).flat();
    },
  };
}
