import type { Clock } from "../domain/clock.ts";
import type { UnitId } from "../domain/ids.ts";
import type { InstanceState } from "../domain/instance.ts";
import { OWNERSHIP_RULES, openFindings } from "../domain/ownership.ts";
import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import { createKeyedQueue, type WorkResult } from "../runtime/keyed-queue.ts";
import { abandonable } from "../runtime/kube/signals.ts";
import { limitTime } from "../runtime/kube/time-limit.ts";
import { every } from "../runtime/timer/every.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { ownershipResyncOf } from "./judge.ts";
import { doubtful, entriesOf, type Findings, inTurn, nextFindings, rowsInDoubt, startFindings } from "./next-findings.ts";
import { createOwnershipBook } from "./ownership-book.ts";
import type { ApplicationsSeen, ControllersSeen } from "./port.ts";
import { readSeen, readSilent } from "./read-observations.ts";
import { createOwnedRows } from "./read-owned.ts";

export interface WatchdogDeps {
  readonly store: Pick<Store, "ownership" | "moves" | "fleet" | "decisions" | "changes">;
  readonly applications: ApplicationsSeen;
  readonly controllers: ControllersSeen;
  /** The key is `watchdog`: one process runs it. */
  readonly partition: Partition;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Compares which instance should work on each application with those that do, on all instances, and reports what is wrong. */
export interface Watchdog {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
  /** Compares once. Returns when to compare again where something new has to be confirmed. */
  observe(signal: AbortSignal): Promise<WorkResult>;
}

const KEY = "watchdog";
/** Longest time between two checks, in ms. */
const OBSERVE_EVERY_MS = 30_000;
/** How soon a check is repeated that found something new, in ms: so it is reported within a minute of its beginning. */
const CONFIRM_MS = 5_000;
/** How long a check may take, in ms. Each request has its own limit: what takes longer than all of them hangs, and the next check must not wait for it. */
const CHECK_MS = 10 * 60_000;
const MANY = 100_000;
/** States in which Applications may exist in an instance's namespace. */
const STANDING: readonly InstanceState[] = ["ACTIVE", "CORDONED", "DRAINING"];

export function createWatchdog(deps: WatchdogDeps): Watchdog {
  const { store, applications, controllers, partition, clock, rng, log, metrics } = deps;
  let findings: Findings | undefined;
  let count = 0;
  let moving: readonly UnitId[] = [];
  const rows = createOwnedRows(store);
  let book = createOwnershipBook();
  const gauge = metrics.gauge(
    "argosy_watchdog_findings",
    "Findings about the ownership of applications that are reported and not cleared, by rule.",
    ["rule"],
  );
  const checks = metrics.counter(
    "argosy_watchdog_checks_total",
    "Checks of the ownership of applications, by whether each instance could be reached.",
    ["reach"],
  );
  gauge.collect(() => {
    const open = [...(findings?.known.values() ?? [])].filter(({ isOpen }) => isOpen);
    return OWNERSHIP_RULES.map((rule) => ({ value: open.filter(({ finding }) => finding.rule === rule).length, labels: { rule } }));
  });

  const observe = async (signal: AbortSignal): Promise<WorkResult> => {
    findings ??= startFindings(openFindings(await store.decisions.list({ kind: "ownership" }, MANY, signal)));
    const instances = (await store.fleet.listInstances(signal)).filter(({ state }) => STANDING.includes(state));
    const listed = new Set<string>([...doubtful(findings), ...inTurn(instances, count)]);
    count += 1;
    const [seen, silent] = await Promise.all([
      readSeen(applications, { instances, listed }, signal),
      readSilent(controllers, instances, signal),
    ]);
    const moves = await store.moves.listLive({}, signal);
    const resyncMs = ownershipResyncOf((await store.fleet.readFleet(signal))?.spec);
    // Those that were moved at the last check may have arrived.
    const moved = [...moving, ...moves.map(({ unitId }) => unitId)];
    const inDoubt = rowsInDoubt(findings, seen);
    // What has changed is taken in at once, and nothing is awaited in between: the next reading does not say it again.
    const read = await rows.read({ ...inDoubt, units: [...inDoubt.units, ...moved] }, signal);
    const now = clock.now();
    const found = book.judge({ ...read, now, seen, silent, instances, moves, resyncMs });
    moving = moves.map(({ unitId }) => unitId);
    const away = new Set<string>(instances.flatMap(({ id }) => (seen.has(id) ? [] : [id])));
    const { next, opened, cleared, isUnsure } = nextFindings(findings, found, (each) => each.instances.some((id) => away.has(id)));
    await store.decisions.append(entriesOf({ opened, cleared }, now), signal);
    for (const { rule, subject, text } of opened) log.error({ rule, subject, finding: text }, "Found an application without its one owner");
    for (const { rule, subject, text } of cleared) log.info({ rule, subject, finding: text }, "An application has its one owner again");
    findings = next;
    checks.add(1, { reach: away.size > 0 ? "some" : "all" });
    return isUnsure ? { requeueAfterMs: CONFIRM_MS } : {};
  };

  const rest = async (): Promise<WorkResult> => {
    [findings, book] = [undefined, createOwnershipBook()];
    rows.forget();
    await applications.rest();
    return {};
  };

  const queue = createKeyedQueue({
    clock,
    log,
    metrics,
    name: KEY,
    concurrency: 1,
    rng: rng.fork(KEY),
    backoff: { minMs: 1_000, maxMs: CONFIRM_MS },
    work: async (_key, signal) => {
      const limit = limitTime({ clock, doing: "checking the ownership of applications", timeoutMs: CHECK_MS }, signal);
      try {
        return await abandonable(partition.isMine(KEY) ? observe(limit.signal) : rest(), limit.signal);
      } finally {
        limit.release();
      }
    },
  });
  const ending = new AbortController();
  const check = (): void => queue.add(KEY);
  const stop = async (): Promise<void> => {
    ending.abort(new Error("the watchdog stops"));
    await queue.stop();
    rows.forget();
    await applications.rest();
  };
  return {
    observe,
    start(signal) {
      signal.addEventListener("abort", () => void stop(), { once: true });
      // A timer's: a check that failed for good would be the last one if each asked for the next.
      every({ clock, rng: rng.fork("watchdog-timer"), log, ms: OBSERVE_EVERY_MS, run: check }, ending.signal);
      queue.start();
      check();
    },
    stop,
  };
}
