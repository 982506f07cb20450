import { mostEnvironments, usualEnvironmentObjects, usualEnvironments } from "../../domain/controller-memory.ts";
import {
  type CostSpec,
  classOf,
  type EgressSpec,
  type EngineClusterSpec,
  type FleetSpec,
  type PoolClass,
  type PoolSpec,
  type ResourceMaximum,
  type VersionsSpec,
} from "../../domain/fleet.ts";
import { asDocumentLoad, fromDocumentLoad } from "../../domain/load.ts";
import { SYSTEM_NAMESPACE } from "../../domain/names.ts";
import type { Peak } from "../../domain/peaks.ts";
import { parseQuantity } from "../../domain/quantity.ts";
import type { ClassQuota, DeclaredQuota } from "../../domain/quota.ts";
import type { Complaint } from "./complaint.ts";
import { complaintOf } from "./complaint.ts";
import { breaches } from "./rules.ts";
import type { FleetDocument } from "./schema.ts";
import { checkShape } from "./schema.ts";
import { soundPart } from "./sound-part.ts";

export type ParsedFleet =
  | {
      readonly ok: true;
      readonly spec: FleetSpec;
      /** Whether `deployments.allowedGroups` was given; it is an empty list otherwise. */
      readonly saysGroups: boolean;
    }
  | { readonly ok: false; readonly complaints: readonly Complaint[] };

/**
 * Parses a Fleet document of unknown shape (decoded from YAML or JSON). All complaints come at once: first about the
 * form of fields, then about rules between fields whose form is right. Each names the field and what to do.
 */
export function parseFleetDocument(document: unknown): ParsedFleet {
  const shape = checkShape(document);
  const issues = shape.ok ? [] : shape.issues;
  const complaints = [...issues.map(complaintOf), ...breaches(soundPart(document, issues))];
  if (!shape.ok || complaints.length > 0) return { ok: false, complaints };
  return { ok: true, spec: specOf(shape.document), saysGroups: shape.document.deployments?.allowedGroups !== undefined };
}

function specOf({ engineClusters, pools, egress, deployments, ...rest }: FleetDocument): FleetSpec {
  const { versions, workspaces } = rest;
  return {
    engineClusters: engineClusters.map(clusterOf),
    versions: versionsOf(versions),
    pools: pools.map(poolOf),
    workspaces: {
      selector: workspaces.selector ?? {},
      ...(workspaces.everyNamespace === true ? { everyNamespace: true as const } : {}),
      ...(workspaces.classes === undefined ? {} : { classes: workspaces.classes }),
      ...(workspaces.cpuShares === undefined ? {} : { cpuShares: workspaces.cpuShares }),
      ...(workspaces.groups === undefined ? {} : { groups: workspaces.groups }),
      quota: quotaOf(workspaces, pools),
      ...(workspaces.classQuotas === undefined ? {} : { classQuotas: workspaces.classQuotas.map(classQuotaOf) }),
    },
    ...(rest.rebalancing === undefined ? {} : { rebalancing: rest.rebalancing }),
    ...(rest.cost === undefined ? {} : { cost: costOf(rest.cost) }),
    egress: egressOf(egress),
    deployments: {
      allowedGroups: deployments?.allowedGroups ?? [],
      ...(deployments?.refusedGroups === undefined ? {} : { refusedGroups: deployments.refusedGroups }),
    },
  };
}

/** What of one workspace's environments is not declared follows from the smallest pool whose class has no number of its own. */
function quotaOf({ quota, classQuotas = [] }: FleetDocument["workspaces"], pools: FleetDocument["pools"]): DeclaredQuota {
  const bounding = (field: "environments" | "environmentObjects"): FleetDocument["pools"] => {
    const own = new Set(classQuotas.flatMap((one) => (one[field] === undefined ? [] : one.class)));
    const others = pools.filter((pool) => !own.has(classOf({ class: classOfDocument(pool) })));
    return others.length === 0 ? pools : others;
  };
  const most = Math.min(...bounding("environments").map(({ capacity, entries }) => mostEnvironments({ ...capacity, entries })));
  const memoryMiB = Math.min(
    ...bounding("environmentObjects").map(({ resources }) => (parseQuantity(resources.controller.memory) ?? 0) / 2 ** 20),
  );
  const { environments = usualEnvironments(most), environmentObjects = usualEnvironmentObjects(memoryMiB), ...rest } = quota;
  return { ...rest, environments, environmentObjects };
}

type ClassQuotaDocument = NonNullable<FleetDocument["workspaces"]["classQuotas"]>[number];

function classQuotaOf({ class: of, deployments, syncsPerMinute, environments, environmentObjects }: ClassQuotaDocument): ClassQuota {
  return {
    class: of,
    ...(deployments === undefined ? {} : { deployments }),
    ...(syncsPerMinute === undefined ? {} : { syncsPerMinute }),
    ...(environments === undefined ? {} : { environments }),
    ...(environmentObjects === undefined ? {} : { environmentObjects }),
  };
}

function costOf({ prices, labels }: NonNullable<FleetDocument["cost"]>): CostSpec {
  return { ...(prices === undefined ? {} : { prices }), ...(labels === undefined ? {} : { labels }) };
}

function versionsOf({ channels, catalogue, ...versions }: FleetDocument["versions"]): VersionsSpec {
  return {
    ...versions,
    catalogue: catalogue.map(({ upgradesFrom, ...entry }) => ({ ...entry, ...(upgradesFrom === undefined ? {} : { upgradesFrom }) })),
    ...(channels === undefined
      ? {}
      : { channels: channels.map(({ first, ...channel }) => ({ ...channel, ...(first === true ? { first } : {}) })) }),
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

function peakOf({ timezone, factor, instances, ...peak }: NonNullable<FleetDocument["pools"][number]["instances"]["peaks"]>[number]): Peak {
  return {
    ...peak,
    ...(timezone === undefined ? {} : { timezone }),
    ...(factor === undefined ? {} : { factor }),
    ...(instances === undefined ? {} : { instances }),
  };
}

function classOfDocument({ class: { channel, ...shared } }: FleetDocument["pools"][number]): PoolClass {
  return { ...shared, ...(channel === undefined ? {} : { channel }) };
}

function maximumOf({ controller, repoServer }: NonNullable<FleetDocument["pools"][number]["resources"]["max"]>): ResourceMaximum {
  const { cpu, memory } = controller ?? {};
  const { memory: repoMemory, disk } = repoServer ?? {};
  return {
    ...(controller === undefined
      ? {}
      : { controller: { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) } }),
    ...(repoServer === undefined
      ? {}
      : { repoServer: { ...(repoMemory === undefined ? {} : { memory: repoMemory }), ...(disk === undefined ? {} : { disk }) } }),
  };
}

function poolOf(pool: FleetDocument["pools"][number]): PoolSpec {
  const { entries, instances, ...fields } = pool;
  const { scaling, peaks, ...size } = instances;
  const { disk, ...repoServer } = pool.resources.repoServer;
  const { max, ...resources } = pool.resources;
  return {
    ...fields,
    instances: {
      ...size,
      ...(scaling === "auto" ? { scaling } : {}),
      ...(peaks === undefined ? {} : { peaks: peaks.map(peakOf) }),
    },
    ...(entries === undefined || entries === "shared" ? {} : { entries }),
    class: classOfDocument(pool),
    resources: {
      ...resources,
      repoServer: { ...repoServer, ...(disk === undefined ? {} : { disk }) },
      ...(max === undefined ? {} : { max: maximumOf(max) }),
    },
    version: pool.version,
    capacity: fromDocumentLoad(asDocumentLoad(pool.capacity)),
  };
}
