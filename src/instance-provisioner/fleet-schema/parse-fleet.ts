import type { EgressSpec, EngineClusterSpec, FleetSpec, PoolSpec, VersionsSpec } from "../../domain/fleet.ts";
import { asDocumentLoad, fromDocumentLoad } from "../../domain/load.ts";
import { SYSTEM_NAMESPACE } from "../../domain/names.ts";
import type { Complaint } from "./complaint.ts";
import { complaintOf } from "./complaint.ts";
import { breaches } from "./rules.ts";
import type { FleetDocument } from "./schema.ts";
import { checkShape } from "./schema.ts";
import { soundPart } from "./sound-part.ts";

export type ParsedFleet =
  | { readonly ok: true; readonly spec: FleetSpec }
  | { readonly ok: false; readonly complaints: readonly Complaint[] };

/**
 * Parses a Fleet document of unknown shape (decoded from YAML or JSON). All complaints come at once: first about the
 * form of fields, then about rules between fields whose form is right. Each names the field and what to do.
 */
export function parseFleetDocument(document: unknown): ParsedFleet {
  const shape = checkShape(document);
  const issues = shape.ok ? [] : shape.issues;
  const complaints = [...issues.map(complaintOf), ...breaches(soundPart(document, issues))];
  return shape.ok && complaints.length === 0 ? { ok: true, spec: specOf(shape.document) } : { ok: false, complaints };
}

function specOf({ engineClusters, pools, egress, deployments, ...rest }: FleetDocument): FleetSpec {
  const { versions, workspaces } = rest;
  const declared = {
    engineClusters: engineClusters.map(clusterOf),
    versions: versionsOf(versions),
    pools: pools.map(poolOf),
    workspaces,
    egress: egressOf(egress),
  };
  return deployments?.refusedGroups === undefined ? declared : { ...declared, deployments: { refusedGroups: deployments.refusedGroups } };
}

function versionsOf({ channels, catalogue, ...versions }: FleetDocument["versions"]): VersionsSpec {
  return {
    ...versions,
    catalogue: catalogue.map(({ upgradesFrom, ...entry }) => ({ ...entry, ...(upgradesFrom === undefined ? {} : { upgradesFrom }) })),
    ...(channels === undefined ? {} : { channels }),
  };
}

/** Fields that are not declared stay absent, as in fleets declared before these fields existed. */
function egressOf({ apiServers, certificateAuthorities, sshKnownHosts, ...egress }: FleetDocument["egress"]): EgressSpec {
  return {
    ...egress,
    ...(apiServers === undefined ? {} : { apiServers }),
    ...(certificateAuthorities === undefined ? {} : { certificateAuthorities }),
    ...(sshKnownHosts === undefined ? {} : { sshKnownHosts }),
  };
}

function clusterOf({ name, region, kubeconfigSecret, reach }: FleetDocument["engineClusters"][number]): EngineClusterSpec {
  const access =
    kubeconfigSecret === undefined
      ? ({ kind: "inCluster" } as const)
      : ({ kind: "secret", secret: inNamespace(kubeconfigSecret) } as const);
  return { name, region, access, ...(reach === undefined ? {} : { reach }) };
}

/** As namespace/name. The rules have refused every namespace but Argosy's own, which a bare name means. */
function inNamespace(secret: string): string {
  return secret.includes("/") ? secret : `${SYSTEM_NAMESPACE}/${secret}`;
}

function poolOf(pool: FleetDocument["pools"][number]): PoolSpec {
  const { channel, ...shared } = pool.class;
  const own = { ...shared, ...(channel === undefined ? {} : { channel }) };
  return {
    ...pool,
    class: own,
    version: pool.version,
    capacity: fromDocumentLoad(asDocumentLoad(pool.capacity)),
  };
}
