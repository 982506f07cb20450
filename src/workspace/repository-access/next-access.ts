import { type Millis, millis } from "../../domain/clock.ts";
import { contentHash } from "../../domain/hash.ts";
import { type AccessOutcome, ASSUMED, type RepositoryAccess } from "../../domain/repository-access.ts";
import { chosenCredentials, type RepositoryCredential, repositoryKey } from "../../domain/repository-credential.ts";
import { placeOf } from "../../domain/repository-spelling.ts";

/** How often what can be read is probed again, in ms: a credential that was taken away is of no more use for that long, and a bit. */
export const PROVE_AGAIN_MS = 60 * 60_000;
/** How many times in a row, and for how long, a host must refuse before what could be read counts as lost; in ms. Hosts err, and permissions are moved about. */
const LOST_AFTER = { refusals: 3, ms: 20 * 60_000 } as const;
/** How soon what could not be read is probed again: at first after this, then twice as long each time, as hosts that never answer take up turns; in ms. */
const REFUSED_AGAIN_MS = { first: 5_000, longest: 2 * 60_000 } as const;
/** The same of what was proven: soon enough for the last of its refusals to come when it counts. */
const DOUBTED_AGAIN_MS = LOST_AFTER.ms / 2;
/** Nobody is lost for a host that sends him elsewhere: instances follow, probes do not. */
const REFUSING: readonly AccessOutcome[] = ["denied", "not-found", "not-allowed"];

/** The credential that a repository is read with: the same that an instance would take. */
export function credentialFor(url: string, credentials: readonly RepositoryCredential[]): RepositoryCredential | undefined {
  const key = repositoryKey(placeOf(url));
  return chosenCredentials(credentials).find((one) => repositoryKey(placeOf(one.url)) === key);
}

/** Another one whenever the credential is another, or its Secret has changed. */
export function stampOf(credential: RepositoryCredential | undefined): string {
  return credential === undefined ? "" : contentHash([credential.uid, credential.url, credential.secretVersion]);
}

/** When to probe: at once what never was, and what would be probed with something else than last time. `access` is absent where nothing is recorded. */
export function dueAt(access: RepositoryAccess | undefined, credential: string): Millis {
  if (access?.probedAt === undefined || access.credential !== credential) return millis(0);
  return millis(access.probedAt + againAfterMs(access));
}

/** How many refusals in a row somebody may be waiting for the end of: a permission is just being given, for example. */
const AWAITED = 4;

/** Whether a probe only confirms what is known, so that nobody waits for it. `access` is absent where nothing is recorded. */
export function isConfirming(access: RepositoryAccess | undefined, credential: string): boolean {
  if (access?.probedAt === undefined || access.credential !== credential) return false;
  return access.state !== "unproven" || access.refusals > AWAITED;
}

/** Whether a probe that can read changes nothing but when it was probed: what was read the last time, with the same. */
export function isSettled(access: RepositoryAccess | undefined, credential: string): access is RepositoryAccess {
  return access?.state === "proven" && access.outcome === "readable" && access.refusals === 0 && access.credential === credential;
}

/** Up to which part of the time what is proven is probed sooner, so that what was probed together is not again. */
const SPREAD = 0.1;

/** When to probe at the soonest, where others of the workspace are probed: what is only confirmed may be at any time of its spread. */
export function dueFrom(access: RepositoryAccess | undefined, credential: string): Millis {
  if (access?.probedAt === undefined || !isSettled(access, credential)) return dueAt(access, credential);
  return millis(access.probedAt + PROVE_AGAIN_MS * (1 - SPREAD));
}

function againAfterMs({ state, refusals, probedAt = 0 as Millis }: RepositoryAccess): number {
  // The milliseconds of a time are as good as drawn.
  const sooner = SPREAD * ((probedAt % 1_000) / 1_000);
  if (state === "proven") return refusals === 0 ? PROVE_AGAIN_MS * (1 - sooner) : DOUBTED_AGAIN_MS;
  return Math.min(REFUSED_AGAIN_MS.longest, REFUSED_AGAIN_MS.first * 2 ** (Math.min(Math.max(refusals, 1), 10) - 1));
}

export interface AccessProbe {
  readonly outcome: AccessOutcome;
  /** See {@link stampOf}. */
  readonly credential: string;
  readonly at: Millis;
}

/**
 * What a probe makes of what was known. Nobody who could read is lost for a host that is away, or answers in another way than by refusing; and of
 * refusals it takes several, over some time. Who was lost or never proven is proven by one success.
 */
export function nextAccess(
  before: RepositoryAccess | undefined,
  { outcome, credential, at }: AccessProbe,
): Omit<RepositoryAccess, "ordinal"> {
  const known = before ?? ASSUMED;
  const probed = { outcome, credential, probedAt: at };
  if (outcome === "readable") return { ...probed, state: "proven", provenAt: at, refusedSince: undefined, refusals: 0 };
  const { state, provenAt } = known;
  const isRefused = state === "proven" ? REFUSING.includes(outcome) : true;
  if (!isRefused) return { ...probed, state, provenAt, refusedSince: known.refusedSince, refusals: known.refusals };
  const [refusals, refusedSince] = [known.refusals + 1, known.refusedSince ?? at];
  const isLost = state === "proven" && refusals >= LOST_AFTER.refusals && at - refusedSince >= LOST_AFTER.ms;
  return { ...probed, state: isLost ? "lost" : state, provenAt, refusedSince, refusals };
}
