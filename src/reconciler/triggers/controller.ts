import type { Change } from "../../domain/change.ts";
import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId, UnitId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { ChangeFeed } from "../../store/port.ts";
import type { Intake } from "../intake/controller.ts";
import type { Queues } from "../queues/controller.ts";
import type { Survey } from "../survey/controller.ts";
import type { SweepController } from "../sweep/controller.ts";

/** What makes the reconciler look: hints of changed rows, a new share of the instances, and the passing of time. */
export interface Triggers {
  start(): void;
  stop(): void;
}

export interface TriggersDeps {
  readonly changes: ChangeFeed;
  readonly partition: Partition;
  readonly intake: Intake;
  readonly queues: Pick<Queues, "requestFleet" | "requestUnit" | "requestSync">;
  readonly sweep: Pick<SweepController, "distrust">;
  readonly survey: Pick<Survey, "recheckStatuses">;
  readonly clock: Clock;
}

/** Rows that lag are looked for this often, so a lost hint costs no more. */
const SWEEP_EVERY_MS = 15_000;

export function createTriggers(deps: TriggersDeps): Triggers {
  const { queues, clock } = deps;
  const ends: (() => void)[] = [];
  /** Looks at everything of ours, thoroughly. */
  const resync = (): void => {
    deps.sweep.distrust();
    queues.requestFleet();
  };

  const onHints = (hints: readonly Change[] | "missed"): void => {
    if (hints === "missed") return resync();
    deps.intake.take(hints.filter((hint) => hint.kind === "application").map((hint) => hint.id as ApplicationId));
    for (const { kind, id } of hints) {
      if (kind === "unit") queues.requestUnit(id as UnitId);
      if (kind === "sync-queue") queues.requestSync(id as ApplicationId);
    }
    if (hints.some((hint) => hint.kind === "instance")) queues.requestFleet();
  };
  const onNewShare = (): void => {
    resync();
    deps.survey.recheckStatuses();
  };
  let cancelTick = (): void => undefined;
  const tick = (): void => {
    queues.requestFleet();
    cancelTick = clock.after(SWEEP_EVERY_MS, tick);
  };

  return {
    start() {
      ends.push(deps.changes.subscribe(onHints), deps.partition.onChange(onNewShare), () => cancelTick());
      tick();
    },
    stop: () => ends.splice(0).forEach((end) => end()),
  };
}
