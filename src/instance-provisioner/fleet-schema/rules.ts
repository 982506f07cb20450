import { SYSTEM_NAMESPACE } from "../../domain/names.ts";
import { nearest } from "../../domain/nearest.ts";
import { FLOOR_SEPARATOR, isBelowFloor } from "../../domain/version.ts";
import { isAddressRange } from "./address-range.ts";
import type { Complaint } from "./complaint.ts";
import { fleetPathText } from "./complaint.ts";
import { DEFAULT_FLOOR } from "./schema.ts";
import type { SoundFleet } from "./sound-part.ts";

type Path = readonly (string | number)[];
type Sound<Key extends keyof SoundFleet> = NonNullable<SoundFleet[Key]>;
type Pool = NonNullable<Sound<"pools">[number]>;
type EngineCluster = NonNullable<Sound<"engineClusters">[number]>;

const complain = (path: Path, message: string, remedy: string): Complaint => ({ path: fleetPathText(path), message, remedy });

/** Checks the rules between fields, in the order of the fields. A rule that needs a malformed field says nothing. */
export function breaches({ engineClusters = [], versions = {}, pools = [], egress = {} }: SoundFleet): readonly Complaint[] {
  const catalogue = known(versions.catalogue, "version");
  return [
    ...duplicates(["engineClusters"], "name", fieldsOf(engineClusters, "name")),
    ...engineClusters.flatMap((cluster, index) => (cluster === undefined ? [] : accessOf(cluster, index))),
    ...engineClusters.flatMap((cluster, index) => secretBreaches(cluster?.kubeconfigSecret, index)),
    ...versionBreaches(versions, pools, catalogue),
    ...duplicates(["pools"], "name", fieldsOf(pools, "name")),
    ...pools.flatMap((pool, index) => (pool === undefined ? [] : poolBreaches(pool, ["pools", index], engineClusters))),
    ...rangeBreaches(["egress", "allow"], egress.allow ?? []),
    ...rangeBreaches(["egress", "apiServers"], egress.apiServers ?? []),
    ...duplicates(["egress", "certificateAuthorities"], "host", fieldsOf(egress.certificateAuthorities, "host")),
    ...hostKeyBreaches(egress.sshKnownHosts ?? ""),
  ];
}

type Named<Field extends string> = readonly (Readonly<Partial<Record<Field, string | undefined>>> | undefined)[];

function fieldsOf<Field extends string>(elements: Named<Field> = [], field: Field): readonly (string | undefined)[] {
  return elements.map((element) => element?.[field]);
}

/** The names in a list that other fields refer to. `undefined`: one of them is malformed, so the list is not known. */
function known<Field extends string>(elements: Named<Field> | undefined, field: Field): readonly string[] | undefined {
  const names = fieldsOf(elements, field).filter((name) => name !== undefined);
  return elements === undefined || elements.length === 0 || names.length < elements.length ? undefined : names;
}

function rangeBreaches(at: Path, ranges: readonly (string | undefined)[]): readonly Complaint[] {
  const remedy = "Give its first address and the length of its prefix, like 10.1.0.0/16";
  return ranges.flatMap((range, index) =>
    range === undefined || isAddressRange(range) ? [] : [complain([...at, index], "is no range of addresses", remedy)],
  );
}

/** ssh skips a malformed line of a known_hosts file without a word, so it is found here. */
function hostKeyBreaches(text: string): readonly Complaint[] {
  const isGood = (line: string): boolean =>
    line === "" || line.startsWith("#") || /^[^\s@|]\S* +[a-z0-9@.-]+ +[A-Za-z0-9+/]+=*( .*)?$/.test(line);
  return text
    .split("\n")
    .map((line) => line.replaceAll("\t", " ").trim())
    .flatMap((line, index) =>
      isGood(line)
        ? []
        : [
            complain(
              ["egress", "sshKnownHosts"],
              `has a line that names no host key (line ${index + 1})`,
              "Write: host, type of key, key; `ssh-keyscan` prints them",
            ),
          ],
    );
}

function accessOf(cluster: EngineCluster, index: number): readonly Complaint[] {
  const { inCluster, kubeconfigSecret } = cluster;
  const isSound = (["inCluster", "kubeconfigSecret"] as const).every((way) => !(way in cluster) || cluster[way] !== undefined);
  const ways = Number(inCluster === true) + Number(kubeconfigSecret !== undefined);
  if (!isSound || ways === 1) return [];
  const remedy = "Give either inCluster: true or kubeconfigSecret: <name>";
  return [complain(["engineClusters", index], ways === 0 ? "says no way to reach it" : "says two ways to reach it", remedy)];
}

/** Whoever declares the fleet could make Argosy read a user's Secret otherwise, and deploy with what is in it. */
function secretBreaches(secret: string | undefined, index: number): readonly Complaint[] {
  const parts = secret?.split("/") ?? [];
  if (parts.length < 2 || parts[0] === SYSTEM_NAMESPACE) return [];
  const remedy = `Put the Secret into ${SYSTEM_NAMESPACE}, and give its name alone`;
  return [complain(["engineClusters", index, "kubeconfigSecret"], "is in a namespace that is not Argosy's own", remedy)];
}

