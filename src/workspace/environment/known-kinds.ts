import { type Millis, millis } from "../../domain/clock.ts";
import type { EnvironmentCredential } from "../../domain/environment.ts";

/** What is stored beside the token of an account of the kinds that its instance has read. */
export type KnownKinds = Pick<EnvironmentCredential, "readable" | "readAgainAt">;

/**
 * What the account is when the rules it reads by are seen: `reader`: it is not the owner, or will cease to be; `becoming`: it was just made the
 * owner, which some of the cluster's API servers may not know yet; `owner`: it has been for a while.
 */
export type AccountRole = "reader" | "becoming" | "owner";

/** How far an instance's clock may be ahead of ours, in ms: what it read before now is to count as old. */
const SKEW_MS = 5 * 60_000;
/** The mark of rules that are not known: whatever they are later, they are others. */
const UNKNOWN = "unknown";

/**
 * What is to be stored once the rules for a cluster were seen to be `mark`; `undefined`: what they are is not known now.
 *
 * Argo CD drops a kind that it may not list, and asks again with a change of a definition or a day later; until then it neither prunes nor
 * cascades objects of that kind. An owner may list everything. So the rules of a reader are noted, and where they are others once it is the
 * owner, Argo CD is asked to read the cluster anew: a group came to be meanwhile. An owner is never asked for that again.
 */
export function nextKnownKinds(
  { readable, readAgainAt }: KnownKinds,
  { mark, role, now }: { readonly mark: string | undefined; readonly role: AccountRole; readonly now: Millis },
): KnownKinds {
  const asked = readAgainAt === undefined ? {} : { readAgainAt };
  if (role === "reader") return { ...asked, readable: readable ?? mark ?? UNKNOWN };
  if (readable === undefined || mark === undefined) return { ...asked, ...kept(readable) };
  const asking = readable === mark ? asked : { readAgainAt: millis(now + SKEW_MS) };
  return role === "owner" ? asking : { ...asking, readable: mark };
}

/** What is stored of that. */
export function kindsOf(stored: EnvironmentCredential | undefined): KnownKinds {
  const { readable, readAgainAt } = stored ?? {};
  return { ...kept(readable), ...(readAgainAt === undefined ? {} : { readAgainAt }) };
}

function kept(readable: string | undefined): Pick<KnownKinds, "readable"> {
  return readable === undefined ? {} : { readable };
}
