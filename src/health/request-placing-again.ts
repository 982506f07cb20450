import type { Clock, Millis } from "../domain/clock.ts";
import type { InstanceVerdict } from "../domain/health.ts";
import type { UnitId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { PlaceElsewhere } from "./port.ts";
import { whyPlaceAgain } from "./why-place-again.ts";

export interface PlacingAgainDeps {
  readonly store: Pick<Store, "health">;
  readonly placeElsewhere: PlaceElsewhere;
  readonly clock: Clock;
  readonly log: Log;
}

export interface PlacingAgain {
  /** Requests another instance for each unit that waits in vain for its first comparison on this one. */
  probe(instance: Instance, verdict: InstanceVerdict, signal: AbortSignal): Promise<void>;
}

/** How many units one probe places again at most. The next probes take the rest. */
const AT_ONCE = 50;

export function createPlacingAgain({ store, placeElsewhere, clock, log }: PlacingAgainDeps): PlacingAgain {
  /**
   * Units that no other instance took, and when. They are requested again after a while, and do not hold up others
   * until then.
   */
  const stayed = new Map<UnitId, Millis>();
  const askFor = async (unit: UnitId, instance: Instance, why: string, signal: AbortSignal): Promise<void> => {
    const refusal = await placeElsewhere(unit, why, signal);
    const about = { instance: instance.name, unit };
    if (refusal === undefined) return log.warn(about, "Placing a unit again that its instance never compared");
    stayed.set(unit, clock.now());
    log.info({ ...about, refusal }, "Leaving a unit on an instance that never compared it");
  };
  return {
    async probe(instance, verdict, signal) {
      const reason = whyPlaceAgain(instance, verdict, clock.now());
      if (reason === undefined) return;
      const { why, ...age } = reason;
      for (const [unit, at] of stayed) if (at <= age.notMovedSince) stayed.delete(unit);
      const found = await store.health.listNeverCompared({ ...age, instanceId: instance.id, limit: AT_ONCE + stayed.size }, signal);
      const due = found.filter((unit) => !stayed.has(unit)).slice(0, AT_ONCE);
      for (const unit of due) await askFor(unit, instance, why, signal);
    },
  };
}
