/** What one API server answered when an account asked whether it may write, and tried to. */
export type Answer =
  /** It may not write, and the authoriser refused the attempt. */
  | "refused"
  | "allowed"
  /** No answer, or one that proves nothing: a quota's refusal, a failing admission. */
  | "silent";

export interface EndpointAnswer {
  readonly endpoint: string;
  readonly answer: Answer;
}

/** The same with the place, and for how long its refusals are watched. */
export interface PlacedAnswer extends EndpointAnswer {
  /** The environment it belongs to; absent: the cluster of the own namespace. */
  readonly environment: string | undefined;
  readonly fenceMs: number;
}

/** Refusals of one endpoint in a row, with no other answer between them, by the monotonic clock, in ms. */
export interface RefusalStreak {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
}

/** By endpoint. An endpoint that did not refuse last has no streak. */
export type Proof = ReadonlyMap<string, RefusalStreak>;

export const NO_PROOF: Proof = new Map();
/** For how long refusals are watched, in ms: of a single API server, and of an address at which an unknown number of them answers. */
const SINGLE_FENCE_MS = 2_000;
const SHARED_FENCE_MS = 15_000;
/** How many refusals a streak needs at least. Where several servers may answer, each question goes to one of them, and each has to get its turn. */
const REFUSALS = 3;
const SHARED_REFUSALS = 15;
const isShared = (fenceMs: number): boolean => fenceMs > SINGLE_FENCE_MS;

/** Counts a round of answers. An endpoint that was silent starts again from zero when it answers: it may carry out what it had queued. */
export function nextProof(proof: Proof, answers: readonly EndpointAnswer[], nowMs: number): Proof {
  return new Map(
    answers.flatMap(({ endpoint, answer }) => {
      if (answer !== "refused") return [];
      const before = proof.get(endpoint) ?? { firstMs: nowMs, count: 0 };
      return [[endpoint, { firstMs: before.firstMs, lastMs: nowMs, count: before.count + 1 }] as const];
    }),
  );
}

/** Whether each endpoint has refused often enough during the fence time. A request that was admitted before has ended by then. */
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

/** How soon to ask again while the answer is not the wanted one, in ms: an authoriser learns of an owner binding within milliseconds. */
const SOON_MS = 50;
const LATER_MS = 250;
const SOON_FOR_MS = 1_000;
/** How soon to ask remote clusters again, in ms: each question takes a connection of its own, and refusals are watched for longer. */
const REMOTE_MS = 750;

/**
 * How soon to ask again, in ms from now. A single server that refuses is asked a few times during the fence time, and when it is over. Several
 * servers behind one address are asked again and again, or one that is frozen might never be asked. `sinceMs`: how long ago the phase began.
 */
export function askAgainMs(
  proof: Proof,
  endpoints: readonly PlacedAnswer[],
  { nowMs, sinceMs }: { nowMs: number; sinceMs: number },
): number {
  const isRemote = endpoints.some(({ environment }) => environment !== undefined);
  const waits = endpoints.flatMap(({ endpoint, fenceMs }) => {
    const streak = proof.get(endpoint);
    const apartMs = isShared(fenceMs) ? LATER_MS : fenceMs / REFUSALS;
    return streak === undefined ? [] : [Math.min(apartMs, fenceMs - (nowMs - streak.firstMs))];
  });
  const isRefused = endpoints.length > 0 && waits.length === endpoints.length;
  if (isRemote) return REMOTE_MS;
  if (!isRefused) return sinceMs < SOON_FOR_MS ? SOON_MS : LATER_MS;
  return Math.max(SOON_MS, ...waits);
}

/**
 * What all endpoints answer together. Wanted is that the old owner is refused, or that the new one is allowed. `askedAt`: the environment whose
 * answer is another one. Endpoints of one cluster that differ count as silent.
 */
export function summary(
  whom: "source" | "target",
  answers: readonly PlacedAnswer[],
): { readonly answer: Answer; readonly askedAt: string | undefined } {
  const wanted = whom === "source" ? "refused" : "allowed";
  const places = [...new Set(answers.map(({ environment }) => environment))].map((environment) => {
    const said = new Set(answers.filter((each) => each.environment === environment).map(({ answer }) => answer));
    const [only] = said;
    return { environment, answer: said.size === 1 && only !== undefined ? only : ("silent" as const) };
  });
  const worst = places.find(({ answer }) => answer !== wanted && answer !== "silent") ?? places.find(({ answer }) => answer !== wanted);
  if (worst !== undefined) return { answer: worst.answer, askedAt: worst.environment };
  return { answer: places.length === 0 ? "silent" : wanted, askedAt: undefined };
}

/** The answer to a trial write. */
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
 * For how long refusals are watched, in ms. A request that was admitted before may still be carried out: an API server that was frozen with
 * queued requests carried one out after it woke. Where several servers answer at one address, each has to get its turn.
 */
export function fenceTimeMs(isSingleServer: boolean): number {
  return isSingleServer ? SINGLE_FENCE_MS : SHARED_FENCE_MS;
}

/** The same in environments. How many servers answer at the address of a user's cluster is not known, and each question takes its own connection. */
export const ENVIRONMENT_FENCE_MS = SHARED_FENCE_MS;
