import { API_GROUP, API_VERSION, USER_KINDS, type UserKind } from "./names.ts";
import type { SchemaNotes } from "./parts/schema.ts";
import { type CrdSchema, kindSchemas } from "./schema.ts";

/** A CustomResourceDefinition (apiextensions.k8s.io/v1) as it is applied. */
export type CustomResourceDefinition = {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
};

interface Kind extends UserKind {
  readonly shortName: string;
  readonly description: string;
  readonly columns: readonly Column[];
  readonly schemas: { readonly spec: CrdSchema; readonly status: CrdSchema };
}

interface Column {
  readonly name: string;
  readonly jsonPath: string;
  readonly type: "string" | "date";
  readonly priority?: number;
}

const age: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };
const column = (name: string, jsonPath: string): Column => ({ name, type: "string", jsonPath });
const conditionColumn = (name: string, type: string): Column => column(name, `.status.conditions[?(@.type=="${type}")].status`);

/** Definitions of the four kinds users write, sorted by name: structural schemas whose rules say what the old webhooks said. */
export function renderCrds(): readonly CustomResourceDefinition[] {
  const schemas = kindSchemas();
  const kinds: readonly Kind[] = [
    {
      ...USER_KINDS.environment,
      shortName: "gdme",
      description: "A cluster to deploy to.",
      columns: [column("API URL", ".spec.apiURL"), conditionColumn("Connected", "ConnectionInitializationSucceeded"), age],
      schemas: schemas.environment,
    },
    {
      ...USER_KINDS.credential,
      shortName: "gdrc",
      description: "How to read a private Git repository.",
      columns: [column("Repository", ".spec.repository"), conditionColumn("Valid", "ValidRepositoryCredential"), age],
      schemas: schemas.credential,
    },
    {
      ...USER_KINDS.deployment,
      shortName: "gd",
      description: "Deploys a directory of a Git repository.",
      columns: [
        column("Sync Status", ".status.sync.status"),
        column("Health Status", ".status.health.status"),
        conditionColumn("Ready", "Ready"),
        age,
      ],
      schemas: schemas.deployment,
    },
    {
      ...USER_KINDS.syncRun,
      shortName: "gdsr",
      description: "Deploys a manual GitOpsDeployment once.",
      columns: [column("Deployment", ".spec.gitopsDeploymentName"), column("Phase", ".status.phase"), age],
      schemas: schemas.syncRun,
    },
  ];
  return kinds.map(renderCrd);
}

function renderCrd({ kind, plural, shortName, description, columns, schemas }: Kind): CustomResourceDefinition {
  const names = { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames: [shortName], categories: ["gitops"] };
  const properties = {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
    spec: structural(schemas.spec),
    status: structural(schemas.status),
  };
  const version = {
    name: API_VERSION,
    served: true,
    storage: true,
    additionalPrinterColumns: columns,
    schema: { openAPIV3Schema: { description, type: "object", required: ["spec"], properties } },
    subresources: { status: {} },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${API_GROUP}` },
    spec: { group: API_GROUP, scope: "Namespaced", names, versions: [version] },
  };
}

const copied = ["description", "type", "format", "required", "maxLength", "minLength", "maxItems", "minimum", "pattern"] as const;

/** JSON Schema as zod writes it, in the subset the API server takes (structural schemas). */
function structural(schema: CrdSchema): CrdSchema {
  const { rules, listType, listKeys, preserveUnknown } = schema as SchemaNotes;
  const properties = schema["properties"] as Readonly<Record<string, CrdSchema>> | undefined;
  const maximum = schema["maximum"];
  return {
    ...Object.fromEntries(copied.filter((key) => schema[key] !== undefined).map((key) => [key, schema[key]])),
    ...(schema["type"] === "integer" ? { format: "int64" } : {}),
    ...(typeof maximum === "number" && maximum < Number.MAX_SAFE_INTEGER ? { maximum } : {}),
    ...(properties === undefined || preserveUnknown === true
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, structural(each)])) }),
    ...(schema["items"] === undefined ? {} : { items: structural(schema["items"] as CrdSchema) }),
    ...(listType === undefined ? {} : { "x-kubernetes-list-type": listType }),
    ...(listKeys === undefined ? {} : { "x-kubernetes-list-map-keys": listKeys }),
    ...(preserveUnknown === true ? { "x-kubernetes-preserve-unknown-fields": true } : {}),
    ...(rules === undefined ? {} : { "x-kubernetes-validations": rules }),
  };
}
