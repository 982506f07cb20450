import type { Millis } from "../domain/clock.ts";
import type { Component, Evidence, HealthCause, HealthSample, InstanceVerdict, SignalName, Signals, Verdict } from "../domain/health.ts";
import { type HealthSettings, KILLED_S, MEMORY, type Rule, rulesOf } from "./rules.ts";

/** What a verdict is made from. */
export interface Window {
  readonly now: Millis;
  /** Oldest first, and no older than {@link windowMs}. */
  readonly samples: readonly HealthSample[];
  /** Time between two observations, in ms. */
  readonly periodMs: number;
  readonly settings: HealthSettings;
  /** Cause of the last verdict; absent: there is none. */
  readonly before?: HealthCause | undefined;
}

/** What shows that an instance works may be this old, and a period more, in ms. */
const RECENT_MS = 30_000;
/** A canary that is refreshed within this time shows that the instance works, in s. */
const REFRESHED_WITHIN_S = 30;
/** Fewer samples than this do not show that something lasts. */
const FEWEST_PROBES = 3;
/**
 * The share of samples in which a rule must hold, of those that tell anything about it. One in five may differ:
 * queues run empty now and then.
 */
const QUORUM = 0.8;
/** So many restarts of one component within the window are no accident. */
const MANY_RESTARTS = 3;
/**
 * The same for a component that is killed for using too much memory. Two are enough: what filled its memory is there again
 * after each restart.
 */
const MANY_KILLED = 2;
/**
 * So many evictions of repo-servers within an hour are no accident. One may end what everybody filled in weeks, and its successor begins
 * with an empty disk. A second one so soon shows that what is read now does not fit.
 */
const MANY_EVICTIONS = 2;

/** For how long an instance has to have been well before it is at rest, in ms. */
const WELL_MS = 300_000;
/** How many periods lie between two observations of an instance at rest. More would leave rates of the last minute without two observations to take them from. */
export const PERIODS_AT_REST = 2;

/**
 * How far back the samples of a verdict go, in ms. No rule has to hold for longer than twice `overloadMs`; five minutes
 * more leave room for a burst of a thousand new applications, which makes the rule about overload wait 200 s longer.
 */
export function windowMs({ overloadMs }: Pick<HealthSettings, "overloadMs">): number {
  return 2 * overloadMs + 300_000;
}

/**
 * Judges an instance by its latest samples. In this order: `unknown` without a recent sample; `failed` where a
 * component restarts or is evicted again and again; the first rule of `rulesOf` that has held for long enough; `unknown` where
 * nothing shows that it works; else `healthy`.
 */
export function judgeHealth(window: Window): Verdict {
  const { now, samples, periodMs, settings } = window;
  const newest = samples.at(-1);
  if (newest === undefined || now - newest.at > timeoutMs(periodMs)) return unknown("no-samples", "nobody has observed it for a while", []);
  const failing = restartsOf(samples) ?? evictionsOf(samples);
  if (failing !== undefined) return failing;
  const known = { newApplications: newApplications(samples), before: window.before };
  const rule = rulesOf(settings, known).find((each) => isOn(each, window));
  if (rule !== undefined) {
    const { state, cause, component, text } = rule;
    return { state, cause, component, text, evidence: evidenceOf(rule.evidence, samples) };
  }
  return isSeenToWork(window)
    ? well(window)
    : unknown("no-metrics", "its controller gives no answer, and nothing else tells how it is", samples);
}

function unknown(cause: Verdict["cause"], text: string, samples: readonly HealthSample[]): Verdict {
  return { state: "unknown", cause, component: undefined, text, evidence: evidenceOf(["controllerAnswers", "canaryS"], samples) };
}

