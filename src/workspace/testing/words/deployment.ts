import { type Millis, millis } from "../../../domain/clock.ts";
import type { EnvironmentId } from "../../../domain/ids.ts";
import { type AccessOutcome, type RepositoryAccess, UNPROVEN } from "../../../domain/repository-access.ts";
import type { EngineStatus } from "../../../domain/status.ts";
import type { Condition } from "../../../domain/user-resource.ts";
import { nextWithholding } from "../../../domain/withholding.ts";
import * as say from "../../api/messages.ts";
import { oneTooManyText } from "../../quota.ts";
import { composeStatus } from "../../status/deployment-status.ts";
import { NOT_YOURS } from "../../status/engine-sentences.ts";
import type { StatusFacts } from "../../status/verdict.ts";
import { anEngineStatus, aPolicy, aRecord, aResource, aSpec, REPOSITORY } from "../builders.ts";
import type { Unsaid, WordsCase } from "./case.ts";

const NOW: Millis = millis(Date.UTC(2026, 0, 1));

const said =
  (over: Partial<StatusFacts> = {}) =>
  (): readonly Condition[] => {
    const resource = over.resource ?? aResource();
    const rest = { siblings: [resource], isAdmitted: () => false, mayHave: 100, record: aRecord(anEngineStatus()), policy: aPolicy() };
    return composeStatus({ resource, ...rest, ...over }, NOW).status.conditions;
  };
const asked = (spec: Readonly<Record<string, unknown>>, over: Partial<StatusFacts> = {}) =>
  said({ resource: aResource({ spec: aSpec(spec) }), record: undefined, ...over });
const engine = (over: Partial<EngineStatus>) => said({ record: aRecord(anEngineStatus(over)) });
const healthy = (status: EngineStatus["health"]["status"]) => engine({ health: { status, message: "" } });
const source = (over: Readonly<Record<string, unknown>>) => ({ source: { repoURL: "https://git.example/x", path: ".", ...over } });
const elsewhere = (isDeployed: boolean) => {
  const record = aRecord(isDeployed ? anEngineStatus() : undefined);
  const spec = { ...record.application.spec, destination: { environment: "prod-eu", namespace: "web" } };
  return said({ record: { ...record, application: { ...record.application, spec } } });
};
const withheld = () => {
  const record = aRecord(anEngineStatus());
  const spec = { ...record.application.spec, destination: { environment: "prod-eu", namespace: "web" } };
  const weight = { objects: 31_000, apis: 420 };
  const environment = {
    ...({ id: "environment-1" as EnvironmentId, name: "prod-eu", state: "withdrawn" } as const),
    ...{ apiUrl: "https://prod.example", namespaces: [] },
    withheld: nextWithholding(undefined, { weight, budget: 20_480, now: millis(0) }),
  };
  return said({ record: { ...record, environment, application: { ...record.application, spec } } });
};
const manual = () => {
  const record = aRecord(anEngineStatus({ sync: { status: "OutOfSync", revision: "1" } }));
  return said({ record: { ...record, application: { ...record.application, spec: { ...record.application.spec, type: "manual" } } } });
};
/** Into a namespace that its environment does not list. */
const refusedDestination = () => {
  const message =
    "application destination server 'https://203.0.113.9:6443?managedEnvironment=1' and namespace 'other' do not match any of the allowed destinations in project 'ws-0123456789abcdef0123'";
  const comparedTo = { ...anEngineStatus().comparedTo, namespace: "other", environmentId: "environment-1" as EnvironmentId };
  const record = aRecord(anEngineStatus({ comparedTo, conditions: [{ type: "InvalidSpecError", message }] }));
  const spec = { ...record.application.spec, destination: { environment: "prod-eu", namespace: "other" } };
  const environment = {
    id: "environment-1" as EnvironmentId,
    name: "prod-eu",
    state: "connected",
    apiUrl: "",
    namespaces: ["web"],
  } as const;
  return said({ record: { ...record, environment, application: { ...record.application, spec } } });
};
const unread = (outcome: AccessOutcome | undefined, over: Partial<RepositoryAccess> = {}) =>
  said({ record: { ...aRecord(undefined), access: { ...UNPROVEN, outcome, ...over } } });
const going = (over: Partial<StatusFacts>) => said({ resource: aResource({ isDeleting: true }), ...over });
const before = (type: string, reason: string): readonly Condition[] => [{ type, status: "True", reason, message: "was wrong" }];
const fieldWrong = "ErrorOccurred=True/ErrorOccurred";
const RETRYING = {
  phase: "Running",
  finishedAt: "2026-01-01T00:00:00Z",
  message: "namespace b is not permitted. Retrying attempt #4 at 8:28PM.",
};
const BROKEN = {
  ...{ group: "apps", version: "v1", kind: "Deployment", namespace: "jane", name: "web", status: "Synced" },
  health: { status: "Degraded", message: 'Deployment "web" exceeded its progress deadline' },
};
const HELD = { group: "", kind: "ConfigMap", namespace: "jane", name: "settings", finalizers: ["example.com/hold"] };

