import type { Millis } from "../domain/clock.ts";
import type { Signals } from "../domain/health.ts";
import type { ProbedApplication, ProbedPod } from "../domain/probed.ts";
import { ACTIVE_CANARIES, type AskedCanaries, type AskedCanary, PASSIVE_CANARY } from "./canaries.ts";
import { known } from "./derive-signals.ts";

/** `reconciledAt` has whole seconds. */
const SECOND_MS = 1_000;

/** What canaries that were asked for have done by now. A question that stands keeps its beginning. */
export function nextAsked(asked: AskedCanaries, seen: readonly ProbedApplication[], now: Millis): AskedCanaries {
  const found = new Map(seen.map((each) => [each.name, each]));
  return new Map([...asked].map(([name, one]): readonly [string, AskedCanary] => [name, answeredBy(one, found.get(name), now)]));
}

function answeredBy(asked: AskedCanary, seen: ProbedApplication | undefined, now: Millis): AskedCanary {
  if (asked.tookS !== undefined || seen === undefined || seen.awaitsObservation || seen.reconciledAt === undefined) return asked;
  if (seen.reconciledAt < Math.floor(asked.at / SECOND_MS) * SECOND_MS) return asked;
  // Seen later than it was done, and done in whole seconds: whichever is less.
  return { ...asked, tookS: Math.max(0, Math.min(now - asked.at, seen.reconciledAt + SECOND_MS - asked.at)) / 1_000 };
}

export interface SeenStanding {
  readonly now: Millis;
  readonly asked: AskedCanaries;
  readonly canaries: readonly ProbedApplication[];
  readonly others: readonly ProbedApplication[];
  readonly pods: readonly ProbedPod[];
  /** Looks at canaries in a row that ended with an error, before this one. */
  readonly errors: number;
}

/** What stands in an instance's namespace tells of it. */
export function standingSignals({ now, asked, canaries, others, pods, errors }: SeenStanding): Signals {
  const questions = ACTIVE_CANARIES.flatMap((name) =>
    questionOf(
      asked.get(name),
      canaries.find((each) => each.name === name),
    ),
  );
  const canaryS = waitOf(questions, now);
  const passive = canaries.find(({ name }) => name === PASSIVE_CANARY)?.reconciledAt;
  // Argo CD writes no new time where a comparison failed: what a user, or a Git server, did wrong would look like a controller that hangs.
  const observed = others.flatMap(({ awaitsObservation, isPaused, hasError, reconciledAt }) =>
    awaitsObservation || isPaused || hasError ? [] : (reconciledAt ?? []),
  );
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
    newestAgeS: observed.length === 0 ? undefined : ageS(Math.max(...observed)),
    sampledApplications: observed.length,
    controllerRestarts: restarts("controller"),
    repoServerRestarts: restarts("repo-server"),
    redisRestarts: restarts("redis"),
    unreadyS: pods.length === 0 ? undefined : unready.length === 0 ? 0 : ageS(Math.min(...unready)),
  });
}

/** One that was never looked at since it was made says nothing: its instance may still be starting, or its source be wrong. */
function questionOf(asked: AskedCanary | undefined, seen: ProbedApplication | undefined): readonly AskedCanary[] {
  return asked === undefined || seen?.reconciledAt === undefined ? [] : [asked];
}

/**
 * Of two canaries the quicker one counts: the other may have been overlooked. One that waits says no more than that it takes as long at least: beside
 * one that was answered, and asked for no longer ago than a round, it is not the quicker one for having been asked for just now.
 */
function waitOf(questions: readonly AskedCanary[], now: Millis): number | undefined {
  const answers = questions.flatMap(({ tookS }) => tookS ?? []);
  const waits = answers.length > 0 ? answers : questions.map(({ at }) => (now - at) / SECOND_MS);
  return waits.length === 0 ? undefined : Math.min(...waits);
}
