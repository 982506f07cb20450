import type { FleetSpec } from "../domain/fleet.ts";
import { contentHash } from "../domain/hash.ts";
import type { Instance } from "../domain/instance.ts";
import { resourcesFor } from "../domain/raised-resources.ts";
import type { FilterParameters, ManifestParameters } from "./manifests/parameters.ts";
import { manifestHash } from "./manifests/render.ts";
import type { WantedInstance } from "./next-step.ts";

/** What an instance should be rendered from, or why that is not known. */
export type Declaration =
  | (WantedInstance & { readonly kind: "renderable"; readonly parameters: Omit<ManifestParameters, "secrets">; readonly crds: string })
  | (WantedInstance & { readonly kind: "impossible" });

/** Finds the pool and the release of an instance in the declared fleet, and adds what the instance was given beyond it. */
export function declarationOf(
  instance: Instance,
  fleet: FleetSpec | undefined,
  { systemNamespace, filter }: { readonly systemNamespace: string; readonly filter?: FilterParameters | undefined },
): Declaration {
  const pool = fleet?.pools.find((one) => one.name === instance.pool);
  if (fleet === undefined || pool === undefined) return { kind: "impossible", reason: `pool ${instance.pool} is not declared any more` };
  const release = fleet.versions.catalogue.find((one) => one.version === instance.desiredVersion);
  if (release === undefined)
    return { kind: "impossible", reason: `version ${instance.desiredVersion} is not in the catalogue of fleet.yaml` };
  const isFiltered = instance.entries === "filtered";
  if (isFiltered && filter === undefined)
    return {
      kind: "impossible",
      reason: "its pool has entries: filtered, and clusterFilter.image of the configuration names no image for the filter",
    };
  const parameters = {
    instance: identityOf(instance),
    release,
    resources: resourcesFor(pool, instance.raised?.amounts),
    engine: pool.engine,
    egressAllow: fleet.egress.allow,
    apiServers: fleet.egress.apiServers ?? [],
    ...trustOf(fleet.egress),
    systemNamespace,
    ...(isFiltered && filter !== undefined ? { filter } : {}),
    ...(instance.halt === "none" ? {} : { isHalted: true }),
  };
  // The hash covers what a creation depends on, also beside the manifests: a failed one is tried again when any of it changes.
  const access = fleet.engineClusters.find(({ name }) => name === instance.engineCluster)?.access;
  return {
    kind: "renderable",
    parameters,
    crds: release.crds,
    hash: contentHash({ manifests: manifestHash(parameters), crds: release.crds, access }),
  };
}

function identityOf({ id, name, namespace, pool, class: className }: Instance): ManifestParameters["instance"] {
  return { id, name, namespace, pool, class: className };
}

/** Absent where nothing is declared, so that instances from before this setting stay unchanged. */
function trustOf({ certificateAuthorities, sshKnownHosts }: FleetSpec["egress"]): Pick<ManifestParameters, "trust"> {
  if ((certificateAuthorities ?? []).length === 0 && sshKnownHosts === undefined) return {};
  return {
    trust: {
      ...(certificateAuthorities === undefined ? {} : { certificateAuthorities }),
      ...(sshKnownHosts === undefined ? {} : { sshKnownHosts }),
    },
  };
}
