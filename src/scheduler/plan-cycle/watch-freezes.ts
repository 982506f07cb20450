import type { Clock } from "../../domain/clock.ts";
import type { Freeze } from "../../domain/directive.ts";
import { InputError } from "../../domain/errors.ts";
import type { startCron } from "../../runtime/timer/cron.ts";
import type { Log } from "../../telemetry/log.ts";
import { freezeAt } from "../plan/assemble.ts";
import { cronExpressions } from "../plan/freeze-window.ts";

export interface FreezeWatchDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly startCron?: typeof startCron;
  /** Called when a freeze begins and when it ends: plans come out differently from now on. */
  readonly onChange: () => void;
}

export interface FreezeWatch {
  /** From now on these freezes are followed, and no others. */
  follow(freezes: readonly Freeze[]): void;
}

/**
 * Notifies when freezes begin and end, so that planning does not wait for its next cycle. The timer only says when to plan: whether a
 * freeze holds is decided anew from rows and clock with each plan, so a call that is lost or superfluous costs time at most.
 */
export function watchFreezes(deps: FreezeWatchDeps, signal: AbortSignal): FreezeWatch {
  const followed = new Map<string, AbortController>();
  return {
    follow(freezes) {
      const wanted = new Map(freezes.map((freeze) => [JSON.stringify(freeze), freeze]));
      for (const [key, ending] of followed) {
        if (wanted.has(key)) continue;
        ending.abort();
        followed.delete(key);
      }
      for (const [key, freeze] of wanted) {
        if (followed.has(key)) continue;
        const ending = new AbortController();
        followed.set(key, ending);
        followOne(deps, freeze, AbortSignal.any([ending.signal, signal]));
      }
    },
  };
}

function followOne({ clock, log, startCron, onChange }: FreezeWatchDeps, freeze: Freeze, signal: AbortSignal): void {
  if (startCron === undefined || signal.aborted) return;
  let cancel = (): void => undefined;
  signal.addEventListener("abort", () => cancel(), { once: true });
  const awaitEnd = (): void => {
    cancel();
    const until = freezeAt([freeze], clock.now())?.until;
    if (until !== undefined) cancel = clock.after(until - clock.now(), onChange);
  };
  const begin = (): void => {
    awaitEnd();
    onChange();
  };
  for (const schedule of freeze.schedule === undefined ? [] : cronExpressions(freeze.schedule)) {
    try {
      startCron({ schedule, run: begin, log }, signal);
    } catch (error) {
      // A day that no month has, as the 31st of February: it never begins.
      if (!(error instanceof InputError)) throw error;
    }
  }
  awaitEnd();
}
