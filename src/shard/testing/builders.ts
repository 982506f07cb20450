import { millis } from "../../domain/clock.ts";
import type { Environment } from "../../domain/environment.ts";
import type { ApplicationId, EnvironmentId, InstanceId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import { ZERO_LOAD } from "../../domain/load.ts";
import type { Application, ApplicationSpec, PlacementUnit } from "../../domain/workspace.ts";
import type { ApplicationPlacement } from "../application-placement.ts";
import type { DesiredObject } from "../managed-object.ts";
import { manifestOf } from "../managed-object.ts";

export const DESTINATION = { server: "https://api.example:6443", caData: "Y2E=" };
/** The own namespace of the workspace of {@link anApplicationPlacement}. */
export const TARGET = { server: DESTINATION.server, namespace: "team-a" };
export const NAMESPACES = { accounts: "argosy-accounts" };

/** A unit of the workspace `team-a`, owned under epoch 7 by an instance in namespace `argocd-1`. */
export function anApplicationPlacement(over: Partial<PlacementUnit> = {}): ApplicationPlacement {
  const unit: PlacementUnit = {
    id: "unit-1" as UnitId,
    workspaceId: "workspace-1" as WorkspaceId,
    bucket: 0,
    class: "eu/shared/public",
    owner: "instance-1" as InstanceId,
    epoch: 7,
    phase: "IDLE",
    load: ZERO_LOAD,
    desiredRevision: 3,
    rowVersion: 1,
    ...over,
  };
  const workspace = {
    id: unit.workspaceId,
    plane: "kubernetes",
    apiCluster: "api",
    namespace: "team-a",
    namespaceUid: "ns-uid",
    trustClass: "public",
    state: "active",
  } as const;
  return {
    unit,
    workspace,
    instance: { id: "instance-1" as InstanceId, namespace: "argocd-1", engineCluster: "engine", entries: "shared" },
  };
}

/** An environment of the workspace of {@link anApplicationPlacement}. */
export function anEnvironment(over: Partial<Environment> = {}): Environment {
  return {
    id: "environment-1" as EnvironmentId,
    workspaceId: "workspace-1" as WorkspaceId,
    name: "prod",
    uid: "environment-uid-1",
    generation: 1,
    state: "connected",
    apiUrl: "https://prod.example:6443",
    namespaces: ["web"],
    clusterResources: false,
    isInsecure: false,
    createsAccount: false,
    hasAccount: false,
    fingerprint: "fingerprint-1",
    unreachableSince: undefined,
    ...over,
  };
}

export function anApplication(over: Partial<Application> = {}, spec: Partial<ApplicationSpec> = {}): Application {
  return {
    id: "application-1" as ApplicationId,
    workspaceId: "workspace-1" as WorkspaceId,
    unitId: "unit-1" as UnitId,
    name: "web",
    uid: "uid-1",
    generation: 1,
    spec: {
      source: { repoUrl: "https://git.example/team/app", path: "deploy", targetRevision: "main" },
      destination: {},
      type: "automated",
      createNamespace: false,
      ...spec,
    },
    argoName: "team-a-web-0123456789",
    desiredRevision: 2,
    deletion: "none",
    deletedAt: undefined,
    ...over,
  };
}

/** The application as it is once its user has deleted it. */
export function deleted(application: Application, deletion: "cascade" | "orphan"): Application {
  return { ...application, deletion, deletedAt: millis(1) };
}

/** An object as an API server keeps it: a mutable tree of JSON. */
export type Stored = { [field: string]: unknown; metadata: { [field: string]: unknown } };

/** What an API server answers to the creation of an object. */
export function stored(desired: DesiredObject, uid = "object-1", resourceVersion = "100"): Stored {
  const manifest = structuredClone(manifestOf(desired)) as unknown as Stored;
  return { ...manifest, metadata: { ...manifest.metadata, uid, resourceVersion } };
}

/** Damage to one field beside the metadata. */
export function setField(field: string, value: unknown): (raw: Stored) => void {
  return (raw) => {
    raw[field] = value;
  };
}

/** Damage to one field of the metadata. */
export function setMeta(field: string, value: unknown): (raw: Stored) => void {
  return (raw) => {
    raw.metadata[field] = value;
  };
}
