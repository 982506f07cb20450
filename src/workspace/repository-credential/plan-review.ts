import { contentHash } from "../../domain/hash.ts";
import {
  chosenCredentials,
  type RepositoryCredential,
  type RepositorySecret,
  writeRepositorySecret,
} from "../../domain/repository-credential.ts";
import type { ObservedNamespace, ObservedResource, UserSecret } from "../../domain/user-resource.ts";
import { isObjectName } from "../api/parts/schema.ts";
import { checkCredentialSpec } from "../api/schema.ts";
import { describeProblems } from "../problem.ts";
import { isWithinQuota, oneTooManyText } from "../quota.ts";
import { isWorkspace, type WorkspacePolicy } from "../workspace-policy.ts";
import type { CredentialFinding, InEffect } from "./findings.ts";
import { type CredentialOutcome, isRevoking } from "./outcome.ts";
import { parseSecretOf } from "./parse-secret.ts";
import { parseRepositoryAddress, type RepositoryAddress } from "./repository-address.ts";

const NO_SECRET = "Secret field is missing value";
/** Credentials a workspace may have: each is probed every ten minutes. */
const CREDENTIALS_AT_MOST = 100;

/** What is in the database, of all credentials of the workspace. */
export interface RecordedCredential {
  readonly credential: RepositoryCredential;
  readonly delivery: InEffect["delivery"];
}

/** The latest probe of a repository with a credential. */
export interface ObservationTaken {
  /** Of what was probed, see {@link ReviewPlan.wanted}. */
  readonly stamp: string;
  readonly outcome: CredentialOutcome;
}

export interface ReviewFacts {
  readonly resource: ObservedResource;
  readonly namespace: ObservedNamespace;
  readonly siblings: readonly ObservedResource[];
  readonly policy: WorkspacePolicy;
  readonly recorded: readonly RecordedCredential[];
  /** The Secret that the resource names, as it is now. */
  readonly secret: UserSecret | undefined;
  /** Version of it, as the watch last said; absent for a Secret of a type nobody watches. */
  readonly secretVersion: string | undefined;
  readonly lastObservation: ObservationTaken | undefined;
}

export interface ReviewPlan {
  /** Not ours to probe: nothing is done or said. */
  readonly isOurs: boolean;
  /** Uids of credentials to take out of use. */
  readonly revoke: readonly string[];
  /** To be put into use; absent where that is so already, or must not be. */
  readonly record: WantedCredential | undefined;
  /** To be probed, unless a probe of just this is recent enough. */
  readonly wanted: WantedCredential | undefined;
  readonly finding: CredentialFinding;
  readonly inEffect: InEffect | undefined;
  readonly url: string;
  readonly secretName: string;
}

export interface WantedCredential {
  readonly address: RepositoryAddress;
  readonly secret: RepositorySecret;
  /** Equal for equal URL and secret of one resource. */
  readonly stamp: string;
}

/** Name of the Secret that a resource, be it valid or not, asks for; empty where it asks for none, or for what no Secret can be called. */
export function credentialSecretNameOf(spec: unknown): string {
  const raw = (spec as { readonly secret?: unknown } | null | undefined)?.secret;
  const name = typeof raw === "string" ? raw.trim() : "";
  return isObjectName(name) ? name : "";
}

/**
 * Decides about one credential. It is used once a probe has shown that it works, until a probe shows that it does not, the Secret
 * is no more what it must be, or the resource is about another repository or goes. Probes that show nothing change nothing.
 */
export function planReview(facts: ReviewFacts): ReviewPlan {
  const { resource, namespace, recorded, policy } = facts;
  const nothing: ReviewPlan = {
    ...{ isOurs: false, revoke: [], record: undefined, wanted: undefined, finding: { kind: "pending" }, inEffect: undefined },
    ...{ url: "", secretName: "" },
  };
  const own = recorded.find(({ credential }) => credential.uid === resource.uid);
  const namesakes = recorded.filter(({ credential }) => credential.name === resource.name && credential.uid !== resource.uid);
  const gone = namesakes.map(({ credential }) => credential.uid);
  const all = own === undefined ? gone : [...gone, resource.uid];
  if (resource.isDeleting || namespace.isDeleting) return { ...nothing, revoke: all };
  if (!isWorkspace(namespace, policy)) return { ...nothing, revoke: all };
  if (resource.isPaused) return { ...nothing, isOurs: true, revoke: gone };
  const read = readRequest(facts, own);
  const base = { ...nothing, isOurs: true, url: read.url, secretName: read.secretName };
  if (read.kind === "problem") return { ...base, finding: read, revoke: all };
  const isOther = own !== undefined && own.credential.urlKey !== read.wanted.address.key;
  const finding = findingOf(facts, read.wanted, own);
  const revokes = isOther || (finding.kind === "probed" && isRevoking(finding.outcome));
  const isRecordable = finding.kind === "probed" && finding.outcome === "readable" && policy.newUnit !== undefined;
  return {
    ...base,
    finding,
    wanted: read.wanted,
    revoke: revokes && own !== undefined ? all : gone,
    record: isRecordable && !isCurrent(facts, own?.credential, read.wanted.address.url) ? read.wanted : undefined,
    inEffect: own && inEffectOf(facts, own, read.wanted.address.url),
  };
}

