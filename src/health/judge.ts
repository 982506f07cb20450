import type { Millis } from "../domain/clock.ts";
import type { Component, Evidence, HealthCause, HealthSample, InstanceVerdict, SignalName, Verdict } from "../domain/health.ts";
import { type HealthSettings, KILLED_S, MEMORY, type Rule, rulesOf } from "./rules.ts";

export interface Window {
  readonly now: Millis;
  /** Oldest first; those of {@link windowMs} count. */
  readonly samples: readonly HealthSample[];
  /** Time between two looks, in ms. */
  readonly periodMs: number;
  readonly settings: HealthSettings;
  /** What was said last; absent: nothing. */
  readonly before?: HealthCause | undefined;
}

/** Fewer looks than this prove nothing that has to last. */
const FEWEST_LOOKS = 3;
/** Of the samples that tell, so many must say the same. One in five may be odd: queues run empty now and then. */
const QUORUM = 0.8;
/** Restarts of one component within the window that are no accident any more. */
const MANY_RESTARTS = 3;
/** Of one that is ended for want of memory each time: what fills it is there again each time. */
const MANY_KILLED = 2;

/** How much of the past verdicts are made from, in ms: what takes longest to be believed, a burst of a thousand applications before it. */
export function windowMs({ overloadMs }: Pick<HealthSettings, "overloadMs">): number {
  return 2 * overloadMs + 300_000;
}

/** Judges an instance by what was seen of it lately. The first rule that has held long enough counts; without samples nothing is said. */
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

/** Nothing speaks against it. */
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

/** Neither its controller nor a canary has told anything for half a minute. */
function isBlind({ now, samples, periodMs }: Window): boolean {
  const late = samples.filter(({ at }) => now - at <= 30_000 + periodMs);
  return !late.some(({ signals }) => signals.controllerAnswers === 1 || (signals.controllerAnswers !== 0 && (signals.canaryS ?? 31) < 30));
}

/** Whether a rule has held for its time until now, or until a moment ago. */
function isOn(rule: Rule, { now, samples, periodMs }: Window): boolean {
  const told = samples.flatMap(({ at, signals }) => {
    const holds = rule.holds(signals);
    return holds === undefined ? [] : [{ at, holds }];
  });
  const needed = rule.persistMs === 0 ? 1 : Math.max(FEWEST_LOOKS, Math.floor((rule.persistMs / periodMs) * 0.6));
  const longest = Math.max(rule.persistMs, needed * periodMs) + patienceMs(periodMs);
  return told.some((end, index) => {
    if (!end.holds || (end !== told.at(-1) && now - end.at > rule.clearMs)) return false;
    // A span that begins between two samples begins with the earlier one, also where looks at what gives no answer take longer than the time between two.
    const lasted = told.findLastIndex(({ at }) => end.at - at >= rule.persistMs);
    const earlier = told.findIndex(({ at }) => end.at - at <= rule.persistMs + periodMs);
    const span = told.slice(Math.max(0, Math.min(lasted, earlier, index + 1 - needed)), index + 1);
    if (lasted < 0 || span.length < needed || end.at - (span[0]?.at ?? 0) > longest) return false;
    return span.filter(({ holds }) => holds).length >= QUORUM * span.length;
  });
}

/** How late a look may come, in ms. */
function patienceMs(periodMs: number): number {
  return 3 * periodMs + 15_000;
}

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

/** A burst of new applications looks like an overload while it lasts, and is none. */
function newApplications(samples: readonly HealthSample[]): number {
  const counts = samples.flatMap(({ signals }) => signals.applications ?? []);
  return Math.max(0, (counts.at(-1) ?? 0) - Math.min(...counts, Number.MAX_SAFE_INTEGER));
}

function evidenceOf(names: readonly SignalName[], samples: readonly HealthSample[]): readonly Evidence[] {
  return names.map((signal) => ({ signal, value: samples.findLast(({ signals }) => signals[signal] !== undefined)?.signals[signal] }));
}

/** The verdict as it is recorded: one that is still the same keeps its beginning. */
export function nextVerdict(
  before: InstanceVerdict | undefined,
  verdict: Verdict,
  { instanceId, at, baseline }: Pick<InstanceVerdict, "instanceId" | "at" | "baseline">,
): InstanceVerdict {
  const isSame = before !== undefined && before.state === verdict.state && before.cause === verdict.cause;
  return { ...verdict, instanceId, at, baseline, since: isSame ? before.since : at };
}
