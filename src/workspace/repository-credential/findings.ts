import type { ReasonOf } from "../api/reasons.ts";
import type { CredentialOutcome } from "./outcome.ts";
import type { SecretReason } from "./parse-secret.ts";

type Reason = ReasonOf<"credential">;

/** What is known about a credential so far. */
export type CredentialFinding =
  /** Nobody need be asked to see that it cannot work. */
  | { readonly kind: "problem"; readonly reason: SecretReason | "InvalidRepositoryUrl" | "QuotaExceeded"; readonly message: string }
  /** It was not probed yet as it is now. */
  | { readonly kind: "pending" }
  | { readonly kind: "probed"; readonly outcome: CredentialOutcome };

/** What stands in the database for a credential. */
export interface InEffect {
  /** Whether that is what the resource and its Secret say now. */
  readonly isCurrent: boolean;
  readonly delivery: "unplaced" | "under-way" | "delivered";
  /** Name of the credential that is used instead for the same repository. */
  readonly supersededBy: string | undefined;
}

export interface CredentialFacts {
  readonly url: string;
  readonly secretName: string;
  readonly finding: CredentialFinding;
  /** Absent while there is no row. */
  readonly inEffect: InEffect | undefined;
}

/** The sentences of one finding, for the three conditions that are always said together. */
export interface CredentialJudgement {
  readonly kind: "ready" | "moving" | "stuck";
  readonly reason: Reason;
  readonly message: string;
  readonly error: ConditionText;
  readonly repository: ConditionText;
  readonly credential: ConditionText;
}

export interface ConditionText {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: Reason;
  readonly message: string;
}

const said = (status: ConditionText["status"], reason: Reason, message: string): ConditionText => ({ status, reason, message });

/** Judges a credential; reasons and messages are those of the service before wherever it had some. */
export function judgeCredential(facts: CredentialFacts): CredentialJudgement {
  const { finding } = facts;
  switch (finding.kind) {
    case "problem":
      return stuck(finding.reason, finding.message);
    case "pending":
      return undecided("moving", "ValidationPending", "The repository is being looked at");
    case "probed":
      return judgeOutcome(facts, finding.outcome);
  }
}

function judgeOutcome(facts: CredentialFacts, outcome: CredentialOutcome): CredentialJudgement {
  const { url, secretName } = facts;
  switch (outcome) {
    case "readable":
      return judgeReadable(facts);
    case "denied": {
      const message = `Repository Credentials provided ${secretName} for Repository ${url} are invalid`;
      return { ...stuck("InvalidCredentials", message), repository: exists(url) };
    }
    case "not-found":
      return stuck("InvalidRepositoryUrl", `Repository does not exist: ${url}`);
    case "moved":
      return stuck("InvalidRepositoryUrl", `Repository does not exist: ${url} leads elsewhere; name the address that it leads to`);
    case "not-allowed":
      return stuck(
        "InvalidRepositoryUrl",
        `The host of ${url} has no address that may be reached from here; ask your administrator if it should`,
      );
    case "unknown-identity":
      return unanswered(
        facts,
        "RepositoryIdentityUnknown",
        `The host of ${url} cannot show to be itself: its certificate or host key is not known here; ask your administrator to add it`,
      );
    case "unreachable":
      return unanswered(facts, "RepositoryUnreachable", `The host of ${url} does not answer as a Git host does`);
    case "failed":
      return unanswered(facts, "ValidationFailed", `It could not be found out whether ${url} can be read`);
  }
}

function judgeReadable({ url, secretName, inEffect }: CredentialFacts): CredentialJudgement {
  const upToDate = "RepositoryCredentialUpToDate";
  const fine = {
    error: said("False", upToDate, "RepositoryCredentials are Valid"),
    repository: exists(url),
    credential: said("True", upToDate, `Repository Credentials provided ${secretName} for Repository ${url} are valid`),
  };
  if (inEffect?.supersededBy !== undefined) {
    const message = `The GitOpsDeploymentRepositoryCredential ${inEffect.supersededBy} is for the same repository and older: it is used instead of this one`;
    return { ...fine, kind: "stuck", reason: "DuplicateRepository", message, error: said("True", "DuplicateRepository", message) };
  }
  if (inEffect === undefined || inEffect.delivery === "unplaced") {
    const message = "There is no room for this namespace at the moment: the credential is used as soon as there is";
    return { ...fine, kind: "moving", reason: "WaitingForCapacity", message };
  }
  if (inEffect.delivery === "under-way" || !inEffect.isCurrent)
    return { ...fine, kind: "moving", reason: "Reconciling", message: "The credential is on its way to where it is used" };
  return { ...fine, kind: "ready", reason: upToDate, message: fine.error.message };
}

/** Nothing was learnt about the credential: what worked before stays in use, and it is tried again. */
function unanswered({ inEffect }: CredentialFacts, reason: Reason, message: string): CredentialJudgement {
  if (inEffect === undefined) return undecided("moving", reason, `${message}; it is tried again`);
  const isReady = inEffect.isCurrent && inEffect.supersededBy === undefined && inEffect.delivery === "delivered";
  return undecided(isReady ? "ready" : "moving", reason, `${message}; what was seen to work before stays in use, and it is tried again`);
}

function stuck(reason: Reason, message: string): CredentialJudgement {
  const no = said("False", reason, message);
  return { kind: "stuck", reason, message, error: said("True", reason, message), repository: no, credential: no };
}

function undecided(kind: CredentialJudgement["kind"], reason: Reason, message: string): CredentialJudgement {
  const open = said("Unknown", reason, message);
  return {
    kind,
    reason,
    message,
    error: reason === "ValidationPending" ? open : said("True", reason, message),
    repository: open,
    credential: open,
  };
}

function exists(url: string): ConditionText {
  return said("True", "ValidRepositoryUrl", `Repository ${url} exists`);
}
