import type { EngineClusterSpec, FleetSpec } from "../../src/domain/fleet.ts";

/**
 * The declaration, completed by what this start cannot do without: an engine cluster of the name, the release (or the
 * present path of its CRDs), the Git host in the egress, one pool. Nothing else that was declared is changed.
 * `undefined`: nothing is missing.
 */
export function whatIsMissing(declared: FleetSpec, needed: FleetSpec, isThere: (path: string) => boolean): FleetSpec | undefined {
  const { versions, egress } = declared;
  const clusters = needed.engineClusters.filter((cluster) => !declared.engineClusters.some(isNamed(cluster)));
  const releases = needed.versions.catalogue.filter(({ version }) => !versions.catalogue.some((entry) => entry.version === version));
  // Built programs are in a folder whose name changes with what they were built from.
  const catalogue = versions.catalogue.map((entry) => {
    const now = needed.versions.catalogue.find(({ version }) => version === entry.version);
    return now === undefined || isThere(entry.crds) ? entry : { ...entry, crds: now.crds };
  });
  const pools = declared.pools.length === 0 ? needed.pools : [];
  const [allow, http] = [without(needed.egress.allow, egress.allow), without(needed.egress.http, egress.http)];
  const isComplete = [clusters, releases, pools, allow, http].every((missing) => missing.length === 0);
  if (isComplete && catalogue.every((entry, index) => entry === versions.catalogue[index])) return undefined;
  return {
    ...declared,
    engineClusters: [...declared.engineClusters, ...clusters],
    versions: { ...versions, catalogue: [...catalogue, ...releases] },
    pools: [...declared.pools, ...pools],
    egress: { ...egress, allow: [...egress.allow, ...allow], http: [...egress.http, ...http] },
  };
}

function isNamed({ name }: EngineClusterSpec): (other: EngineClusterSpec) => boolean {
  return (other) => other.name === name;
}

function without(wanted: readonly string[], present: readonly string[]): readonly string[] {
  return wanted.filter((each) => !present.includes(each));
}
