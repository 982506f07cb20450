import { type DeclaredGroups, mayKindBeDeployed } from "../domain/deployable-kinds.ts";
import { isForbiddenKind } from "../domain/forbidden-kinds.ts";
import { canonicalJson } from "../domain/hash.ts";
import { LABEL_MANAGED_BY, MANAGED_BY } from "../domain/names.ts";
import type { HandMade, HandMadeProject } from "./schema.ts";

type RefusalCode =
  | "UNREADABLE"
  | "DELETING"
  | "OWNED"
  | "BUSY"
  | "CHANGED"
  | "FINALIZER"
  | "SEVERAL_SOURCES"
  | "FIELD"
  | "PROJECT"
  | "OTHER_CLUSTER"
  | "NO_WORKSPACE"
  | "OUTSIDE_NAMESPACE"
  | "FORBIDDEN_KIND"
  | "POLICY"
  | "PAUSED"
  | "ERROR"
  | "NOT_SYNCED"
  | "NAME_TAKEN";

/** Why an Application stays with the Argo CD that has it. */
export interface AdoptionRefusal {
  readonly code: RefusalCode;
  readonly text: string;
}

/** Facts that are the same for all Applications of one Argo CD. */
export interface AdoptionContext {
  /** Every URL by which it may address the API cluster. */
  readonly servers: readonly string[];
  readonly projects: readonly HandMadeProject[];
  /** Namespaces that are workspaces, or become one with the first deployment in them. */
  readonly workspaces: ReadonlySet<string>;
  /** Which kinds GitOpsDeployments may deploy there. */
  readonly kinds: DeclaredGroups;
}

/** Fields that a GitOpsDeployment has too, or that do not affect what is deployed. */
const KNOWN = {
  spec: ["project", "source", "destination", "syncPolicy", "revisionHistoryLimit", "info"],
  "spec.source": ["repoURL", "path", "targetRevision"],
  "spec.destination": ["server", "name", "namespace"],
  "spec.syncPolicy": ["automated", "syncOptions", "retry"],
  "spec.syncPolicy.automated": ["prune", "selfHeal", "allowEmpty", "enabled"],
} as const;

/** Sync options that a GitOpsDeployment has too, or that every one of them has. */
const KNOWN_OPTIONS = ["CreateNamespace=true", "CreateNamespace=false", "PrunePropagationPolicy=background"];

/** Fields of a project that delay syncs or change as whom they run. Argosy has nothing like them. */
const BINDING_FIELDS = ["syncWindows", "signatureKeys", "sourceIntegrity", "destinationServiceAccounts"];

/**
 * Why an Application cannot be adopted without changing anything it deploys. `undefined`: it can. Every field of it
 * has to have its like in a GitOpsDeployment, and it has to be at rest: the adoption would sync an automated one that
 * is not Synced.
 */
export function whyNotAdopt(application: HandMade, context: AdoptionContext): AdoptionRefusal | undefined {
  return whyUnfit(application) ?? whyInexpressible(application, context) ?? whyElsewhere(application, context) ?? whyRestless(application);
}

function whyUnfit({ metadata, operation, status }: HandMade): AdoptionRefusal | undefined {
  const { deletionTimestamp, finalizers, labels, ownerReferences } = metadata;
  const [owner] = ownerReferences;
  if (labels[LABEL_MANAGED_BY] === MANAGED_BY) return { code: "OWNED", text: "a fleet of Argosy's has it" };
  // The owner would remove the pause again.
  if (owner !== undefined)
    return { code: "OWNED", text: `${owner.kind} ${owner.name} makes it: have that leave it behind, without an owner reference` };
  if (deletionTimestamp !== undefined) return { code: "DELETING", text: "it is being deleted" };
  if (operation !== undefined || status.operationState.phase === "Running") return { code: "BUSY", text: "a sync is under way" };
  if (finalizers.length === 0) return undefined;
  return {
    code: "FINALIZER",
    text: `it has the finalizer ${finalizers.join(", ")}: deleting it would delete what it deploys; take it off`,
  };
}

function whyInexpressible({ spec }: HandMade, { projects }: AdoptionContext): AdoptionRefusal | undefined {
  const { source, destination, syncPolicy, project } = spec;
  if (source === undefined || given(spec["sources"])) return { code: "SEVERAL_SOURCES", text: "it has several sources, or none" };
  const parts = { spec, "spec.source": source, "spec.destination": destination, "spec.syncPolicy": syncPolicy } as const;
  const automated = syncPolicy.automated === undefined ? {} : { "spec.syncPolicy.automated": syncPolicy.automated };
  const unknown = Object.entries({ ...parts, ...automated }).flatMap(([path, part]) => unknownFields(path as keyof typeof KNOWN, part));
  const options = syncPolicy.syncOptions.filter((option) => !KNOWN_OPTIONS.includes(option)).map((option) => `syncOptions ${option}`);
  const lost = [...unknown, ...options];
  if (lost.length > 0) return { code: "FIELD", text: `a GitOpsDeployment cannot say ${lost.join(", ")}` };
  if (source.path === "") return { code: "FIELD", text: "a GitOpsDeployment needs spec.source.path; . is the repository's root" };
  const fence = projects.find(({ metadata }) => metadata.name === project);
  if (fence === undefined) return { code: "PROJECT", text: `there is no project ${project}` };
  const binding = BINDING_FIELDS.filter((field) => given(fence.spec[field]));
  return binding.length === 0
    ? undefined
    : { code: "PROJECT", text: `its project ${project} has ${binding.join(", ")}, which nothing of Argosy's says` };
}