/** The verdict where no rule applies: `healthy`, with the cause of what may seem wrong all the same. */
function well({ samples, settings }: Window): Verdict {
  const { signals = {} } = samples.at(-1) ?? {};
  const healthy = { state: "healthy", component: undefined } as const;
  const usual = evidenceOf(["canaryS", "queueWaitS", "utilisation", "reconcileS"], samples);
  if ((signals.troubledUnits ?? 0) > 0) {
    const text = "it works; applications of a workspace cannot be compared, which is that one's own trouble";
    return { ...healthy, cause: "workspace", text, evidence: [...evidenceOf(["troubledUnits", "units"], samples), ...usual] };
  }
  const isYoung = (signals.uptimeS ?? settings.graceMs) * 1_000 < settings.graceMs;
  if (isYoung || signals.isChanging === 1) {
    const text = "its controller has begun a short while ago, or is being changed";
    return { ...healthy, cause: "starting", text, evidence: evidenceOf(["uptimeS", "isChanging"], samples) };
  }
  return { ...healthy, cause: "none", text: "it works", evidence: usual };
}

/** Whether a sample of the last half minute shows that the instance works. */
function isSeenToWork({ now, samples, periodMs }: Window): boolean {
  return samples.some(({ at, signals }) => now - at <= RECENT_MS + periodMs && showsWork(signals));
}

/** Whether a sample shows that the instance works: its controller has answered, or, where nothing is known of that, a canary was refreshed in time. */
function showsWork({ controllerAnswers, canaryS }: Signals): boolean {
  if (controllerAnswers === 1) return true;
  return controllerAnswers !== 0 && canaryS !== undefined && canaryS < REFRESHED_WITHIN_S;
}

/** A sample that tells whether a rule holds. */
interface Telling {
  readonly at: Millis;
  readonly holds: boolean;
}

/**
 * Whether a rule has held for its `persistMs`, up to now or up to a moment at most `clearMs` ago. Only samples that tell
 * anything about the rule count.
 */
function isOn(rule: Rule, { now, samples, periodMs }: Window): boolean {
  const telling = samples.flatMap(({ at, signals }): readonly Telling[] => {
    const holds = rule.holds(signals);
    return holds === undefined ? [] : [{ at, holds }];
  });
  return telling.some(({ at, holds }, index) => {
    const isLast = index === telling.length - 1;
    return holds && (isLast || now - at <= rule.clearMs) && hasLasted(rule, telling.slice(0, index + 1), periodMs);
  });
}

/**
 * Whether a rule has held for its `persistMs` when the last of these samples was taken. There must be enough samples,
 * without too large a gap, and the rule must hold in nearly all of them (`QUORUM`).
 */
function hasLasted({ persistMs }: Rule, samples: readonly Telling[], periodMs: number): boolean {
  const end = samples.at(-1)?.at ?? 0;
  const before = ({ at }: Telling): number => end - at;
  const lasted = samples.findLastIndex((sample) => before(sample) >= persistMs);
  if (lasted < 0) return false;
  // Samples may be late or tell nothing: six in ten of those that the time would hold are enough.
  const needed = persistMs === 0 ? 1 : Math.max(FEWEST_PROBES, Math.floor((persistMs / periodMs) * 0.6));
  // The span reaches back to the last sample that is `persistMs` old, and further where that takes in the samples of
  // one more period, or as many as are needed. Samples of an instance that does not answer may be further apart than
  // `periodMs`, because each observation takes longer.
  const withPeriod = samples.findIndex((sample) => before(sample) <= persistMs + periodMs);
  const span = samples.slice(Math.max(0, Math.min(lasted, withPeriod, samples.length - needed)));
  const longest = Math.max(persistMs, needed * periodMs) + timeoutMs(periodMs);
  const isGapless = span.length >= needed && span.every((sample) => before(sample) <= longest);
  return isGapless && span.filter(({ holds }) => holds).length >= QUORUM * span.length;
}

/** How late a sample may come before it counts as missing, in ms. */
function timeoutMs(periodMs: number): number {
  return 3 * periodMs + 15_000;
}

