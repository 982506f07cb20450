import type { Millis } from "../../domain/clock.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ApiToken, TokenRole } from "../../store/token/port.ts";

/** A role that somebody has, in the whole fleet where there is no scope. */
export interface Grant {
  readonly role: TokenRole;
  readonly scope?: Scope;
}

/** How a caller has proved who it is: by a token of ours, of an issuer, of the API cluster. */
export type CallerWay = "token" | "oidc" | "kubernetes";

/**
 * Who makes a request. `name` is what the journal has as its actor, and what limits count by: of a token its name; else `oidc:<alias>:<name>`, `serviceaccount:<namespace>/<name>` or
 * `kubernetes:<user>`, none of which can be the name of a token. `role` is the highest it has anywhere.
 */
export interface Caller extends ApiToken {
  /** Absent: a token of the table. */
  readonly way?: CallerWay;
  /** Limits `role`, where there is nothing else in `grants`. */
  readonly scope?: Scope;
  /** Everything it has; absent: `role` and `scope`. */
  readonly grants?: readonly Grant[];
  /** When what it showed expires; absent: not known, or never. */
  readonly until?: Millis;
}

/** Gives a role to whoever has one of the names or is in one of the groups. */
export interface RoleMapping extends Grant {
  readonly groups: readonly string[];
  readonly names: readonly string[];
}

/** Who somebody is, as an issuer or an API server says. */
export interface Identity {
  readonly name: string;
  readonly groups: readonly string[];
  readonly until?: Millis;
}

/** Why a token is not accepted. `isProven`: whoever shows it has proved to be the one it names, and may know. */
export interface NotAccepted {
  readonly refused: string;
  readonly isProven: boolean;
}

/** The keys of an issuer as it published them, with which tokens are checked. */
export interface KeySet {
  /** Whether a token with this header may have been signed by one of them. */
  knows(header: { readonly alg: string; readonly kid: string | undefined }): boolean;
  /** What the token says, or why it is not accepted. Costs one check of a signature. */
  check(token: string, now: Millis): Promise<{ readonly claims: Readonly<Record<string, unknown>> } | NotAccepted>;
}

/** Where an issuer publishes its keys. */
export interface IssuerDocuments {
  /**
   * Reads discovery document and keys anew; the same keys come back as the same `KeySet`. Throws `UnavailableError` when they are not to be had or are
   * not what they must be.
   */
  read(signal: AbortSignal): Promise<KeySet>;
}

/** An API server that says whose token one is. */
export interface TokenReviews {
  /** Throws `UnavailableError` when it does not answer or may not be asked. */
  review(token: string, signal: AbortSignal): Promise<Identity | NotAccepted>;
}

/** An issuer whose tokens are accepted. */
export interface Issuer {
  readonly alias: string;
  /** As tokens have it in `iss`. */
  readonly issuer: string;
  /** The claim that names the caller. */
  readonly nameClaim: string;
  /** Where the groups are: the name of a claim, and of fields below it. */
  readonly groupsClaim: readonly string[];
  readonly mappings: readonly RoleMapping[];
  readonly documents: IssuerDocuments;
  /** How long keys are used that could not be read again, in ms. */
  readonly keepKeysMs: number;
}

/** The API cluster, where its users' tokens are accepted. */
export interface ClusterIdentities {
  readonly reviews: TokenReviews;
  readonly mappings: readonly RoleMapping[];
  /** How long an answer is believed, in ms. */
  readonly rememberMs: number;
}

export type Recognised =
  | { readonly kind: "caller"; readonly caller: Caller }
  | { readonly kind: "refused"; readonly status: 401 | 403 | 503; readonly code: string; readonly detail: string }
  /** It is no token of these kinds. */
  | { readonly kind: "other" };

/** Recognises callers by tokens that are in no table of ours. */
export interface Identities {
  /**
   * `mayAsk`: whether an issuer's key or the API cluster may be asked now about a token that was not seen before, which costs something. One
   * that was goes on.
   */
  recognise(authorization: string | undefined, mayAsk?: () => boolean): Promise<Recognised>;
}
