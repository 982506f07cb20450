import type { Clock, Millis } from "../../domain/clock.ts";
import { UnavailableError } from "../../domain/errors.ts";
import { sha256 } from "../../domain/hash.ts";
import type { Log } from "../../telemetry/log.ts";
import { createIssuerKeys } from "./issuer-keys.ts";
import { grantsFor } from "./map-roles.ts";
import type { Caller, CallerWay, ClusterIdentities, Identities, Identity, Issuer, NotAccepted, Recognised, RoleMapping } from "./port.ts";
import { identityOf, printable, readToken, type UncheckedToken } from "./read-token.ts";
import { createLimit, createMemory } from "./remember.ts";

export interface IdentityDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly issuers: readonly Issuer[];
  /** Absent: tokens of the API cluster are not accepted. */
  readonly cluster?: ClusterIdentities;
}

/** How long a token whose signature was checked is believed without checking it again, in ms; its expiry and the issuer's keys count at once. */
const REMEMBERED_MS = 60_000;
/** How long one that was refused is refused without checking it again, in ms. */
export const REFUSED_MS = 10_000;
/** So many of either are remembered, of each issuer. */
const REMEMBERED = 10_000;
/** Signatures of one issuer's tokens that are checked in a second: a check takes a tenth of a millisecond. */
export const CHECKS = { perSecond: 100, atOnce: 100 } as const;
/** Questions to the API server in a second, which are requests to it. */
export const REVIEWS = { perSecond: 20, atOnce: 20 } as const;
const GROUPS_SHOWN = 20;

type Refusal = Extract<Recognised, { readonly kind: "refused" }>;

/**
 * Recognises callers by tokens of issuers and of the API cluster. Which of them is asked is decided by what the token says of itself, so that nobody is
 * asked about a token that is none of his, and a token of one is never accepted because another knows it.
 */
export function createIdentities(deps: IdentityDeps): Identities {
  const byIssuer = new Map(deps.issuers.map((issuer) => [issuer.issuer, ofIssuer(issuer, deps)]));
  const cluster = deps.cluster === undefined ? undefined : ofCluster(deps.cluster, deps);
  return {
    async recognise(authorization, mayAsk = () => true) {
      const token = byIssuer.size === 0 && cluster === undefined ? undefined : readToken(authorization);
      if (token === undefined) return { kind: "other" };
      const recognise = byIssuer.get(token.issuer) ?? cluster;
      if (recognise !== undefined) return recognise(token, mayAsk);
      const detail = `the issuer of the token, ${printable(token.issuer)}, is none whose tokens are accepted here; see authentication.issuers`;
      return { kind: "refused", status: 401, code: "api.unknown-issuer", detail };
    },
  };
}

type Recognise = (token: UncheckedToken, mayAsk: () => boolean) => Promise<Recognised>;

function ofIssuer(issuer: Issuer, deps: IdentityDeps): Recognise {
  const { clock } = deps;
  const { alias, mappings } = issuer;
  const keysOf = createIssuerKeys(issuer, deps);
  const remember = createRemembering(CHECKS, clock);
  const who = `issuer ${alias}`;
  return async (token, mayAsk) => {
    const keys = await keysOf.keysFor(token);
    if (keys === undefined) return away(`the keys of ${who} are not known, because it does not answer`);
    // Costs nothing, and is different as soon as the issuer has other keys.
    if (!keys.knows(token))
      return notAccepted(who, { refused: "it is signed by none of the issuer's keys, or in a way that is not accepted", isProven: false });
    const found = await remember({ hash: hashOf(token), by: keys, mayAsk }, async () => {
      const checked = await keys.check(token.token, clock.now());
      if ("refused" in checked) return { answer: notAccepted(who, checked), forMs: REFUSED_MS };
      const identity = identityOf(checked.claims, issuer);
      if (identity === undefined) {
        const refused = `its claim ${issuer.nameClaim} is no name: a text of up to 200 printable characters`;
        return { answer: notAccepted(who, { refused, isProven: true }), forMs: REFUSED_MS };
      }
      const until = token.expires === undefined ? {} : { until: token.expires };
      return {
        answer: known({ ...identity, ...until }, { way: "oidc", actor: `oidc:${alias}:${identity.name}`, mappings }),
        forMs: REMEMBERED_MS,
      };
    });
    return found ?? busy(who);
  };
}