/** The verdict on a component that has restarted too often within the window; `undefined`: none has. */
function restartsOf(samples: readonly HealthSample[]): Verdict | undefined {
  const counters: readonly (readonly [Component, SignalName])[] = [
    ["controller", "controllerRestarts"],
    ["repo-server", "repoServerRestarts"],
    ["redis", "redisRestarts"],
  ];
  for (const [component, signal] of counters) {
    const counts = samples.flatMap(({ signals }) => signals[signal] ?? []);
    const grown = counts.reduce((sum, count, index) => sum + Math.max(0, count - (counts[index - 1] ?? count)), 0);
    const killed = MEMORY.find((each) => each.component === component)?.killed;
    const isKilled = killed !== undefined && (samples.at(-1)?.signals[killed] ?? KILLED_S) < KILLED_S;
    if (grown < (isKilled ? MANY_KILLED : MANY_RESTARTS)) continue;
    const text = `its ${component} has begun anew ${grown} times within minutes`;
    if (!isKilled) return { state: "failed", cause: "restarts", component, text, evidence: evidenceOf([signal], samples) };
    const ended = `${text}: it uses more memory than it may`;
    return { state: "failed", cause: "memory", component, text: ended, evidence: evidenceOf([killed, signal], samples) };
  }
  return undefined;
}

/** The verdict on repo-servers that were evicted too often within an hour; `undefined`: they were not. */
function evictionsOf(samples: readonly HealthSample[]): Verdict | undefined {
  const { repoServerEvictions = 0, repoServerEvictedS = KILLED_S } = samples.at(-1)?.signals ?? {};
  if (repoServerEvictions < MANY_EVICTIONS || repoServerEvictedS >= KILLED_S) return undefined;
  const text = `its repo-server was evicted ${repoServerEvictions} times within an hour: it uses more disk than it may`;
  const evidence = evidenceOf(["repoServerEvictedS", "repoServerEvictions"], samples);
  return { state: "failed", cause: "disk", component: "repo-server", text, evidence };
}

/**
 * How many applications were added within the window. While a burst of them is worked off, an instance seems
 * overloaded and is not.
 */
function newApplications(samples: readonly HealthSample[]): number {
  const counts = samples.flatMap(({ signals }) => signals.applications ?? []);
  return Math.max(0, (counts.at(-1) ?? 0) - Math.min(...counts, Number.MAX_SAFE_INTEGER));
}

/**
 * Whether an instance is at rest: it has been well for five minutes, its controller answers, and the newest sample shows nothing of what any rule is about, even
 * for a moment. What is wrong with the applications of one workspace does not count.
 */
export function isAtRest(
  { now, samples, settings }: Pick<Window, "now" | "samples" | "settings">,
  { state, cause, since }: InstanceVerdict,
): boolean {
  const newest = samples.at(-1);
  if (state !== "healthy" || (cause !== "none" && cause !== "workspace") || now - since < WELL_MS) return false;
  if (newest?.signals.controllerAnswers !== 1) return false;
  return rulesOf(settings, { newApplications: 0, before: cause }).every(({ holds }) => holds(newest.signals) !== true);
}

/** The last known value of each signal. */
function evidenceOf(names: readonly SignalName[], samples: readonly HealthSample[]): readonly Evidence[] {
  return names.map((signal) => ({ signal, value: samples.findLast(({ signals }) => signals[signal] !== undefined)?.signals[signal] }));
}

/** The verdict as it is recorded. While state and cause stay the same, it keeps the time at which they began (`since`). */
export function nextVerdict(
  before: InstanceVerdict | undefined,
  verdict: Verdict,
  { instanceId, at, baseline }: Pick<InstanceVerdict, "instanceId" | "at" | "baseline">,
): InstanceVerdict {
  const isSame = before !== undefined && before.state === verdict.state && before.cause === verdict.cause;
  return { ...verdict, instanceId, at, baseline, since: isSame ? before.since : at };
}
