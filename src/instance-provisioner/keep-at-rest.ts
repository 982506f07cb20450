import type { Clock } from "../domain/clock.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance, InstanceState } from "../domain/instance.ts";
import type { Rng } from "../domain/rng.ts";
import type { Scene } from "./observe-instance.ts";
import type { EngineClusterPort, EngineClusters } from "./port.ts";

/** Which instances a sweep may leave out, since they were found as declared and nothing has changed. */
export interface AtRest {
  /** Remembers that an instance is as declared: nothing waits, and nothing is under way. */
  remember(scene: Scene): void;
  forget(id: InstanceId): void;
  /**
   * Whether the instance was found as declared in the last minutes, and its row, the declared fleet and the connection to its cluster are the same still.
   * Its objects are watched, and a change of one has it reconciled without a sweep.
   */
  isStill(instance: Instance, fleetRevision: number | undefined): Promise<boolean>;
}

/**
 * Time after which an instance at rest is reconciled all the same, in ms; at the earliest after half of it, so that those of one fleet take turns. Its
 * certificates are checked then, of which months are left when they are renewed.
 */
const LEFT_OUT_MS = 600_000;
/** States that nothing leaves with time alone. */
const LASTING: ReadonlySet<InstanceState> = new Set(["ACTIVE", "CORDONED"]);

interface Found {
  readonly revision: number;
  readonly fleetRevision: number | undefined;
  readonly cluster: EngineClusterPort;
  /** On the clock that only grows. */
  readonly untilMs: number;
}

export function createAtRest({
  clusters,
  clock,
  rng,
}: {
  readonly clusters: Pick<EngineClusters, "get">;
  readonly clock: Clock;
  readonly rng: Rng;
}): AtRest {
  const found = new Map<InstanceId, Found>();
  return {
    remember({ facts: { instance }, fleetRevision, cluster }) {
      if (cluster === undefined || !LASTING.has(instance.state)) return;
      const untilMs = clock.monotonicMs() + LEFT_OUT_MS * (0.5 + rng.next() / 2);
      found.set(instance.id, { revision: instance.revision, fleetRevision, cluster, untilMs });
    },
    forget: (id) => void found.delete(id),
    async isStill({ id, revision, engineCluster }, fleetRevision) {
      const before = found.get(id);
      if (before === undefined) return false;
      const isSame = before.revision === revision && before.fleetRevision === fleetRevision && clock.monotonicMs() < before.untilMs;
      if (isSame && (await clusters.get(engineCluster).catch(() => undefined)) === before.cluster) return true;
      found.delete(id);
      return false;
    },
  };
}
