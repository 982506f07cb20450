import type { Millis } from "../domain/clock.ts";
import type { Component, Evidence, HealthCause, HealthSample, InstanceVerdict, SignalName, Verdict } from "../domain/health.ts";
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

/** Fewer samples than this do not show that something lasts. */
const FEWEST_LOOKS = 3;
/**
 * The share of samples in which a rule must hold, of those that tell anything about it. One in five may differ:
 * queues run empty now and then.
 */
const QUORUM = 0.8;
/** So many restarts of one component within the window are no accident. */
const MANY_RESTARTS = 3;
/**
 * The same for a component that is killed for lack of memory. Two are enough: what filled its memory is there again
 * after each restart.
 */
const MANY_KILLED = 2;

/**
 * How far back the samples of a verdict go, in ms. No rule has to hold for longer than twice `overloadMs`; five minutes
 * more leave room for a burst of a thousand new applications, which makes the rule about overload wait 200 s longer.
 */
export function windowMs({ overloadMs }: Pick<HealthSettings, "overloadMs">): number {
  return 2 * overloadMs + 300_000;
}

/**
 * Judges an instance by its latest samples. In this order: `unknown` without a recent sample; `failed` where a
 * component restarts again and again; the first rule of `rulesOf` that has held for long enough; `unknown` where
 * nothing shows that it works; else `healthy`.
 */
export function judge(window: Window): Verdict {
  const { now, samples, periodMs, settings } = window;
  const newest = samples.at(-1);
  if (newest === undefined || now - newest.at > patienceMs(periodMs))
    return unknown("no-samples", "nobody has looked at it for a while", []);
  const restarting = restartsOf(samples);
  if (restarting !== undefined) return restarting;
  const known = { newApplications: newApplications(samples), before: window.before };
  const rule = rulesOf(settings, known).find((each) => isOn(each, window));
  if (rule !== undefined) {
    const { state, cause, component, text } = rule;
    return { state, cause, component, text, evidence: evidenceOf(rule.evidence, samples) };
  }
  return isBlind(window)
    ? unknown("no-metrics", "its controller gives no answer, and nothing else tells how it is", samples)
    : well(window);
}

function unknown(cause: Verdict["cause"], text: string, samples: readonly HealthSample[]): Verdict {
  return { state: "unknown", cause, component: undefined, text, evidence: evidenceOf(["controllerAnswers", "canaryS"], samples) };
}

/** The verdict where no rule applies: `healthy`, with the cause of what may look wrong all the same. */
function well({ samples, settings }: Window): Verdict {
  const { signals = {} } = samples.at(-1) ?? {};
  const healthy = { state: "healthy", component: undefined } as const;
  const usual = evidenceOf(["canaryS", "queueWaitS", "utilisation", "reconcileS"], samples);
  if ((signals.troubledUnits ?? 0) > 0)
    return {
      ...{
        ...healthy,
        cause: "workspace",
        text: "it works; applications of a workspace cannot be compared, which is that one's own trouble",
      },
      evidence: [...evidenceOf(["troubledUnits", "units"], samples), ...usual],
    };
  if ((signals.uptimeS ?? settings.graceMs) * 1_000 < settings.graceMs || signals.isChanging === 1)
    return {
      ...{ ...healthy, cause: "starting", text: "its controller has begun a short while ago, or is being changed" },
      evidence: evidenceOf(["uptimeS", "isChanging"], samples),
    };
  return { ...healthy, cause: "none", text: "it works", evidence: usual };
}

/**
 * Whether no sample of the last half minute shows that the instance works. Its controller has answered, or, in a sample
 * that says nothing about the controller, a canary was refreshed within 30 s: either shows it.
 */
function isBlind({ now, samples, periodMs }: Window): boolean {
  const late = samples.filter(({ at }) => now - at <= 30_000 + periodMs);
  return !late.some(({ signals }) => signals.controllerAnswers === 1 || (signals.controllerAnswers !== 0 && (signals.canaryS ?? 31) < 30));
}

/**
 * Whether a rule has held for its `persistMs`, up to now or up to a moment at most `clearMs` ago. Only samples that
 * tell anything about the rule count. Of these there must be enough, without too large a gap, and the rule must hold in
 * nearly all of them (`QUORUM`).
 */
function isOn(rule: Rule, { now, samples, periodMs }: Window): boolean {
  const told = samples.flatMap(({ at, signals }) => {
    const holds = rule.holds(signals);
    return holds === undefined ? [] : [{ at, holds }];
  });
  // Samples may be late or tell nothing: six in ten of those that the time would hold are enough.
  const needed = rule.persistMs === 0 ? 1 : Math.max(FEWEST_LOOKS, Math.floor((rule.persistMs / periodMs) * 0.6));
  const longest = Math.max(rule.persistMs, needed * periodMs) + patienceMs(periodMs);
  return told.some((end, index) => {
    if (!end.holds || (end !== told.at(-1) && now - end.at > rule.clearMs)) return false;
    // The span reaches back to the last sample that is `persistMs` old, and further where that takes in the samples of
    // one more period, or as many as are needed. Samples of an instance that does not answer may be further apart than
    // `periodMs`, because each observation takes longer.
    const lasted = told.findLastIndex(({ at }) => end.at - at >= rule.persistMs);
    const earlier = told.findIndex(({ at }) => end.at - at <= rule.persistMs + periodMs);
    const span = told.slice(Math.max(0, Math.min(lasted, earlier, index + 1 - needed)), index + 1);
    if (lasted < 0 || span.length < needed || end.at - (span[0]?.at ?? 0) > longest) return false;
    return span.filter(({ holds }) => holds).length >= QUORUM * span.length;
  });
}

/** How late a sample may come before it counts as missing, in ms. */
function patienceMs(periodMs: number): number {
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

/**
 * How many applications were added within the window. While a burst of them is worked off, an instance looks
 * overloaded and is not.
 */
function newApplications(samples: readonly HealthSample[]): number {
  const counts = samples.flatMap(({ signals }) => signals.applications ?? []);
  return Math.max(0, (counts.at(-1) ?? 0) - Math.min(...counts, Number.MAX_SAFE_INTEGER));
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