function ofCluster({ reviews, mappings, rememberMs }: ClusterIdentities, { clock, log }: IdentityDeps): Recognise {
  const remember = createRemembering(REVIEWS, clock);
  const who = "the API cluster";
  return async (token, mayAsk) => {
    try {
      const found = await remember({ hash: hashOf(token), by: reviews, mayAsk }, async () => {
        const identity = await reviews.review(token.token, AbortSignal.timeout(10_000));
        if ("refused" in identity) return { answer: notAccepted(who, identity), forMs: REFUSED_MS };
        const until = token.expires === undefined ? {} : { until: token.expires };
        return {
          answer: known({ ...identity, ...until }, { way: "kubernetes", actor: actorOf(identity.name), mappings }),
          forMs: rememberMs,
        };
      });
      return found ?? busy(who);
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      log.warn({ error }, "Not knowing whose token one of the API cluster is");
      return away(`${who} does not say whose token it is: it does not answer, or Argosy may not ask (create tokenreviews)`);
    }
  };
}

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

function actorOf(user: string): string {
  const [, namespace, name] = SERVICE_ACCOUNT.exec(user) ?? [];
  return name === undefined ? `kubernetes:${user}` : `serviceaccount:${namespace}/${name}`;
}

function hashOf({ token }: UncheckedToken): string {
  return sha256(`argosy-identity|${token}`);
}

interface Answered {
  readonly answer: Recognised;
  readonly forMs: number;
}

interface Question {
  readonly hash: string;
  /** Who answers: what another has answered does not count. */
  readonly by: object;
  readonly mayAsk: () => boolean;
}

/** What is remembered of tokens by their hashes. `undefined`: too many were asked about that are not. */
function createRemembering(limit: { readonly perSecond: number; readonly atOnce: number }, clock: Clock) {
  // Apart: a flood of wrong tokens does not drive out those of callers.
  const callers = createMemory<{ readonly answer: Recognised; readonly by: object }>(REMEMBERED, clock);
  const refused = createMemory<{ readonly answer: Recognised; readonly by: object }>(REMEMBERED, clock);
  const asking = new Map<string, Promise<Answered>>();
  const isWithinLimit = createLimit(limit, clock);
  return async ({ hash, by, mayAsk }: Question, ask: () => Promise<Answered>): Promise<Recognised | undefined> => {
    const found = callers.get(hash) ?? refused.get(hash);
    if (found?.by === by && !hasExpired(found.answer, clock.now())) return found.answer;
    const running = asking.get(hash);
    if (running !== undefined) return (await running).answer;
    if (!mayAsk() || !isWithinLimit()) return undefined;
    const asked = ask().finally(() => asking.delete(hash));
    asking.set(hash, asked);
    const { answer, forMs } = await asked;
    (answer.kind === "caller" ? callers : refused).set(hash, { answer, by }, forMs);
    return answer;
  };
}

function hasExpired(answer: Recognised, now: Millis): boolean {
  return answer.kind === "caller" && answer.caller.until !== undefined && answer.caller.until <= now;
}

function known(
  { name, groups, until }: Identity,
  { way, actor, mappings }: { readonly way: CallerWay; readonly actor: string; readonly mappings: readonly RoleMapping[] },
): Recognised {
  const grants = grantsFor(mappings, { name, groups });
  const [highest] = grants;
  if (highest === undefined) return { kind: "refused", status: 403, code: "api.no-role", detail: noRole(actor, groups) };
  const caller: Caller = { name: actor, way, role: highest.role, grants, ...(until === undefined ? {} : { until }) };
  return { kind: "caller", caller };
}

/** It hears what its own token says, and nothing of what would do. */
function noRole(actor: string, groups: readonly string[]): string {
  const shown = groups.slice(0, GROUPS_SHOWN).map((group) => printable(group));
  const more = groups.length > shown.length ? ` and ${groups.length - shown.length} more` : "";
  const own = shown.length === 0 ? "its token names no groups" : `the groups of its token are ${shown.join(", ")}${more}`;
  return `${actor} is known and has no role here: ${own}. Whoever runs Argosy gives roles to names and groups (authentication)`;
}

function notAccepted(who: string, { refused, isProven }: NotAccepted): Refusal {
  const detail = isProven
    ? `the token is one of ${who}, and is not accepted: ${refused}`
    : `the token is not accepted as one of ${who}: ${refused}`;
  return { kind: "refused", status: 401, code: "api.token-refused", detail };
}

function away(why: string): Refusal {
  return { kind: "refused", status: 503, code: "api.identity-away", detail: `${why}: try again` };
}

function busy(who: string): Refusal {
  const detail = `more tokens of ${who} that were not seen before are shown than are checked in a second: try again`;
  return { kind: "refused", status: 503, code: "api.identity-busy", detail };
}
