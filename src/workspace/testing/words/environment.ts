import { millis } from "../../../domain/clock.ts";
import type { UserSecret } from "../../../domain/user-resource.ts";
import { nextWithholding } from "../../../domain/withholding.ts";
import * as say from "../../api/messages.ts";
import { environmentStatus, pausedEnvironmentStatus } from "../../environment/environment-status.ts";
import { type EnvironmentFinding, notInstalled, overBudget, overBudgetText, overQuota } from "../../environment/finding.ts";
import { NO_TOKEN, WAITING } from "../../environment/grant-access.ts";
import type { ClusterProbeResult } from "../../environment/port.ts";
import { createExamination } from "../../environment/try-credential.ts";
import { aPolicy, aResource } from "../builders.ts";
import type { Unsaid, WordsCase } from "./case.ts";

const WITHHELD = nextWithholding(undefined, { weight: { objects: 31_000, apis: 420 }, budget: 20_480, now: millis(0) });
const API_URL = "https://api.prod.example:6443";
const SPEC = { apiURL: API_URL, credentialsSecret: "prod-eu-creds", allowInsecureSkipTLSVerify: false };
const TYPE = "managed-gitops.redhat.com/managed-environment";
const never = new AbortController().signal;

const conditionsOf = (finding: EnvironmentFinding) => environmentStatus(aResource(), finding, millis(0))?.conditions ?? [];
const found =
  (finding: EnvironmentFinding): WordsCase["said"] =>
  () =>
    conditionsOf(finding);
const kubeconfig = (server: string, user: unknown): UserSecret => {
  const contexts = [{ name: "x", context: { cluster: "c", user: "u" } }];
  const text = JSON.stringify({ clusters: [{ name: "c", cluster: { server } }], users: [{ name: "u", user }], contexts });
  return { type: TYPE, data: { kubeconfig: Buffer.from(text) } };
};
const GOOD = kubeconfig(API_URL, { token: "a-token" });

interface Scene {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly secret?: UserSecret | undefined;
  readonly answer?: ClusterProbeResult;
}
const observed =
  ({ spec = {}, answer = { kind: "accepted" }, ...scene }: Scene): WordsCase["said"] =>
  async () => {
    const secret = "secret" in scene ? scene.secret : GOOD;
    const examine = createExamination({ secrets: { read: async () => secret }, probe: { probe: async () => answer } });
    return conditionsOf((await examine(aResource({ spec: { ...SPEC, ...spec } }), aPolicy().egress, never)).finding);
  };
const refused = (answer: ClusterProbeResult["kind"]) => observed({ answer: { kind: answer } as ClusterProbeResult });

