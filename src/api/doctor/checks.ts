import type { FleetSpec } from "../../domain/fleet.ts";
import type { Instance } from "../../domain/instance.ts";
import type { Check } from "../port.ts";
import { errorSentence } from "./error-sentence.ts";

/** What a role of Argosy must be allowed to do; one of them missing is one failed check. */
export interface NeededRight {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

const GITOPS = "managed-gitops.redhat.com";
const RBAC = "rbac.authorization.k8s.io";

/** A sample of every kind of right the roles of `argosy manifests` give on the cluster with the users' resources. */
export const API_CLUSTER_RIGHTS: readonly NeededRight[] = [
  { verb: "watch", group: "", resource: "namespaces" },
  { verb: "watch", group: GITOPS, resource: "gitopsdeployments" },
  { verb: "patch", group: GITOPS, resource: "gitopsdeployments" },
  { verb: "patch", group: GITOPS, resource: "gitopsdeployments", subresource: "status" },
  { verb: "create", group: RBAC, resource: "rolebindings" },
  { verb: "create", group: RBAC, resource: "clusterrolebindings" },
  { verb: "bind", group: RBAC, resource: "clusterroles", name: "argosy-deployer" },
  { verb: "escalate", group: RBAC, resource: "clusterroles", name: "argosy-deployer" },
  { verb: "create", group: "", resource: "serviceaccounts", namespace: "argosy-accounts" },
  { verb: "impersonate", group: "", resource: "serviceaccounts", namespace: "argosy-accounts" },
];

/** The same for a cluster that hosts instances. */
export const ENGINE_CLUSTER_RIGHTS: readonly NeededRight[] = [
  { verb: "create", group: "", resource: "namespaces" },
  { verb: "create", group: "", resource: "secrets" },
  { verb: "patch", group: "apiextensions.k8s.io", resource: "customresourcedefinitions" },
  { verb: "create", group: "apps", resource: "statefulsets" },
  { verb: "create", group: "argoproj.io", resource: "applications" },
  { verb: "watch", group: "argoproj.io", resource: "applications" },
  { verb: "create", group: "networking.k8s.io", resource: "networkpolicies" },
];

export function rightText({ verb, group, resource, subresource, namespace, name }: NeededRight): string {
  const what = `${resource}${subresource === undefined ? "" : `/${subresource}`}${group === "" ? "" : `.${group}`}`;
  return `${verb} ${what}${name === undefined ? "" : ` ${name}`}${namespace === undefined ? "" : ` in ${namespace}`}`;
}

/** Oldest PostgreSQL the statements are written for. */
const OLDEST_POSTGRES = 15;

export function judgeDatabase(answer: { readonly version: string; readonly schema: number } | { readonly error: unknown }): Check {
  if ("error" in answer) {
    return { name: "database", ok: false, detail: errorSentence(answer.error), remedy: "Start PostgreSQL or correct DATABASE_URL" };
  }
  const major = Number.parseInt(answer.version, 10);
  const ok = Number.isNaN(major) || major >= OLDEST_POSTGRES;
  return {
    name: "database",
    ok,
    detail: `PostgreSQL ${answer.version}, schema ${answer.schema}`,
    remedy: `Use PostgreSQL ${OLDEST_POSTGRES} or newer`,
  };
}

export function judgeRights(cluster: string, missing: readonly NeededRight[], part: "api" | "engine"): Check {
  const ok = missing.length === 0;
  const detail = ok ? "all there" : `missing: ${missing.map(rightText).join("; ")}`;
  return {
    name: `permissions on ${cluster}`,
    ok,
    detail,
    remedy: `An administrator runs: argosy manifests --for ${part} | kubectl apply --server-side -f -`,
  };
}

export function judgeFleet(spec: FleetSpec | undefined): Check {
  const ok = spec !== undefined && spec.pools.length > 0;
  const detail = spec === undefined ? "nothing is declared" : `${spec.pools.length} pools on ${spec.engineClusters.length} clusters`;
  return { name: "fleet", ok, detail, remedy: "Declare one with: argosy apply -f fleet.yaml" };
}

/** One check an instance: failed or stuck ones, and those that run a version below the floor. */
export function judgeInstances(instances: readonly Instance[], floor: string | undefined): readonly Check[] {
  return instances
    .filter((instance) => instance.state !== "RETIRED")
    .map((instance) => {
      const isBelow = floor !== undefined && compareVersions(instance.version, floor) < 0;
      const detail = [instance.state, instance.version, isBelow ? `below the floor ${floor}` : "", instance.reason]
        .filter((part) => part !== "")
        .join(", ");
      const remedy = isBelow
        ? "Choose a newer version in fleet.yaml"
        : "The reason says what is wrong; the provisioner tries again by itself";
      return { name: `instance ${instance.name}`, ok: instance.state !== "FAILED" && !isBelow, detail, remedy };
    });
}

/** Orders dotted version numbers; text after a dash is ignored. */
function compareVersions(a: string, b: string): number {
  const parts = (text: string): readonly number[] => (text.split("-")[0] ?? "").split(".").map((part) => Number.parseInt(part, 10) || 0);
  const [left, right] = [parts(a), parts(b)];
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
