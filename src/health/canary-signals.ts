import { type Millis, millis } from "../domain/clock.ts";
import type { Signals } from "../domain/health.ts";
import type { ProbedApplication, ProbedPod } from "../domain/probed.ts";
import { ACTIVE_CANARIES, type AskedCanaries, type AskedCanary, PASSIVE_CANARY } from "./canaries.ts";
import { known } from "./derive-signals.ts";

/** `reconciledAt` is rounded to whole seconds. */
const SECOND_MS = 1_000;

/**
 * Brings the requested canaries up to date with what was observed. A request that still waits keeps the time at which
 * it began.
 */
export function nextAsked(asked: AskedCanaries, seen: readonly ProbedApplication[], now: Millis): AskedCanaries {
  const found = new Map(seen.map((each) => [each.name, each]));
  return new Map([...asked].map(([name, one]): readonly [string, AskedCanary] => [name, answeredBy(one, found.get(name), now)]));
}

/** What is remembered of a canary, brought up to date with one observation of it. */
export function answeredBy(asked: AskedCanary, seen: ProbedApplication | undefined, now: Millis): AskedCanary {
  if (asked.tookS !== undefined || seen === undefined || seen.awaitsObservation || seen.reconciledAt === undefined) return asked;
  if (seen.reconciledAt < Math.floor(asked.at / SECOND_MS) * SECOND_MS) return asked;
  // Both are upper bounds, and the lesser one counts: the comparison ended before now, and within the second that
  // `reconciledAt` names.
  return { ...asked, tookS: Math.max(0, Math.min(now - asked.at, seen.reconciledAt + SECOND_MS - asked.at)) / 1_000 };
}

/** What a sample of the Applications that are no canaries shows. */
export interface Sampled {
  /** The newest comparison that Argo CD made by itself. `undefined`: the sample shows none. */
  readonly newestAt: Millis | undefined;
  /** Of how many Applications that is the newest. */
  readonly count: number;
}

/**
 * For how long a sample is kept, counted from the newest comparison that it shows, in ms. Until it is read again it makes that comparison seem older than
 * the newest one is, by no more than this and one period. No verdict is given below a resync, its addition and a minute (`rules.ts`), so each
 * rests on a sample that was read for it.
 */
const KEPT_MS = 60_000;

/** Whether the sample has to be read again before anything may be concluded from how old its newest comparison is. */
export function isSampleDue(sampled: Sampled | undefined, now: Millis): boolean {
  return sampled?.newestAt === undefined || now - sampled.newestAt > KEPT_MS;
}

/**
 * Argo CD does not write a new `reconciledAt` where a comparison fails. So an application with an error does not count: a mistake of its user, or a
 * Git server that fails, would look like a controller that hangs.
 */
export function sampledOf(applications: readonly ProbedApplication[]): Sampled {
  const observed = applications.flatMap(({ awaitsObservation, isPaused, hasError, reconciledAt }) =>
    awaitsObservation || isPaused || hasError ? [] : (reconciledAt ?? []),
  );
  return { newestAt: observed.length === 0 ? undefined : millis(Math.max(...observed)), count: observed.length };
}

export interface SeenNamespace {
  readonly now: Millis;
  readonly asked: AskedCanaries;
  readonly canaries: readonly ProbedApplication[];
  readonly sampled: Sampled;
  readonly pods: readonly ProbedPod[];
  /** How many probes in a row, before this one, found a canary with an error. */
  readonly errors: number;
}

/** The signals that an instance's Applications and pods give. */
export function namespaceSignals({ now, asked, canaries, sampled, pods, errors }: SeenNamespace): Signals {
  const questions = ACTIVE_CANARIES.flatMap((name) =>
    questionOf(
      asked.get(name),
      canaries.find((each) => each.name === name),
    ),
  );
  const canaryS = waitOf(questions, now);
  const passive = canaries.find(({ name }) => name === PASSIVE_CANARY)?.reconciledAt;
  const ageS = (at: number): number => Math.max(0, now - at) / 1_000;
  const restarts = (of: ProbedPod["component"]): number | undefined => {
    const own = pods.filter(({ component }) => component === of);
    return own.length === 0 ? undefined : own.reduce((sum, pod) => sum + pod.restarts, 0);
  };
  const unready = pods.flatMap(({ unreadySince }) => unreadySince ?? []);
  return known({
    canaryS,
    canaryErrors: canaryS === undefined ? undefined : errors,
    passiveAgeS: passive === undefined ? undefined : ageS(passive),
    newestAgeS: sampled.newestAt === undefined ? undefined : ageS(sampled.newestAt),
    sampledApplications: sampled.count,
    controllerRestarts: restarts("controller"),
    repoServerRestarts: restarts("repo-server"),
    redisRestarts: restarts("redis"),
    unreadyS: pods.length === 0 ? undefined : unready.length === 0 ? 0 : ageS(Math.min(...unready)),
  });
}

/** A canary that has never been compared says nothing: its instance may still be starting, or its source may be wrong. */
function questionOf(asked: AskedCanary | undefined, seen: ProbedApplication | undefined): readonly AskedCanary[] {
  return asked === undefined || seen?.reconciledAt === undefined ? [] : [asked];
}

/**
 * The wait of the quicker of two canaries, in s; the controller may have missed the other. A canary that still waits
 * only shows a lower bound. So where one has answered, the waiting one does not count, even if it was requested only
 * just now.
 */
function waitOf(questions: readonly AskedCanary[], now: Millis): number | undefined {
  const answers = questions.flatMap(({ tookS }) => tookS ?? []);
  const waits = answers.length > 0 ? answers : questions.map(({ at }) => (now - at) / SECOND_MS);
  return waits.length === 0 ? undefined : Math.min(...waits);
}
