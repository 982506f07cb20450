import type { ObservedDeployment, ObservedNamespace } from "../../domain/user-resource.ts";
import type { ApplicationSpec, Workspace } from "../../domain/workspace.ts";
import { argoName } from "../argo-name.ts";
import { isWithinQuota } from "../quota.ts";
import { isWorkspace, newUnitOf, quotaOf, type WorkspacePolicy } from "../workspace-policy.ts";
import { parseDeployment } from "./parse-deployment.ts";
import { requestOf } from "./plan-sweep.ts";

export interface IntentFacts {
  readonly resource: ObservedDeployment | undefined;
  /** The resource's namespace; absent when it is gone or, while the resource is there, not seen yet. */
  readonly namespace: ObservedNamespace | undefined;
  /** Uids this name is known to have had; every one but the present one's is gone for certain. */
  readonly knownUids: readonly string[];
  /** All resources of the namespace, this one included. */
  readonly siblings: readonly ObservedDeployment[];
  /** Whether the resource of a uid was let in before. */
  readonly isAdmitted: (uid: string) => boolean;
  readonly policy: WorkspacePolicy;
}

export interface IntentPlan {
  /** Rows of resources that are gone or going. */
  readonly deletions: readonly { readonly uid: string; readonly deletion: "cascade" | "with-namespace" }[];
  /** What the resource asks for, to be recorded. */
  readonly record: RecordedIntent | undefined;
  /** When the user's finalizer may be taken away. */
  readonly release: "never" | "when-row-is-gone" | "now";
  /** When the user should hear of it: at once, once the instance had time to answer, or not at all. */
  readonly tell: "now" | "soon" | "nothing";
}

export interface RecordedIntent {
  readonly workspace: Pick<Workspace, "namespace" | "namespaceUid" | "trustClass" | "groups">;
  readonly class: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly spec: ApplicationSpec;
  readonly argoName: string;
  /** The request in short, see `requestOf`. */
  readonly stamp: string;
}

/**
 * What to do about one name in a namespace. Rows of other uids than the present one's go. A resource that is being deleted
 * keeps the user's finalizer until its row is gone, unless the whole namespace is going: the right to deploy into it goes with
 * it, as does everything that was deployed there, and for what stands on environments' clusters no namespace is held up. A valid resource is recorded; an
 * invalid, paused or superfluous one is left as it was, and one in a namespace that is no workspace is not ours.
 */
export function planIntent(facts: IntentFacts): IntentPlan {
  const { resource, namespace, knownUids, policy } = facts;
  const nothing: IntentPlan = { deletions: [], record: undefined, release: "never", tell: "nothing" };
  // Where there is a resource there is a namespace: another watch reports it, and has not yet.
  if (resource !== undefined && namespace === undefined) return nothing;
  const isNamespaceGoing = namespace?.isDeleting ?? true;
  const deletion = isNamespaceGoing ? "with-namespace" : "cascade";
  const gone = new Set(knownUids.filter((uid) => uid !== resource?.uid));
  if (resource?.isDeleting === true) gone.add(resource.uid);
  const plan = { ...nothing, deletions: [...gone].sort().map((uid) => ({ uid, deletion }) as const) };
  if (resource === undefined || namespace === undefined) return plan;
  if (resource.isDeleting) return { ...plan, release: releaseOf(resource, isNamespaceGoing), tell: "now" };
  if (isNamespaceGoing || !isWorkspace(namespace, policy)) return plan;
  if (resource.isPaused) return { ...plan, tell: "now" };
  const record = planRecord(facts, resource, namespace);
  return { ...plan, record, tell: record === undefined ? "now" : "soon" };
}

function releaseOf(resource: ObservedDeployment, isNamespaceGoing: boolean): IntentPlan["release"] {
  if (!resource.isHeld) return "never";
  return isNamespaceGoing ? "now" : "when-row-is-gone";
}

/** Absent where the resource asks for something that cannot be; the status says what. */
function planRecord(
  { policy, siblings, isAdmitted }: IntentFacts,
  resource: ObservedDeployment,
  namespace: ObservedNamespace,
): RecordedIntent | undefined {
  const parsed = parseDeployment(resource, policy.egress);
  const newUnit = newUnitOf(namespace, policy);
  if (!parsed.ok || newUnit === undefined) return undefined;
  if (!isWithinQuota(resource, { siblings, limit: quotaOf(namespace, policy).deployments, isAdmitted })) return undefined;
  const { trustClass, groups } = newUnit;
  return {
    workspace: { namespace: namespace.name, namespaceUid: namespace.uid, trustClass, ...(groups === undefined ? {} : { groups }) },
    class: newUnit.class,
    name: resource.name,
    uid: resource.uid,
    generation: resource.generation,
    spec: parsed.spec,
    argoName: argoName(resource),
    stamp: requestOf(resource),
  };
}
