import type { AuditEntry } from "../../domain/audit.ts";
import { type Millis, millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { FleetSpec, PoolSpec } from "../../domain/fleet.ts";
import type { ApplicationId, EnvironmentId, InstanceId, OperationId, RolloutId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { asLoadVector, type LoadVector } from "../../domain/load.ts";
import type { Rollout, WaveInstance } from "../../domain/rollout.ts";
import type { ShardObject } from "../../domain/shard-object.ts";
import type { EngineStatus, RecordedStatus } from "../../domain/status.ts";
import type { ApplicationSpec } from "../../domain/workspace.ts";
import type { Connection, EnvironmentClaim } from "../environment/port.ts";
import type { DeploymentIntent } from "../intent/port.ts";
import type { RunIntent } from "../sync-run/port.ts";
import type { NewToken } from "../token/port.ts";

let count = 0;
const next = <Id extends string>(what: string): Id => {
  count += 1;
  return `${what}-${String(count).padStart(6, "0")}` as Id;
};

export const CLASS = "eu/shared/public";
export const AT: Millis = millis(1_767_225_600_000);
/** Enough capacity for anything. */
export const WIDE: LoadVector = asLoadVector({
  applications: 1e9,
  clusterEntries: 1e9,
  cachedResources: 1e9,
  milliCpu: 1e9,
  gitPerMinute: 1e9,
});

export function aSpec(over: Partial<ApplicationSpec["source"]> = {}): ApplicationSpec {
  return {
    source: { repoUrl: "https://git.example/team/app", path: "deploy", targetRevision: "main", ...over },
    destination: {},
    type: "automated",
    createNamespace: false,
  };
}

/** A request for a new application, in the workspace of a namespace `team` unless it says otherwise. */
export function anIntent(over: Partial<DeploymentIntent> & { readonly namespace?: string } = {}): DeploymentIntent {
  const { namespace = "team", ...rest } = over;
  const uid = next<string>("uid");
  return {
    workspace: { plane: "kubernetes", apiCluster: "main", namespace, namespaceUid: `uid-of-${namespace}`, trustClass: "public" },
    newIds: {
      workspaceId: next<WorkspaceId>("workspace"),
      unitId: next<UnitId>("unit"),
      applicationId: next<ApplicationId>("application"),
      operationId: next<OperationId>("operation"),
    },
    class: CLASS,
    name: `app-${uid}`,
    uid,
    generation: 1,
    spec: aSpec(),
    argoName: `${namespace}-${uid}`,
    ...rest,
  };
}

/** Somebody's environment `prod`, in the workspace of a namespace `team` unless it says otherwise. */
export function aClaim(over: Partial<EnvironmentClaim> = {}): EnvironmentClaim {
  const { workspace } = anIntent();
  const newIds = { workspaceId: next<WorkspaceId>("workspace"), environmentId: next<EnvironmentId>("environment") };
  return { workspace, newIds, name: "prod", uid: next<string>("environment-uid"), ...over };
}

export function aConnection(id: EnvironmentId, over: Partial<Connection> = {}): Connection {
  const access = { apiUrl: "https://prod.example:6443", namespaces: ["web"], fingerprint: "fingerprint-1" };
  return { id, generation: 1, ...access, clusterResources: false, isInsecure: false, createsAccount: false, ...over };
}

export function anInstance(over: Partial<Instance> = {}): Instance {
  const id = next<InstanceId>("instance");
  const version = "3.5.7";
  const life = {
    state: "ACTIVE",
    stateSince: AT,
    reason: "",
    attempt: 0,
    capacity: WIDE,
    weight: 1,
    appliedHash: "",
    cause: undefined,
    halt: "none",
    failsOver: false,
    entries: "shared",
    revision: 1,
  } as const;
  return {
    id,
    name: id,
    engineCluster: "engine",
    namespace: id,
    pool: "standard",
    class: CLASS,
    version,
    desiredVersion: version,
    ...life,
    ...over,
  };
}

export function aDecision(over: Partial<Decision> = {}): Decision {
  return { at: AT, subject: "somebody", kind: "placement", verdict: "CHOSEN", rule: "PREFERRED", details: {}, ...over };
}

export function anAuditEntry(over: Partial<AuditEntry> = {}): AuditEntry {
  return {
    ...{ actor: "ada", via: "rest", role: "operator", remote: "10.0.0.1", action: "pinWorkspace", target: "/v1/workspaces/shop/pin" },
    ...{ outcome: "ok", code: "", count: 1, answers: undefined, details: {} },
    ...over,
  };
}

export function aToken(over: Partial<NewToken> = {}): NewToken {
  const name = over.name ?? "otto";
  return { name, role: "viewer", hash: `hash-${name}`, owner: "the team", createdBy: "anna", lifetimeMs: undefined, ...over };
}

export function anEngineStatus(over: Partial<EngineStatus> = {}): EngineStatus {
  return {
    sync: { status: "Synced", revision: "0123456789abcdef" },
    health: { status: "Healthy", message: "" },
    conditions: [],
    resources: [
      { group: "apps", version: "v1", kind: "Deployment", namespace: "team", name: "web", status: "Synced", health: { status: "Healthy" } },
    ],
    resourceCount: 1,
    comparedTo: { repoUrl: "https://git.example/team/app", path: "deploy", targetRevision: "main", namespace: "team" },
    operationState: undefined,
    ...over,
  };
}

export function aStatus(
  at: Pick<RecordedStatus, "applicationId" | "instanceId" | "epoch">,
  over: Partial<RecordedStatus> = {},
): RecordedStatus {
  return { status: anEngineStatus(), reconciledAt: AT, hash: "hash-1", ...at, ...over };
}

/** The request for a run of a deployment, the later the more of them were made before. */
export function aRun(over: Partial<RunIntent> = {}): RunIntent {
  const uid = next<string>("run");
  const where = { apiCluster: "main", namespace: "team", name: uid };
  return { uid, ...where, deploymentUid: undefined, revision: "", prune: false, createdAt: millis(AT + count * 1000), ...over };
}

export function anObject(at: Pick<ShardObject, "instanceId" | "subject" | "epoch">, over: Partial<ShardObject> = {}): ShardObject {
  return { kind: "application", appliedRevision: 1, uid: "object-uid", hash: "object-hash", ...at, ...over };
}

export function aPool(name: string, over: Partial<PoolSpec> = {}): PoolSpec {
  const resources = { cpu: "1", memory: "1Gi" };
  const engine = {
    statusProcessors: 20,
    operationProcessors: 10,
    k8sClientQps: 50,
    k8sClientBurst: 100,
    reconciliationSeconds: 120,
    reconciliationJitterSeconds: 60,
  };
  return {
    name,
    class: { region: "eu", tier: "shared", trust: "public" },
    engineClusters: ["engine"],
    instances: { min: 1, max: 2 },
    version: undefined,
    capacity: WIDE,
    resources: { controller: resources, repoServer: { ...resources, replicas: 1 }, redis: resources },
    engine,
    ...over,
  };
}

export function aFleet(over: Partial<FleetSpec> = {}): FleetSpec {
  return {
    engineClusters: [{ name: "engine", region: "eu", access: { kind: "inCluster" } }],
    versions: { default: "3.5.7", floor: "3.0.0", catalogue: [] },
    pools: [aPool("standard")],
    workspaces: { selector: {}, everyNamespace: true, quota: { deployments: 10, syncsPerMinute: 10 } },
    deployments: { allowedGroups: [] },
    egress: { allow: [], http: [] },
    ...over,
  };
}

/** A rollout of 3.5.7 to one instance, which has not been given it yet. */
export function aRollout(over: Partial<Rollout> & { readonly instances?: readonly WaveInstance[] } = {}): Rollout {
  const { instances = [aWaveInstance()], ...rest } = over;
  return {
    ...{ id: next<RolloutId>("rollout"), version: "3.5.7", pool: undefined, mode: "in-place", state: "RUNNING", ending: undefined },
    ...{ isEmergency: false, isUnattended: false, actor: "ada", reason: "because", createdAt: AT },
    waves: [{ name: "canary", instances, bakeMs: 60_000, isExtended: false, isApproved: false }],
    ...{ wave: 0, note: "", revision: 1 },
    ...rest,
  };
}

export function aWaveInstance(over: Partial<WaveInstance> = {}): WaveInstance {
  const id = next<InstanceId>("instance");
  return { id, name: id, engineCluster: "eu-1", from: "3.5.6", units: 1, ...over };
}