type Request = { readonly url: string; readonly secretName: string } & (
  | (CredentialFinding & { readonly kind: "problem" })
  | { readonly kind: "request"; readonly wanted: WantedCredential }
);

function readRequest({ resource, siblings, policy, secret, recorded }: ReviewFacts, own: RecordedCredential | undefined): Request {
  const checked = checkCredentialSpec(resource.spec);
  const [url, asked] = checked.ok ? [checked.spec.repository.trim(), checked.spec.secret.trim()] : ["", ""];
  // What no Secret can be called may be anything, also a password in the wrong place: it is repeated nowhere, and no Secret stands for it.
  const secretName = credentialSecretNameOf(resource.spec);
  const problem = (reason: (CredentialFinding & { readonly kind: "problem" })["reason"], message: string): Request => ({
    url,
    secretName,
    kind: "problem",
    reason,
    message,
  });
  if (resource.isOneTooMany === true) return problem("QuotaExceeded", oneTooManyText("GitOpsDeploymentRepositoryCredentials"));
  if (!checked.ok && checked.problems.every(({ path }) => path === "spec.secret")) return problem("SecretNotSpecified", NO_SECRET);
  if (!checked.ok) return problem("InvalidRepositoryUrl", describeProblems(checked.problems, false));
  const uids = new Set(recorded.map(({ credential }) => credential.uid));
  if (own === undefined && !isWithinQuota(resource, { siblings, limit: CREDENTIALS_AT_MOST, isAdmitted: (uid) => uids.has(uid) }))
    return problem("QuotaExceeded", `This namespace may have at most ${CREDENTIALS_AT_MOST} repository credentials: delete another one`);
  const address = parseRepositoryAddress(url, policy.egress);
  if (!address.ok) return problem("InvalidRepositoryUrl", address.message);
  if (asked === "") return problem("SecretNotSpecified", NO_SECRET);
  const parsed = parseSecretOf(secretName === "" ? undefined : secret, address.address);
  if (!parsed.ok) return problem(parsed.reason, parsed.message);
  const stamp = contentHash([resource.uid, resource.refreshedAt, address.address.url, writeRepositorySecret(parsed.secret)]);
  return { url, secretName, kind: "request", wanted: { address: address.address, secret: parsed.secret, stamp } };
}

/** A row of just this Secret and URL stands for a probe that another process, or an earlier life of this one, has made. */
function findingOf(facts: ReviewFacts, { stamp, address }: WantedCredential, own: RecordedCredential | undefined): CredentialFinding {
  if (facts.lastObservation?.stamp === stamp) return { kind: "probed", outcome: facts.lastObservation.outcome };
  return isCurrent(facts, own?.credential, address.url) ? { kind: "probed", outcome: "readable" } : { kind: "pending" };
}

function isCurrent({ resource, secretVersion }: ReviewFacts, row: RepositoryCredential | undefined, url: string): boolean {
  return (
    row !== undefined &&
    row.url === url &&
    row.secretVersion === secretVersion &&
    row.generation === resource.generation &&
    row.createdAt === resource.createdAt
  );
}

function inEffectOf(facts: ReviewFacts, own: RecordedCredential, url: string): InEffect {
  const chosen = chosenCredentials(facts.recorded.map(({ credential }) => credential)).find(
    ({ urlKey }) => urlKey === own.credential.urlKey,
  );
  return {
    isCurrent: isCurrent(facts, own.credential, url),
    delivery: own.delivery,
    supersededBy: chosen === undefined || chosen.uid === own.credential.uid ? undefined : chosen.name,
  };
}
