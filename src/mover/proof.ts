/** What one API server said when an account asked whether it may write, and tried. */
export type Answer =
  /** Not allowed to ask for it, and the attempt was refused by the authoriser. */
  | "refused"
  | "allowed"
  /** No answer, or one that proves nothing: a quota's refusal, a failing admission. */
  | "silent";

export interface EndpointAnswer {
  readonly endpoint: string;
  readonly answer: Answer;
}

/** The same with where it is, and how long its refusals are watched. */
export interface PlacedAnswer extends EndpointAnswer {
  /** The environment it belongs to; absent: the cluster of the own namespace. */
  readonly environment: string | undefined;
  readonly fenceMs: number;
}

/** A row of refusals of one endpoint without anything else between them, on a clock that only grows, in ms. */
export interface Streak {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
}

/** By endpoint. An endpoint that did not refuse last has no streak. */
export type Proof = ReadonlyMap<string, Streak>;

export const NO_PROOF: Proof = new Map();
/** How long one server's refusals are watched, in ms, and that of servers of which nobody knows how many answer at an address. */
const SINGLE_FENCE_MS = 2_000;
const SHARED_FENCE_MS = 15_000;
/** Refusals that a streak needs at least. Where several may answer each question goes to one of them, and all have to get their turn. */
const REFUSALS = 3;
const SHARED_REFUSALS = 15;
const isShared = (fenceMs: number): boolean => fenceMs > SINGLE_FENCE_MS;

/** Counts a round of answers. An endpoint that was silent begins anew after it answers: it may carry out what it had queued. */
export function nextProof(proof: Proof, answers: readonly EndpointAnswer[], nowMs: number): Proof {
  return new Map(
    answers.flatMap(({ endpoint, answer }) => {
      if (answer !== "refused") return [];
      const before = proof.get(endpoint) ?? { firstMs: nowMs, count: 0 };
      return [[endpoint, { firstMs: before.firstMs, lastMs: nowMs, count: before.count + 1 }] as const];
    }),
  );
}

/** Whether each endpoint has refused often enough, over the fence time: a request admitted before has ended by then. */
export function isProven(proof: Proof, endpoints: readonly Pick<PlacedAnswer, "endpoint" | "fenceMs">[]): boolean {
  return (
    endpoints.length > 0 &&
    endpoints.every(({ endpoint, fenceMs }) => {
      const streak = proof.get(endpoint);
      const least = isShared(fenceMs) ? SHARED_REFUSALS : REFUSALS;
      return streak !== undefined && streak.count >= least && streak.lastMs - streak.firstMs >= fenceMs;
    })
  );
}

/** How soon one is asked again that is not yet answered as is hoped for, in ms: an authoriser learns of a register within milliseconds. */
const SOON_MS = 50;
const LATER_MS = 250;
const SOON_FOR_MS = 1_000;
/** Abroad each question takes a connection of its own, and is to be answered for longer. In ms. */
const ABROAD_MS = 750;

/**
 * When asking again tells something more, in ms from now: of one server that refuses some times within the fence time, and when that is over;
 * of several behind one address again and again, lest one that stands still was never asked. `sinceMs`: how long ago the phase began.
 */
export function askAgainMs(
  proof: Proof,
  endpoints: readonly PlacedAnswer[],
  { nowMs, sinceMs }: { nowMs: number; sinceMs: number },
): number {
  const isAbroad = endpoints.some(({ environment }) => environment !== undefined);
  const waits = endpoints.flatMap(({ endpoint, fenceMs }) => {
    const streak = proof.get(endpoint);
    const apartMs = isShared(fenceMs) ? LATER_MS : fenceMs / REFUSALS;
    return streak === undefined ? [] : [Math.min(apartMs, fenceMs - (nowMs - streak.firstMs))];
  });
  const isRefused = endpoints.length > 0 && waits.length === endpoints.length;
  if (isAbroad) return ABROAD_MS;
  if (!isRefused) return sinceMs < SOON_FOR_MS ? SOON_MS : LATER_MS;
  return Math.max(SOON_MS, ...waits);
}

/**
 * What all endpoints say, and where the one is that says something else than is hoped for: of the old owner that it is refused, of the new
 * one that it is allowed. One cluster's endpoints that differ say nothing.
 */
export function summary(
  whom: "source" | "target",
  answers: readonly PlacedAnswer[],
): { readonly answer: Answer; readonly askedAt: string | undefined } {
  const hoped = whom === "source" ? "refused" : "allowed";
  const places = [...new Set(answers.map(({ environment }) => environment))].map((environment) => {
    const said = new Set(answers.filter((each) => each.environment === environment).map(({ answer }) => answer));
    const [only] = said;
    return { environment, answer: said.size === 1 && only !== undefined ? only : ("silent" as const) };
  });
  const worst = places.find(({ answer }) => answer !== hoped && answer !== "silent") ?? places.find(({ answer }) => answer !== hoped);
  if (worst !== undefined) return { answer: worst.answer, askedAt: worst.environment };
  return { answer: places.length === 0 ? "silent" : hoped, askedAt: undefined };
}

/** What a trial write was answered with. */
export interface TrialAnswer {
  /** Absent: no answer came. */
  readonly status: number | undefined;
  readonly message: string;
}

/**
 * Reads a review of access and a trial write together. Only the authoriser's refusal counts: it names the user and says "cannot";
 * quotas and admission refuse with the same 403.
 */
export function judgeAnswer(isAllowed: boolean | undefined, trial: TrialAnswer, user: string): Answer {
  if (isAllowed === undefined || trial.status === undefined) return "silent";
  const isAuthorisers = trial.status === 403 && trial.message.includes(`User "${user}" cannot `);
  if (!isAllowed && isAuthorisers) return "refused";
  if (isAllowed && !isAuthorisers && trial.status !== 401) return "allowed";
  return "silent";
}

/**
 * How long refusals are watched, in ms. A request that was admitted before may still be carried out: an API server that was frozen with
 * queued requests carried one out after it woke. Behind an address that several answer at, each has to get its turn.
 */
export function fenceTimeMs(isSingleServer: boolean): number {
  return isSingleServer ? SINGLE_FENCE_MS : SHARED_FENCE_MS;
}

/** The same in environments: what answers at the address of a user's cluster nobody tells, and each answer is asked over a connection of its own. */
export const ENVIRONMENT_FENCE_MS = SHARED_FENCE_MS;
