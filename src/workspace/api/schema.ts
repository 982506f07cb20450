import { z } from "zod";
import * as say from "./messages.ts";
import {
  conditions,
  count,
  dnsLabel,
  LONGEST_MESSAGE,
  LONGEST_NAME,
  LONGEST_PATH,
  LONGEST_REVISION,
  LONGEST_URL,
  mirror,
  ruled,
  type SchemaNotes,
  textSchema,
} from "./parts/schema.ts";
import { syncRunSpec, syncRunStatus } from "./sync-run/schema.ts";

const source = z
  .object({
    repoURL: textSchema(LONGEST_URL, "Git repository: https, ssh or user@host:path."),
    path: textSchema(LONGEST_PATH, "Directory of the repository that holds the manifests."),
    targetRevision: textSchema(LONGEST_REVISION, "Branch, tag or commit; empty means HEAD.").optional(),
  })
  .describe("What is deployed.");

const destination = ruled(
  z
    .object({
      environment: textSchema(
        LONGEST_NAME,
        "Name of a GitOpsDeploymentManagedEnvironment of this namespace; empty deploys into this namespace.",
      ).optional(),
      namespace: ruled(textSchema(LONGEST_NAME, "Namespace of the environment's cluster to deploy into."), [
        {
          cel: `self == '' || (self.size() <= 63 && self.matches('${dnsLabel.source}'))`,
          message: "spec.destination.namespace must be the name of a namespace: at most 63 lower-case letters, digits and '-'",
          holds: (name) => name === "" || (name.length <= 63 && dnsLabel.test(name)),
        },
      ]).optional(),
    })
    .describe("Where it is deployed; empty: into the resource's own namespace."),
  [
    {
      // `orValue` would read better, but hides the length from the API server's estimate of the rule's cost.
      cel: "!has(self.namespace) || self.namespace == '' || (has(self.environment) && self.environment != '')",
      message: say.NAMESPACE_WITHOUT_ENVIRONMENT,
      holds: ({ namespace = "", environment = "" }) => namespace === "" || environment !== "",
    },
  ],
);

const syncOptions = ruled(
  z.array(textSchema(256, "CreateNamespace=true or CreateNamespace=false.")).max(16).describe("Options of each sync."),
  [
    {
      cel: "self.all(option, option == 'CreateNamespace=true' || option == 'CreateNamespace=false')",
      message: say.WRONG_SYNC_OPTION,
      holds: (options) => options.every((option) => option === "CreateNamespace=true" || option === "CreateNamespace=false"),
    },
  ],
);

const deploymentSpec = z.object({
  source,
  destination: destination.optional(),
  syncPolicy: z.object({ syncOptions: syncOptions.optional() }).describe("How it is deployed.").optional(),
  type: ruled(textSchema(256, "automated: follow Git; manual: deploy when a GitOpsDeploymentSyncRun says so."), [
    { cel: "self == 'automated' || self == 'manual'", message: say.WRONG_TYPE, holds: (type) => type === "automated" || type === "manual" },
  ]),
});

const health = z.object({
  status: textSchema(64, "Healthy, Progressing, Degraded, Suspended, Missing or Unknown.").optional(),
  message: textSchema(LONGEST_MESSAGE, "Why.").optional(),
});

const resource = z.object({
  group: textSchema(LONGEST_NAME, "API group.").optional(),
  version: textSchema(LONGEST_NAME, "API version.").optional(),
  kind: textSchema(LONGEST_NAME, "Kind.").optional(),
  namespace: textSchema(LONGEST_NAME, "Namespace.").optional(),
  name: textSchema(1024, "Name.").optional(),
  status: textSchema(64, "Synced, OutOfSync or Unknown.").optional(),
  health: health.describe("Health of this object.").optional(),
});

const reconciledState = z
  .object({
    source: z
      .object({
        path: textSchema(LONGEST_PATH, "Path."),
        repoURL: textSchema(LONGEST_URL, "Repository."),
        branch: textSchema(LONGEST_REVISION, "Target revision."),
      })
      .describe("Source that was compared."),
    destination: z
      .object({
        name: textSchema(LONGEST_NAME, "Environment; empty for the own namespace."),
        namespace: textSchema(LONGEST_NAME, "Namespace."),
      })
      .describe("Destination that was compared."),
  })
  .describe("What the present sync status was compared with.");

const deploymentStatus = z.object({
  observedGeneration: count("Generation of the resource this status is about.").optional(),
  conditions: conditions.optional(),
  sync: z
    .object({
      status: textSchema(64, "Synced, OutOfSync or Unknown."),
      revision: textSchema(LONGEST_REVISION, "Revision compared with.").optional(),
    })
    .describe("Whether what is deployed is what Git says.")
    .optional(),
  health: health.describe("Health of what is deployed.").optional(),
  resources: z
    .array(resource)
    .meta({ listType: "atomic", description: "What is deployed, at most 500 objects." } satisfies SchemaNotes & { description: string })
    .optional(),
  resourceCount: count("How many objects there are, if not all of them are listed.").optional(),
  reconciledState,
  operationState: mirror("The last or present sync.").optional(),
});

