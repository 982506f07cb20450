import type { InstanceId } from "../../domain/ids.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Events } from "../events/controller.ts";
import type { EngineShard, Engines } from "../port.ts";
import type { Hosts } from "../seats/controller.ts";
import { statusKey } from "../status/controller.ts";
import type { SweepController } from "../sweep/controller.ts";

/** Looks which instances are ours, sees to it that their clusters are watched, and asks for each of them. */
export interface Survey {
  survey(signal: AbortSignal): Promise<void>;
  /** Asks for the status of everything that is watched. */
  recheckStatuses(): void;
  end(): void;
}

export interface SurveyDeps {
  readonly hosts: Hosts;
  readonly engines: Engines;
  readonly events: Events;
  /** Engine clusters that are watched, by name; filled here. */
  readonly watched: Map<string, EngineShard>;
  readonly sweep: Pick<SweepController, "revisit">;
  readonly requestInstance: (id: InstanceId) => void;
  readonly requestStatus: (key: string) => void;
  readonly signal: AbortSignal;
  readonly log: Log;
}

export function createSurvey(deps: SurveyDeps): Survey {
  const { hosts, watched, log } = deps;
  const ends: (() => void)[] = [];

  const recheck = (engine: EngineShard): void => {
    for (const { at } of engine.applications.list()) deps.requestStatus(statusKey(engine.cluster, at));
  };

  /** What a unit left that was failed over meanwhile goes now, not with the round. */
  const revisit = ({ cluster }: EngineShard): void => {
    for (const { id, engineCluster } of hosts.mine()) {
      if (engineCluster !== cluster) continue;
      deps.sweep.revisit(id);
      deps.requestInstance(id);
    }
  };

  const watch = async (cluster: string): Promise<void> => {
    if (watched.has(cluster)) return;
    const engine = await deps.engines.get(cluster);
    if (engine === undefined) return log.warn({ cluster }, "Leaving out the instances of an engine cluster that cannot be reached");
    watched.set(cluster, engine);
    ends.push(
      deps.events.followEngine(engine),
      engine.onReturn(() => revisit(engine)),
    );
    // Only stopping ends the wait early.
    void engine.synced(deps.signal).then(
      () => recheck(engine),
      () => undefined,
    );
  };

  return {
    async survey(signal) {
      await hosts.refresh(signal);
      const mine = hosts.mine();
      for (const cluster of new Set(mine.map((instance) => instance.engineCluster))) await watch(cluster);
      for (const instance of mine) deps.requestInstance(instance.id);
    },
    recheckStatuses: () => watched.forEach(recheck),
    end: () => ends.splice(0).forEach((end) => end()),
  };
}
