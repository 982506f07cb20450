import type { ApplicationId, InstanceId } from "../../domain/ids.ts";
import type { EngineStatus } from "../../domain/status.ts";
import type { ObservedDeployment, ObservedNamespace } from "../../domain/user-resource.ts";
import type { DeploymentRecord } from "../status/verdict.ts";
import type { WorkspacePolicy } from "../workspace-policy.ts";

export const REPOSITORY = "https://git.example/jane/guestbook";

export function aSpec(over: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return { source: { repoURL: REPOSITORY, path: "overlays/dev", targetRevision: "main" }, type: "automated", ...over };
}

export function aResource(over: Partial<ObservedDeployment> = {}): ObservedDeployment {
  return {
    namespace: "jane",
    name: "guestbook",
    uid: "uid-1",
    generation: 1,
    createdAt: "2026-01-01T00:00:00Z",
    spec: aSpec(),
    isPaused: false,
    refreshedAt: "",
    isDeleting: false,
    isHeld: false,
    conditions: [],
    observedGeneration: undefined,
    ...over,
  };
}

export function aNamespace(over: Partial<ObservedNamespace> = {}): ObservedNamespace {
  return { name: "jane", uid: "namespace-uid-1", labels: {}, isDeleting: false, ...over };
}

export function aPolicy(over: Partial<WorkspacePolicy> = {}): WorkspacePolicy {
  return {
    newUnit: { class: "eu/shared/public", trustClass: "public" },
    classes: [],
    groups: [],
    egress: { allow: [], http: [] },
    selector: {},
    everyNamespace: true,
    quota: { deployments: 100, environments: 50, syncsPerMinute: 100 },
    classQuotas: [],
    recordedClasses: new Map(),
    recordedLabels: [],
    instanceNamespaces: new Set(["argocd-eu-7"]),
    kinds: {},
    hidden: ["argocd-eu-7", "standard-7"],
    ...over,
  };
}

export function anEngineStatus(over: Partial<EngineStatus> = {}): EngineStatus {
  return {
    sync: { status: "Synced", revision: "3f2c1d0" },
    health: { status: "Healthy", message: "" },
    conditions: [],
    resources: [{ group: "", version: "v1", kind: "ConfigMap", namespace: "jane", name: "settings", status: "Synced" }],
    resourceCount: 1,
    comparedTo: { repoUrl: REPOSITORY, path: "overlays/dev", targetRevision: "main", namespace: "jane" },
    operationState: undefined,
    ...over,
  };
}

export const ARGO_NAME = "jane-guestbook-0123456789abcdef";

/** The row of {@link aResource}, placed; `status` undefined: the instance has not said anything yet. */
export function aRecord(status: EngineStatus | undefined, over: Partial<DeploymentRecord> = {}): DeploymentRecord {
  return {
    application: {
      id: "application-1" as ApplicationId,
      generation: 1,
      name: "guestbook",
      argoName: ARGO_NAME,
      deletedAt: undefined,
      spec: {
        source: { repoUrl: REPOSITORY, path: "overlays/dev", targetRevision: "main" },
        destination: {},
        type: "automated",
        createNamespace: false,
      },
    },
    unit: { owner: "instance-1" as InstanceId },
    isUnplaceable: false,
    environment: undefined,
    status: status && { status },
    ...over,
  };
}