const environmentSpec = z.object({
  apiURL: ruled(textSchema(LONGEST_URL, "URL of the cluster's API server."), [
    { cel: "self.startsWith('https://')", message: say.WRONG_API_URL, holds: (url) => url.startsWith("https://") },
    {
      cel: "!self.startsWith('https://') || isURL(self)",
      message: "cluster api url must be a valid URL",
    },
  ]),
  credentialsSecret: textSchema(
    LONGEST_NAME,
    "Secret of this namespace, type managed-gitops.redhat.com/managed-environment, key kubeconfig.",
  ),
  allowInsecureSkipTLSVerify: z.boolean().describe("Whether the cluster's certificate goes unchecked."),
  createNewServiceAccount: z
    .boolean()
    .describe("Whether Argosy uses these credentials to make an account of its own on the cluster.")
    .optional(),
  namespaces: z
    .array(textSchema(LONGEST_NAME, "Namespace."))
    .max(1000)
    .describe("Namespaces the credentials may use; empty means all.")
    .optional(),
  clusterResources: z.boolean().describe("Whether objects outside namespaces may be deployed although namespaces are listed.").optional(),
});

const credentialSpec = z.object({
  repository: ruled(textSchema(LONGEST_URL, "Git repository: https, ssh or user@host:path."), [
    {
      // Plain http is a question for the administrator's rules, which no schema knows.
      cel: "self.matches('^(https|ssh|http)://') || self.matches('^[^/:@]+@[^/:@]+:[^/]?')",
      message: say.WRONG_REPOSITORY,
    },
  ]),
  secret: textSchema(LONGEST_NAME, "Secret of this namespace with username and password, sshPrivateKey or bearerToken."),
});

const plainStatus = z.object({
  observedGeneration: count("Generation of the resource this status is about.").optional(),
  conditions: conditions.optional(),
});

export type EnvironmentSpec = z.infer<typeof environmentSpec>;
export type DeploymentSpec = z.infer<typeof deploymentSpec>;
type CredentialSpec = z.infer<typeof credentialSpec>;
export type DeploymentStatus = z.infer<typeof deploymentStatus>;

export type CrdSchema = Readonly<Record<string, unknown>>;

/** JSON Schema of spec and status of each kind, with {@link SchemaNotes} left in. */
export function kindSchemas(): Readonly<
  Record<"deployment" | "syncRun" | "environment" | "credential", { readonly spec: CrdSchema; readonly status: CrdSchema }>
> {
  const render = (schema: z.ZodType): CrdSchema => z.toJSONSchema(schema, { io: "input", reused: "inline" }) as CrdSchema;
  return {
    deployment: { spec: render(deploymentSpec), status: render(deploymentStatus) },
    syncRun: { spec: render(syncRunSpec), status: render(syncRunStatus) },
    environment: { spec: render(environmentSpec), status: render(plainStatus) },
    credential: { spec: render(credentialSpec), status: render(plainStatus) },
  };
}

export interface SchemaProblem {
  /** Field as users write it, e.g. `spec.source.path`. */
  readonly path: string;
  readonly message: string;
}

export type Checked<Spec> =
  | { readonly ok: true; readonly spec: Spec }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/** Checks a GitOpsDeployment's spec of unknown age; all problems at once, in the order of the fields. */
export const checkDeploymentSpec = (raw: unknown): Checked<DeploymentSpec> => checkSpec(deploymentSpec, raw);

/** The same for a GitOpsDeploymentSyncRun's. */
export const checkSyncRunSpec = (raw: unknown): Checked<z.infer<typeof syncRunSpec>> => checkSpec(syncRunSpec, raw);

/** The same for a GitOpsDeploymentManagedEnvironment's. */
export const checkEnvironmentSpec = (raw: unknown): Checked<EnvironmentSpec> => checkSpec(environmentSpec, raw);

function checkSpec<Spec>(schema: z.ZodType<Spec>, raw: unknown): Checked<Spec> {
  const checked = schema.safeParse(raw);
  return checked.success ? { ok: true, spec: checked.data } : { ok: false, problems: checked.error.issues.map(problemOf) };
}

/** The same for a GitOpsDeploymentRepositoryCredential's. */
export function checkCredentialSpec(
  raw: unknown,
): { readonly ok: true; readonly spec: CredentialSpec } | { readonly ok: false; readonly problems: readonly SchemaProblem[] } {
  const checked = credentialSpec.safeParse(raw);
  return checked.success ? { ok: true, spec: checked.data } : { ok: false, problems: checked.error.issues.map(problemOf) };
}

/** Rules have sentences of their own that name the field; the library's own need it put before them. */
function problemOf({ code, path, message }: z.core.$ZodIssue): SchemaProblem {
  const field = ["spec", ...path.map(String)].join(".");
  return { path: field, message: code === "custom" ? message : `${field}: ${message}` };
}