const of = (is: string, reason: string): string => `ConnectionInitializationSucceeded=${is}/${reason}`;
type Row = readonly [condition: string, message: string, compared: WordsCase["compared"], why: string, said: WordsCase["said"]];
const rows: readonly Row[] = [
  [of("True", "Succeeded"), "", "same", "", observed({})],
  [
    of("False", "SecretNotSpecified"),
    "spec.credentialsSecret must name a Secret of this namespace",
    "better",
    "there was no condition",
    observed({ spec: { credentialsSecret: "" } }),
  ],
  [
    of("False", "SecretNotFound"),
    "the Secret 'prod-eu-creds' named by spec.credentialsSecret does not exist in this namespace",
    "better",
    "there was no condition",
    observed({ secret: undefined }),
  ],
  [of("False", "InvalidSecretType"), `the Secret must be of type ${TYPE}`, "same", "", observed({ secret: { type: "Opaque", data: {} } })],
  [of("False", "MissingKubeConfigField"), "missing kubeconfig field in Secret", "same", "", observed({ secret: { type: TYPE, data: {} } })],
  [
    of("False", "UnableToParseKubeconfigData"),
    "unable to parse kubeconfig data: json parse error: it is neither YAML (without aliases) nor JSON with clusters, users and contexts",
    "same",
    "nothing of the Secret is quoted",
    observed({ secret: { type: TYPE, data: { kubeconfig: Buffer.from("a: [") } } }),
  ],
  [
    of("False", "UnableToParseKubeconfigData"),
    "unable to parse kubeconfig data: the user has neither a token nor a client certificate",
    "better",
    "client certificates are taken",
    observed({ secret: kubeconfig(API_URL, {}) }),
  ],
  [
    of("False", "UnableToLocateContext"),
    "the kubeconfig did not have a cluster entry that matched the API URL",
    "same",
    "",
    observed({ secret: kubeconfig("https://other.example", { token: "a-token" }) }),
  ],
  [
    of("Unknown", "UnsupportedAPIURL"),
    "the API URL must not have ? or & values",
    "same",
    "",
    observed({ spec: { apiURL: `${API_URL}?a=b` } }),
  ],
  [
    of("Unknown", "UnsupportedAPIURL"),
    say.WRONG_API_URL,
    "same",
    "in older resources; admission says it too",
    observed({ spec: { apiURL: "http://api.example" } }),
  ],
  [
    of("Unknown", "InvalidNamespaceList"),
    "invalid namespace in spec.namespaces: spec.namespaces[0] is no name of a namespace",
    "same",
    "",
    observed({ spec: { namespaces: ["A"] } }),
  ],
  [
    of("Unknown", "InvalidSpec"),
    "spec.clusterResources: Invalid input: expected boolean, received string",
    "new",
    "in resources that are older than their schema",
    observed({ spec: { clusterResources: "yes" } }),
  ],
  [
    of("False", "UnableToCreateClient"),
    "unable to reach the cluster at the API URL: no such host",
    "same",
    "",
    observed({ answer: { kind: "unreachable", why: "no such host" } }),
  ],
  [
    of("False", "UnableToCreateClient"),
    "the API URL leads to an address that may not be reached from here; ask your administrator if it should be",
    "better",
    "any address was dialled",
    refused("inside"),
  ],
  [
    of("False", "UnableToCreateClient"),
    "the API URL leads to a cluster that may not be deployed to",
    "better",
    "it was deployed to",
    refused("reserved"),
  ],
  [
    of("Unknown", "UnableToValidateClusterCredentials"),
    "Provided service account does not have permission to access resources in the cluster. Verify that the service account has the correct Role and RoleBinding.",
    "same",
    "",
    refused("forbidden"),
  ],
  [
    of("Unknown", "UnableToValidateClusterCredentials"),
    "Certificate signed by unknown authority. Note that the '.spec.allowInsecureSkipTLSVerify' field can be used to ignore this error.",
    "same",
    "",
    refused("untrusted"),
  ],
  [
    of("Unknown", "UnableToValidateClusterCredentials"),
    "Unable to validate the credentials provided in the ManagedEnvironment Secret. Verify the API URL, and service account token are correct.",
    "same",
    "",
    refused("refused"),
  ],
  [of("False", "UnableToInstallServiceAccount"), WAITING, "new", "it goes on by itself", found(notInstalled(WAITING))],
  [of("False", "UnableToInstallServiceAccount"), NO_TOKEN, "new", "", found(notInstalled(NO_TOKEN))],
  [
    of("False", "ResourceBudgetExceeded"),
    overBudgetText(WITHHELD),
    "new",
    "an instance was brought down by it",
    found(overBudget(WITHHELD)),
  ],
  [
    of("False", "QuotaExceeded"),
    "This namespace may have at most 50 managed environments: delete another one",
    "new",
    "",
    found(overQuota(50)),
  ],
  [
    "Paused=True/Paused",
    'Changes are not acted on while the annotation argosy.dev/paused is "true"',
    "new",
    "",
    () => pausedEnvironmentStatus(aResource({ isPaused: true }), millis(0))?.conditions ?? [],
  ],
];

export const environmentWords: readonly WordsCase[] = rows.map(([condition, message, compared, why, each]) => ({
  ...{ kind: "environment", condition, message, compared, why, said: each },
}));

const inside = "what fails inside is tried again; the user could mend nothing";
export const environmentUnsaid: readonly Unsaid[] = [
  {
    kind: "environment",
    words: "UnableToRetrieveRestConfig",
    why: "there is no step between reading a kubeconfig and using it: `UnableToParseKubeconfigData`",
  },
  {
    kind: "environment",
    words: "KubernetesError",
    why: "said as what it is: `UnableToValidateClusterCredentials` or `UnableToCreateClient`",
  },
  { kind: "environment", words: "UnableToCreateClusterCredentials", why: inside },
  { kind: "environment", words: "DatabaseError", why: inside },
  { kind: "environment", words: "UnknownError", why: inside },
];