function unknownFields(path: keyof typeof KNOWN, part: Readonly<Record<string, unknown>>): readonly string[] {
  const known: readonly string[] = KNOWN[path];
  return Object.keys(part)
    .filter((field) => !known.includes(field) && given(part[field]))
    .map((field) => `${path}.${field}`);
}

/** Whether a field has a value. Empty lists, empty maps and `false` count as none. */
function given(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "") return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

function whyElsewhere({ spec, status }: HandMade, { servers, workspaces, kinds }: AdoptionContext): AdoptionRefusal | undefined {
  const { server, name, namespace } = spec.destination;
  if (name !== "" ? name !== "in-cluster" : !servers.includes(server))
    return {
      code: "OTHER_CLUSTER",
      text: `it deploys to the cluster ${name === "" ? server : name}: only what deploys to the API cluster is taken over`,
    };
  if (!workspaces.has(namespace)) return { code: "NO_WORKSPACE", text: `its namespace ${namespace || "(none)"} is no workspace` };
  const stranger = status.resources.find((one) => one.namespace !== namespace);
  if (stranger !== undefined) {
    const where = stranger.namespace === "" ? "outside namespaces" : `in namespace ${stranger.namespace}`;
    return { code: "OUTSIDE_NAMESPACE", text: `it deploys ${stranger.kind} ${stranger.name} ${where}` };
  }
  const forbidden = status.resources.find((one) => isForbiddenKind(one) || !mayKindBeDeployed(one, kinds));
  if (forbidden === undefined) return undefined;
  return {
    code: "FORBIDDEN_KIND",
    text: `it deploys ${forbidden.kind} ${forbidden.name}, a kind that no GitOpsDeployment may deploy here (deployments of fleet.yaml)`,
  };
}

function whyRestless({ spec: { syncPolicy }, status }: HandMade): AdoptionRefusal | undefined {
  const { automated } = syncPolicy;
  const error = status.conditions.find(({ type }) => type.endsWith("Error"));
  if (error !== undefined) return { code: "ERROR", text: `it has the condition ${error.type}: mend that first` };
  if (automated === undefined) return undefined;
  if (!automated.prune || !automated.selfHeal || automated["enabled"] === false)
    return { code: "POLICY", text: "an automated GitOpsDeployment prunes and heals: switch both on, or its automation off" };
  return status.sync.status === "Synced"
    ? undefined
    : { code: "NOT_SYNCED", text: `it is ${status.sync.status}: taking it over would sync it; sync it first` };
}

/** Why to stop at an Application that was just paused. `undefined`: it is still as it was when it was planned, and at rest. */
export function whyNoLonger(before: HandMade, paused: HandMade): AdoptionRefusal | undefined {
  if (canonicalJson(before.spec) !== canonicalJson(paused.spec))
    return { code: "CHANGED", text: "it was changed meanwhile: run the command again" };
  return whyUnfit(paused) ?? whyRestless(paused);
}

/** What is known of an Argo CD before its Applications are read. */
interface AdoptedFrom {
  readonly namespace: string;
  /** Its settings. Absent: there is no Argo CD. */
  readonly settings: Readonly<Record<string, string>> | undefined;
  /** Namespaces of its cluster. */
  readonly namespaces: readonly { readonly name: string; readonly uid: string }[];
  /** Uid of the namespace `kube-system` of the API cluster. */
  readonly clusterUid: string;
  readonly instanceNamespaces: readonly string[];
}

/**
 * Why nothing can be adopted from an Argo CD. It has to be on the API cluster: otherwise this fleet would act for
 * another one's Applications. It has to track objects as instances do, by annotation. The default of that setting
 * differs between releases, so it has to be set.
 */
export function whyNotFrom(from: AdoptedFrom): { readonly message: string; readonly remedy: string } | undefined {
  const { namespace, settings, namespaces } = from;
  if (!namespaces.some(({ name, uid }) => name === "kube-system" && uid === from.clusterUid))
    return {
      message: "is on another cluster than users' resources are",
      remedy: "Give --kubeconfig, and --context, of the fleet's API cluster",
    };
  if (from.instanceNamespaces.includes(namespace))
    return { message: "is an instance of this fleet", remedy: "`argosy move` and `argosy drain` take from one instance to another" };
  if (settings === undefined) return { message: "there is no Argo CD in that namespace", remedy: "Name the namespace its argocd-cm is in" };
  if (settings["application.resourceTrackingMethod"] !== "annotation") {
    const remedy = "Say so there (it is the default from Argo CD 3.0 on) and sync what it then shows as OutOfSync";
    return { message: "does not say application.resourceTrackingMethod: annotation", remedy };
  }
  if ((settings["installationID"] ?? "") === "") return undefined;
  return { message: "has an installationID, which what it deploys is tracked by", remedy: "Take it out, and sync what is then OutOfSync" };
}
