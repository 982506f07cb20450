import { schedule as scheduleTask, validate } from "node-cron";
import { type Millis, millis } from "../../domain/clock.ts";
import { InputError } from "../../domain/errors.ts";
import type { Log } from "../../telemetry/log.ts";

export interface CronOptions {
  /** Five fields (minute, hour, day of month, month, day of week) or six with seconds in front. */
  readonly schedule: string;
  /** IANA name; UTC when absent, so that replicas on differently set machines agree. */
  readonly timezone?: string;
  /** Adds keys to a queue; anything longer belongs behind a queue. */
  readonly run: () => void;
  readonly log: Log;
}

export interface CronTrigger {
  /** When the function is called next. */
  nextAt(): Millis | undefined;
}

/**
 * Calls a function at the times of a cron schedule until the signal aborts. What it throws is logged and ends nothing. A time
 * that passed while the process was asleep or busy is made up for by the next resync, not by calling late. Throws InputError
 * for a schedule or a time zone that cannot be read.
 */
export function startCron({ schedule, timezone = "UTC", run, log }: CronOptions, signal: AbortSignal): CronTrigger {
  check(schedule, timezone);
  if (signal.aborted) return { nextAt: () => undefined };
  const task = scheduleTask(
    schedule,
    () => {
      try {
        run();
      } catch (err) {
        log.error({ err, schedule }, "Waiting for the next time after a timer's function failed");
      }
    },
    { timezone, suppressMissedWarning: true, logger: quiet(log) },
  );
  signal.addEventListener("abort", () => void task.destroy(), { once: true });
  return {
    nextAt() {
      const next = signal.aborted ? null : task.getNextRun();
      return next === null ? undefined : millis(next.getTime());
    },
  };
}

function check(schedule: string, timezone: string): void {
  if (!validate(schedule)) {
    throw new InputError("reading a cron schedule", {
      code: "timer.schedule",
      path: "schedule",
      remedy: "Give five fields: minute hour day month weekday, for example 0 3 * * 1",
    });
  }
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone });
  } catch (cause) {
    throw new InputError("reading a time zone", {
      code: "timer.timezone",
      path: "timezone",
      remedy: "Give a name of the IANA database, for example Europe/Berlin",
      cause,
    });
  }
}

/** The package writes to the console by itself otherwise. */
function quiet(log: Log): {
  info(text: string): void;
  warn(text: string): void;
  error(text: string | Error): void;
  debug(text: string | Error): void;
} {
  const write = (text: string | Error): void => log.debug({ reason: String(text) }, "Hearing from the timer");
  return { info: write, warn: write, error: write, debug: write };
}
