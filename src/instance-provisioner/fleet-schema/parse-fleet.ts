import type { EngineClusterSpec, FleetSpec, PoolSpec } from "../../domain/fleet.ts";
import type { Complaint } from "./complaint.ts";
import { complaintOf } from "./complaint.ts";
import { breaches } from "./rules.ts";
import type { FleetDocument } from "./schema.ts";
import { checkShape } from "./schema.ts";

export type ParsedFleet =
  | { readonly ok: true; readonly spec: FleetSpec }
  | { readonly ok: false; readonly complaints: readonly Complaint[] };

/**
 * Parses a Fleet document (YAML or JSON already decoded, of unknown shape). Everything wrong with its form is told at once,
 * and when the form is right everything wrong between fields; each complaint names the field and what to do.
 */
export function parseFleetDocument(document: unknown): ParsedFleet {
  const shape = checkShape(document);
  if (!shape.ok) return { ok: false, complaints: shape.issues.map(complaintOf) };
  const complaints = breaches(shape.document);
  return complaints.length > 0 ? { ok: false, complaints } : { ok: true, spec: specOf(shape.document) };
}

function specOf({ engineClusters, versions, pools, workspaces, egress }: FleetDocument): FleetSpec {
  return { engineClusters: engineClusters.map(clusterOf), versions, pools: pools.map(poolOf), workspaces, egress };
}

function clusterOf({ name, region, kubeconfigSecret }: FleetDocument["engineClusters"][number]): EngineClusterSpec {
  return { name, region, access: kubeconfigSecret === undefined ? { kind: "inCluster" } : { kind: "secret", secret: kubeconfigSecret } };
}

/** People count whole applications and Git requests; planning counts thousandths of them. */
function poolOf(pool: FleetDocument["pools"][number]): PoolSpec {
  const { applications, gitPerMinute, ...rest } = pool.capacity;
  return { ...pool, version: pool.version, capacity: { ...rest, applications: applications * 1000, gitPerMinute: gitPerMinute * 1000 } };
}