type Row = readonly [condition: string, message: string, compared: WordsCase["compared"], why: string, said: WordsCase["said"]];
const rows: readonly Row[] = [
  [fieldWrong, say.EMPTY_PATH, "same", "", asked(source({ path: "" }))],
  [fieldWrong, say.ROOT_PATH, "same", "", asked(source({ path: "/" }))],
  [fieldWrong, say.WRONG_TYPE, "same", "also in older resources", asked({ type: "Automated" })],
  [fieldWrong, say.WRONG_SYNC_OPTION, "same", "", asked({ syncPolicy: { syncOptions: ["Prune=true"] } })],
  [
    fieldWrong,
    say.NAMESPACE_WITHOUT_ENVIRONMENT,
    "better",
    "also when the webhook was down",
    asked({ destination: { namespace: "prod" } }),
  ],
  [fieldWrong, say.ENVIRONMENT_WITHOUT_NAMESPACE, "same", "when it is new", asked({ destination: { environment: "prod-eu" } })],
  [
    fieldWrong,
    say.ENVIRONMENT_WITHOUT_NAMESPACE_ON_UPDATE,
    "same",
    "when it was deployed before",
    asked({ destination: { environment: "prod-eu" } }, { record: aRecord(undefined) }),
  ],
  [fieldWrong, say.ENVIRONMENT_UNKNOWN, "same", "when it is new", elsewhere(false)],
  [fieldWrong, say.ENVIRONMENT_UNKNOWN_ON_UPDATE, "same", "when it was deployed before", elsewhere(true)],
  [
    "ErrorOccurred=False/ErrorOccurredResolved",
    "",
    "better",
    "only once it is mended, never by the next status",
    said({ resource: aResource({ conditions: before("ErrorOccurred", "ErrorOccurred") }) }),
  ],
  [
    "SyncError=True/SyncError",
    "no such kind",
    "same",
    "and so for every condition of Argo CD's",
    engine({ conditions: [{ type: "SyncError", message: "no such kind" }] }),
  ],
  ["SyncError=False/SyncErrorResolved", "", "same", "", said({ resource: aResource({ conditions: before("SyncError", "SyncError") }) })],
  ["Ready=True/Synced", "What Git says is deployed and healthy", "new", "", said()],
  ["Ready=False/Reconciling", "Waiting for the first comparison with Git", "new", "", said({ record: aRecord(undefined) })],
  [
    "Ready=False/WaitingForCapacity",
    "There is no room for this deployment at the moment: it goes on as soon as there is",
    "new",
    "",
    said({ record: undefined, policy: aPolicy({ newUnit: undefined }) }),
  ],
  ["Ready=False/OutOfSync", "Deploying what Git says", "new", "automated", engine({ sync: { status: "OutOfSync", revision: "1" } })],
  [
    "Ready=False/SyncFailed",
    "Deploying what Git says, which failed and is tried again: namespace b is not permitted.",
    "better",
    "it was in `operationState` only",
    engine({ sync: { status: "OutOfSync", revision: "1" }, operationState: RETRYING }),
  ],
  [
    "Ready=False/OutOfSync",
    "Git says something else than what is deployed: create a GitOpsDeploymentSyncRun to deploy it",
    "new",
    "manual",
    manual(),
  ],
  ["Ready=False/Progressing", "Waiting until what was deployed is healthy", "new", "and for which object", healthy("Progressing")],
  ["Ready=False/Missing", "Waiting until what was deployed is healthy", "new", "", healthy("Missing")],
  ["Ready=False/Unknown", "Waiting until what was deployed is healthy", "new", "", healthy("Unknown")],
  [
    "Ready=False/Degraded",
    'Deployment web is Degraded: Deployment "web" exceeded its progress deadline',
    "new",
    "the worst object, and why",
    engine({ health: { status: "Degraded", message: "" }, resources: [BROKEN] }),
  ],
  ["Ready=False/Degraded", "Something that was deployed is not healthy", "new", "where no object says so", healthy("Degraded")],
  ["Ready=False/Suspended", "Something that was deployed is suspended", "new", "", healthy("Suspended")],
  ["Stalled=True/InvalidSpec", say.EMPTY_PATH, "new", "beside `ErrorOccurred`", asked(source({ path: "" }))],
  ["Stalled=True/EnvironmentUnavailable", say.ENVIRONMENT_UNKNOWN, "new", "beside `ErrorOccurred`", elsewhere(false)],
  [
    "Stalled=True/EnvironmentUnavailable",
    "Environment prod-eu is not used at the moment: an instance had to keep 31000 objects of 420 APIs of it in memory, which counts as 34360 objects, and one environment may take 20480. What is deployed stays as it is; the conditions of the GitOpsDeploymentManagedEnvironment say what to do",
    "new",
    "beside `ErrorOccurred`",
    withheld(),
  ],
  [
    "Stalled=True/QuotaExceeded",
    "This namespace may have at most 0 deployments: delete another one, or ask your administrator for more",
    "new",
    "",
    asked({}, { mayHave: 0 }),
  ],
  [
    "Stalled=True/QuotaExceeded",
    oneTooManyText("GitOpsDeployments"),
    "new",
    "",
    said({ resource: aResource({ spec: undefined, isOneTooMany: true }) }),
  ],
  [
    "Reconciling=True/ValidationPending",
    "Whether the repository can be read is being found out",
    "new",
    "before the first probe",
    unread(undefined),
  ],
  [
    "Stalled=True/InvalidCredentials",
    `Repository ${REPOSITORY} cannot be read: authentication required; create a GitOpsDeploymentRepositoryCredential for it`,
    "new",
    "beside `ErrorOccurred`; it was `ComparisonError`, once Argo CD had tried",
    unread("denied"),
  ],
  [
    "Stalled=True/InvalidCredentials",
    `Repository ${REPOSITORY} cannot be read: authentication required, and the GitOpsDeploymentRepositoryCredential for it was refused. What is deployed stays; nothing more is deployed until it can be read again`,
    "new",
    "several times, for a while",
    unread("denied", { state: "lost", credential: "some" }),
  ],
  [
    "Stalled=True/InvalidRepositoryUrl",
    `Repository does not exist: ${REPOSITORY}, or it is not shown without a credential for it`,
    "new",
    "as of a credential",
    unread("not-found"),
  ],
  [
    "Reconciling=True/RepositoryUnreachable",
    `The host of ${REPOSITORY} does not answer as a Git host does; it is tried again`,
    "new",
    "as of a credential",
    unread("unreachable"),
  ],
  [
    "Reconciling=True/RepositoryIdentityUnknown",
    `The host of ${REPOSITORY} cannot show to be itself: its certificate or host key is not known here; ask your administrator to add it`,
    "new",
    "as of a credential",
    unread("unknown-identity"),
  ],
  [
    "Reconciling=True/ValidationFailed",
    `It could not be found out whether ${REPOSITORY} can be read; it is tried again`,
    "new",
    "as of a credential",
    unread("failed"),
  ],
  ...(["ComparisonError", "InvalidSpecError", "SyncError"] as const).map(
    (type): Row => [
      `Stalled=True/${type}`,
      "because",
      "new",
      "Argo CD's own words",
      engine({ conditions: [{ type, message: "because" }] }),
    ],
  ),
  [
    "Reconciling=True/Reconciling",
    NOT_YOURS,
    "better",
    "what Argo CD complains of that no user can mend was `ComparisonError`, in words of its parts",
    engine({ conditions: [{ type: "ComparisonError", message: "rpc error: code = Unavailable desc = lookup argocd-repo-server" }] }),
  ],
  [
    "UnknownError=True/UnknownError",
    NOT_YOURS,
    "better",
    "the words were Argo CD's",
    engine({ conditions: [{ type: "UnknownError", message: "x" }] }),
  ],
  [
    "Stalled=True/InvalidSpecError",
    "namespace other is not among spec.namespaces of environment prod-eu (web): add it there, or deploy to one of these",
    "better",
    "it named a project, which no user knows",
    refusedDestination(),
  ],
  ...(
    [
      [
        "Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = failed to list refs: authentication required:",
        "Failed to load target state: failed to list refs: authentication required: a GitOpsDeploymentRepositoryCredential of this namespace has to name this repository, and its status says whether it works",
      ],
      [
        "Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = Manifest generation error (cached): dev: app path does not exist",
        "Failed to load target state: dev: app path does not exist: spec.source.path has to be a directory of the repository at spec.source.targetRevision",
      ],
    ] as const
  ).map(
    ([message, reported]): Row => [
      `Stalled=True/ComparisonError`,
      reported,
      "better",
      "without what is only inside",
      engine({ conditions: [{ type: "ComparisonError", message }] }),
    ],
  ),
  [
    "Paused=True/Paused",
    'Changes are not acted on while the annotation argosy.dev/paused is "true"',
    "new",
    "",
    said({ resource: aResource({ isPaused: true }) }),
  ],
  ["Reconciling=True/Deleting", "Waiting until what was deployed is gone", "new", "", going({})],
  [
    "Stalled=True/DeletionBlocked",
    "What was deployed is not gone: ConfigMap settings in namespace jane has the finalizer example.com/hold",
    "better",
    "it was given up silently",
    going({ record: { ...aRecord(anEngineStatus()), blockage: { since: NOW, held: [HELD] } } }),
  ],
  ["ResourcesTruncated=True/TooManyResources", "Only 1 of 501 objects are listed", "new", "", engine({ resourceCount: 501 })],
];

export const deploymentWords: readonly WordsCase[] = rows.map(([condition, message, compared, why, each]) => ({
  ...{ kind: "deployment", condition, message, compared, why, said: each },
}));

export const deploymentUnsaid: readonly Unsaid[] = [
  {
    kind: "deployment",
    words: "unable to access the Namespace containing the GitOpsDeployment resource",
    why: "a resource is judged once its namespace was seen",
  },
  {
    kind: "deployment",
    words: "unable to retrieve the contents of the namespace '%s' containing the API resource '%s'. Does it exist?",
    why: "the same",
  },
  {
    kind: "deployment",
    words: "an unknown error occurred",
    why: "what fails inside is tried again, and nothing the user could mend: `Reconciling` until then",
  },
];