type Versions = Sound<"versions">;
type Channel = NonNullable<NonNullable<Versions["channels"]>[number]>;

function versionBreaches(
  versions: Versions,
  pools: readonly (Pool | undefined)[],
  catalogue: readonly string[] | undefined,
): readonly Complaint[] {
  const channels = versions.channels ?? [];
  const floor = floorOf(versions);
  const asked = [
    { path: ["versions", "default"] as Path, version: versions.default },
    ...channels.flatMap((channel, index) => channelVersions(channel, ["versions", "channels", index])),
    ...pools.map((pool, index) => ({ path: ["pools", index, "version"] as Path, version: pool?.version })),
  ];
  return [
    ...duplicates(["versions", "catalogue"], "version", fieldsOf(versions.catalogue, "version")),
    ...duplicates(["versions", "channels"], "name", fieldsOf(versions.channels, "name")),
    ...channels.flatMap((channel, index) => (channel === undefined ? [] : channelBreaches(channel, ["versions", "channels", index]))),
    ...pools.flatMap((pool, index) => (pool === undefined ? [] : offerBreaches(channels, pool, ["pools", index]))),
    ...asked.flatMap(({ path, version }) => {
      if (version === undefined) return [];
      if (catalogue !== undefined && !catalogue.includes(version))
        return [complain(path, "is not in versions.catalogue", `Add it there, or use one of ${catalogue.join(", ")}`)];
      return floor !== undefined && isBelowFloor(version, floor)
        ? [complain(path, `is older than versions.floor (${floor})`, "Use a newer release: older ones have known vulnerabilities")]
        : [];
    }),
  ];
}

function floorOf(versions: Versions): string | undefined {
  const { floor = "floor" in versions ? undefined : DEFAULT_FLOOR } = versions;
  if (floor === undefined || typeof floor === "string") return floor;
  const known = floor.filter((one) => one !== undefined);
  return known.length === floor.length ? known.join(FLOOR_SEPARATOR) : undefined;
}

function channelVersions(channel: Channel | undefined, at: Path): readonly { readonly path: Path; readonly version: string | undefined }[] {
  return (channel?.versions ?? []).map((version, index) => ({ path: [...at, "versions", index], version }));
}

function channelBreaches({ default: usual, versions = [] }: Channel, at: Path): readonly Complaint[] {
  if (usual === undefined || versions.includes(undefined) || versions.length === 0 || versions.includes(usual)) return [];
  return [complain([...at, "default"], "is not among the channel's versions", `Add it there, or use one of ${versions.join(", ")}`)];
}

/** The release of a pool has to be one of its channel's. */
function offerBreaches(channels: readonly (Channel | undefined)[], { class: own, version }: Pool, at: Path): readonly Complaint[] {
  const channel = own?.channel;
  if (channel === undefined || version === undefined) return [];
  const offered = channels.find((one) => one?.name === channel)?.versions;
  if (offered === undefined || offered.includes(undefined) || offered.includes(version)) return [];
  return [complain([...at, "version"], `is not among the versions of channel ${channel}`, `Use one of ${offered.join(", ")}`)];
}

function poolBreaches(pool: Pool, at: Path, clusters: readonly (EngineCluster | undefined)[]): readonly Complaint[] {
  const { engineClusters = [], instances: { min, max } = {} } = pool;
  const size =
    min === undefined || max === undefined || min <= max
      ? []
      : [complain([...at, "instances", "min"], "is more than instances.max", "Raise max or lower min")];
  const uses = engineClusters.flatMap((name, index) => {
    const path = [...at, "engineClusters", index];
    const cluster = clusters.find((one) => one?.name === name);
    if (name === undefined) return [];
    return cluster === undefined ? unknownCluster(path, name, known(clusters, "name")) : regionBreaches(path, cluster, pool);
  });
  return [...duplicates([...at, "engineClusters"], undefined, engineClusters), ...uses, ...size];
}

function regionBreaches(path: Path, { region }: EngineCluster, pool: Pool): readonly Complaint[] {
  const wanted = pool.class?.region;
  if (region === undefined || wanted === undefined || region === wanted) return [];
  return [complain(path, `is in region ${region}, the pool's class in ${wanted}`, "Use clusters of the class's region")];
}

function unknownCluster(path: Path, name: string, clusters: readonly string[] | undefined): readonly Complaint[] {
  if (clusters === undefined) return [];
  const meant = nearest(name, clusters);
  const remedy = meant === undefined ? `Use one of ${clusters.join(", ")}` : `Did you mean ${meant}?`;
  return [complain(path, "is no engine cluster of this fleet", remedy)];
}

function duplicates(path: Path, field: string | undefined, values: readonly (string | undefined)[]): readonly Complaint[] {
  const first = new Map<string, number>();
  return values.flatMap((value, index) => {
    if (value === undefined) return [];
    const before = first.get(value);
    if (before === undefined) {
      first.set(value, index);
      return [];
    }
    const at = [...path, index, ...(field === undefined ? [] : [field])];
    return [complain(at, `is there twice (first at [${before}])`, "Remove one of the two")];
  });
}
