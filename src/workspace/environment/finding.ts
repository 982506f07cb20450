import { rfc3339 } from "../../domain/clock.ts";
import { type Withholding, weightText } from "../../domain/withholding.ts";
import type { ReasonOf } from "../api/reasons.ts";
import type { StatusVerdict } from "../status/verdict.ts";

type Reason = ReasonOf<"environment">;

/** What probing an environment has shown: one statement of the condition users know, and what follows from it. */
export interface EnvironmentFinding {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: Reason;
  readonly message: string;
  /** `stuck`: only its user can mend it; `moving`: it is tried again by itself. */
  readonly kind: Extract<StatusVerdict["kind"], "ready" | "moving" | "stuck">;
  /** Whether what worked before may go on: a cluster that is away for a while takes nothing from anybody. */
  readonly keepsLast: boolean;
}

export const CONNECTION_CONDITION = "ConnectionInitializationSucceeded";

const FORBIDDEN =
  "Provided service account does not have permission to access resources in the cluster. Verify that the service account has the correct Role and RoleBinding.";
const UNTRUSTED =
  "Certificate signed by unknown authority. Note that the '.spec.allowInsecureSkipTLSVerify' field can be used to ignore this error.";
const NOT_VALID =
  "Unable to validate the credentials provided in the ManagedEnvironment Secret. Verify the API URL, and service account token are correct.";

/** What an API server, or the way to it, said to a credential. */
export type ProbeAnswer =
  | { readonly kind: "accepted" }
  /** It knows who we are, and does not let us read. */
  | { readonly kind: "forbidden" }
  /** It does not know us, or says something else that is no answer to what was asked. */
  | { readonly kind: "refused" }
  /** Its certificate is not vouched for. */
  | { readonly kind: "untrusted" }
  /** `why` in a few words that name nothing of ours. */
  | { readonly kind: "unreachable"; readonly why: string }
  /** Every address of the host leads inside, and the administrator does not allow it. */
  | { readonly kind: "inside" }
  /** It is a server that hosts instances. */
  | { readonly kind: "reserved" };

const mustMend = (status: EnvironmentFinding["status"], reason: Reason, message: string): EnvironmentFinding => ({
  ...{ status, reason, message },
  kind: "stuck",
  keepsLast: false,
});
const comesAgain = (status: EnvironmentFinding["status"], reason: Reason, message: string): EnvironmentFinding => ({
  ...{ status, reason, message },
  kind: "moving",
  keepsLast: true,
});

export const unsupportedUrl = (message: string): EnvironmentFinding => mustMend("Unknown", "UnsupportedAPIURL", message);
export const wrongNamespaces = (message: string): EnvironmentFinding => mustMend("Unknown", "InvalidNamespaceList", message);
export const wrongSpec = (message: string): EnvironmentFinding => mustMend("Unknown", "InvalidSpec", message);
export const noSecretNamed = mustMend("False", "SecretNotSpecified", "spec.credentialsSecret must name a Secret of this namespace");
export const noSecret = (name: string): EnvironmentFinding =>
  mustMend("False", "SecretNotFound", `the Secret '${name}' named by spec.credentialsSecret does not exist in this namespace`);
export const noSecretName = mustMend("False", "SecretNotFound", "spec.credentialsSecret is no name that a Secret could have");
export const wrongSecretType = (type: string): EnvironmentFinding =>
  mustMend("False", "InvalidSecretType", `the Secret must be of type ${type}`);
export const noKubeconfig = mustMend("False", "MissingKubeConfigField", "missing kubeconfig field in Secret");
export const unusableKubeconfig = (why: string): EnvironmentFinding =>
  mustMend("False", "UnableToParseKubeconfigData", `unable to parse kubeconfig data: ${why}`);
export const noContext = mustMend("False", "UnableToLocateContext", "the kubeconfig did not have a cluster entry that matched the API URL");
export const overQuota = (limit: number): EnvironmentFinding =>
  mustMend("False", "QuotaExceeded", `This namespace may have at most ${limit} managed environments: delete another one`);

/** That an instance is kept from it. What is deployed stays as it is. */
export const overBudget = (withheld: Withholding): EnvironmentFinding => ({
  ...mustMend("False", "ResourceBudgetExceeded", overBudgetText(withheld)),
  keepsLast: true,
});

export function overBudgetText(withheld: Withholding): string {
  const { changeFrom, until } = withheld;
  return `${weightText(withheld)}. Nothing is deployed there meanwhile, and what is deployed stays. List in spec.namespaces the namespaces that are deployed to, so that only these are watched, or ask your administrator for more. It is tried again after a change of the spec or the Secret, from ${rfc3339(changeFrom)} on, and without one at ${rfc3339(until)}`;
}

export const notInstalled = (why: string): EnvironmentFinding => comesAgain("False", "UnableToInstallServiceAccount", why);

/** What the answer of a server means for the user. */
export function findingOf(answer: ProbeAnswer): EnvironmentFinding {
  switch (answer.kind) {
    case "accepted":
      return { status: "True", reason: "Succeeded", message: "", kind: "ready", keepsLast: false };
    case "forbidden":
      return comesAgain("Unknown", "UnableToValidateClusterCredentials", FORBIDDEN);
    case "untrusted":
      return comesAgain("Unknown", "UnableToValidateClusterCredentials", UNTRUSTED);
    case "refused":
      return comesAgain("Unknown", "UnableToValidateClusterCredentials", NOT_VALID);
    case "unreachable":
      return comesAgain("False", "UnableToCreateClient", `unable to reach the cluster at the API URL: ${answer.why}`);
    case "inside":
      return mustMend("False", "UnableToCreateClient", INSIDE);
    case "reserved":
      return mustMend("False", "UnableToCreateClient", RESERVED);
  }
}

/** The reason with which nobody got an answer. */
export const NO_ANSWER: Reason = "UnableToCreateClient";

/** Whether the finding is of a visit, and not of what the resource or its Secret says. */
export function wasVisited({ kind, keepsLast }: EnvironmentFinding): boolean {
  return kind === "ready" || keepsLast;
}

const INSIDE = "the API URL leads to an address that may not be reached from here; ask your administrator if it should be";
const RESERVED = "the API URL leads to a cluster that may not be deployed to";

/** Why nothing could be done on a cluster as its user, for people who run the fleet. */
export function whyAway(answer: ProbeAnswer): string {
  switch (answer.kind) {
    case "unreachable":
      return `no answer from its cluster (${answer.why})`;
    case "forbidden":
      return "the credentials of its user may not change service accounts, roles and role bindings there";
    case "refused":
    case "accepted":
      return "its cluster does not take the credentials of its user";
    case "untrusted":
      return "nobody vouches for the certificate of its cluster";
    case "inside":
    case "reserved":
      return "its address may not be reached";
  }
}
