import type { EngineObject } from "../../domain/engine.ts";
import type { SpecOf } from "./kubernetes-types.ts";
import { CONTROLLER, PORTS, REDIS, REPO_SERVER } from "./names.ts";
import type { ManifestIdentity } from "./object.ts";
import { objectOf } from "./object.ts";

interface ServiceContent {
  readonly name: string;
  readonly component: string;
  /** Name of the workload whose pods it selects. */
  readonly pods: string;
  /** Port numbers by port name. */
  readonly ports: Readonly<Record<string, number>>;
}

const SERVICES: readonly ServiceContent[] = [
  { name: REDIS, component: "redis", pods: REDIS, ports: { redis: PORTS.redis } },
  { name: REPO_SERVER, component: "repo-server", pods: REPO_SERVER, ports: { grpc: PORTS.repoServer, metrics: PORTS.repoServerMetrics } },
  { name: "argocd-metrics", component: "metrics", pods: CONTROLLER, ports: { metrics: PORTS.controllerMetrics } },
];

/**
 * Renders the Services of an instance. Components reach redis and repo-server through them. Argosy reads metrics from the
 * pods themselves, not through these Services.
 */
export function renderServices(instance: ManifestIdentity): readonly EngineObject[] {
  return SERVICES.map(({ name, component, pods, ports }) => {
    const entries = Object.entries(ports).map(([port, number]) => ({ name: port, protocol: "TCP", port: number, targetPort: number }));
    const spec: SpecOf<"Service"> = { type: "ClusterIP", selector: { "app.kubernetes.io/name": pods }, ports: entries };
    return objectOf(instance, { apiVersion: "v1", kind: "Service", name, component, spec });
  });
}
