import type { CostSpec, EngineClusterSpec, FleetSpec, PoolSpec, RebalancingSpec, VersionsSpec } from "../../domain/fleet.ts";
import { toDocumentLoad } from "../../domain/load.ts";
import type { Peak } from "../../domain/peaks.ts";
import type { ClassQuota } from "../../domain/quota.ts";
import { FLOOR_SEPARATOR } from "../../domain/version.ts";

/**
 * Renders a declaration as a Fleet document, in the units and the order of the schema. {@link parseFleetDocument}
 * turns it into the same declaration. Defaults are written out, because the declaration holds them. It names Secrets
 * and holds none.
 */
export function renderFleetDocument(spec: FleetSpec): Readonly<Record<string, unknown>> {
  const { engineClusters, versions, pools, workspaces, rebalancing, cost, egress, deployments } = spec;
  const { allow, apiServers, http, certificateAuthorities, sshKnownHosts } = egress;
  return {
    apiVersion: "argosy.dev/v1alpha1",
    kind: "Fleet",
    engineClusters: engineClusters.map(clusterFields),
    versions: versionFields(versions),
    pools: pools.map(poolFields),
    workspaces: {
      ...(Object.keys(workspaces.selector).length === 0 ? {} : { selector: workspaces.selector }),
      ...(workspaces.everyNamespace === true ? { everyNamespace: true } : {}),
      ...(workspaces.classes === undefined
        ? {}
        : { classes: workspaces.classes.map(({ labels, class: className }) => ({ labels, class: className })) }),
      ...(workspaces.cpuShares === undefined
        ? {}
        : { cpuShares: workspaces.cpuShares.map(({ class: className, share }) => ({ class: className, share })) }),
      ...(workspaces.groups === undefined ? {} : { groups: workspaces.groups.map(({ label, rule }) => ({ label, rule })) }),
      quota: workspaces.quota,
      ...(workspaces.classQuotas === undefined ? {} : { classQuotas: workspaces.classQuotas.map(classQuotaFields) }),
    },
    ...(rebalancing === undefined ? {} : { rebalancing: rebalancing.map(rebalancingFields) }),
    ...(cost === undefined ? {} : { cost: costFields(cost) }),
    egress: {
      allow,
      ...(apiServers === undefined ? {} : { apiServers }),
      http,
      ...(certificateAuthorities === undefined ? {} : { certificateAuthorities }),
      ...(sshKnownHosts === undefined ? {} : { sshKnownHosts }),
    },
    deployments: {
      allowedGroups: deployments.allowedGroups,
      ...(deployments.refusedGroups === undefined ? {} : { refusedGroups: deployments.refusedGroups }),
    },
  };
}

function rebalancingFields({ class: className, mode, movesPerHour, movesPerDay }: RebalancingSpec): Readonly<Record<string, unknown>> {
  return { class: className, mode, movesPerHour, movesPerDay };
}

function classQuotaFields({ class: className, ...numbers }: ClassQuota): Readonly<Record<string, unknown>> {
  return { class: className, ...numbers };
}

function costFields({ prices, labels }: CostSpec): Readonly<Record<string, unknown>> {
  return {
    ...(prices === undefined ? {} : { prices: { cpuCoreHour: prices.cpuCoreHour, memoryGibHour: prices.memoryGibHour } }),
    ...(labels === undefined ? {} : { labels }),
  };
}

function clusterFields({ name, region, access, reach }: EngineClusterSpec): Readonly<Record<string, unknown>> {
  const way = access.kind === "inCluster" ? { inCluster: true } : { kubeconfigSecret: access.secret };
  return { name, region, ...way, ...(reach === undefined ? {} : { reach }) };
}

function versionFields({ default: usual, floor, catalogue, channels }: VersionsSpec): Readonly<Record<string, unknown>> {
  const minimums = floor.split(FLOOR_SEPARATOR);
  return {
    default: usual,
    floor: minimums.length === 1 ? floor : minimums,
    catalogue: catalogue.map(({ version, image, redisImage, crds, upgradesFrom }) => ({
      version,
      image,
      redisImage,
      crds,
      ...(upgradesFrom === undefined ? {} : { upgradesFrom }),
    })),
    ...(channels === undefined
      ? {}
      : {
          channels: channels.map((channel) => ({
            ...{ name: channel.name, default: channel.default, versions: channel.versions },
            ...(channel.first === undefined ? {} : { first: channel.first }),
          })),
        }),
  };
}

function peakFields({ name, schedule, timezone, duration, factor, instances }: Peak): Readonly<Record<string, unknown>> {
  return {
    ...{ name, schedule },
    ...(timezone === undefined ? {} : { timezone }),
    duration,
    ...(factor === undefined ? {} : { factor }),
    ...(instances === undefined ? {} : { instances }),
  };
}

function poolFields(pool: PoolSpec): Readonly<Record<string, unknown>> {
  const { name, class: own, engineClusters, instances, entries, version, capacity, resources, engine } = pool;
  const { controller, repoServer, redis } = resources;
  return {
    name,
    class: {
      region: own.region,
      tier: own.tier,
      trust: own.trust,
      ...(own.channel === undefined ? {} : { channel: own.channel }),
    },
    engineClusters,
    instances: {
      ...{ min: instances.min, max: instances.max },
      ...(instances.scaling === undefined ? {} : { scaling: instances.scaling }),
      ...(instances.peaks === undefined ? {} : { peaks: instances.peaks.map(peakFields) }),
    },
    ...(entries === undefined ? {} : { entries }),
    ...(version === undefined ? {} : { version }),
    capacity: toDocumentLoad(capacity),
    resources: {
      controller: { cpu: controller.cpu, memory: controller.memory },
      repoServer: {
        ...{ cpu: repoServer.cpu, memory: repoServer.memory, replicas: repoServer.replicas },
        ...(repoServer.disk === undefined ? {} : { disk: repoServer.disk }),
      },
      redis: { cpu: redis.cpu, memory: redis.memory },
      ...(resources.max === undefined ? {} : { max: resources.max }),
    },
    engine,
  };
}
