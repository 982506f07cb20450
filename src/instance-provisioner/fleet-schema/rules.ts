import { nearest } from "../../domain/nearest.ts";
import { isBelowFloor } from "../../domain/version.ts";
import { isAddressRange } from "./address-range.ts";
import type { Complaint } from "./complaint.ts";
import { pathText } from "./complaint.ts";
import type { FleetDocument } from "./schema.ts";

type Path = readonly (string | number)[];

const complain = (path: Path, message: string, remedy: string): Complaint => ({ path: pathText(path), message, remedy });

/** Rules between fields, in the order of the fields. */
export function breaches(document: FleetDocument): readonly Complaint[] {
  return [
    ...duplicates(
      ["engineClusters"],
      "name",
      document.engineClusters.map((one) => one.name),
    ),
    ...document.engineClusters.flatMap(accessOf),
    ...versionBreaches(document),
    ...duplicates(
      ["pools"],
      "name",
      document.pools.map((one) => one.name),
    ),
    ...document.pools.flatMap((pool, index) => poolBreaches(document, pool, ["pools", index])),
    ...rangeBreaches(["egress", "allow"], document.egress.allow),
    ...rangeBreaches(["egress", "apiServers"], document.egress.apiServers ?? []),
    ...duplicates(
      ["egress", "certificateAuthorities"],
      "host",
      (document.egress.certificateAuthorities ?? []).map((one) => one.host),
    ),
    ...hostKeyBreaches(document.egress.sshKnownHosts ?? ""),
  ];
}

function rangeBreaches(at: Path, ranges: readonly string[]): readonly Complaint[] {
  const remedy = "Give its first address and the length of its prefix, like 10.1.0.0/16";
  return ranges.flatMap((range, index) => (isAddressRange(range) ? [] : [complain([...at, index], "is no range of addresses", remedy)]));
}

/** One broken line of a known_hosts file is no reason for ssh to stop reading, and none to notice it. */
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

function accessOf({ inCluster, kubeconfigSecret }: FleetDocument["engineClusters"][number], index: number): readonly Complaint[] {
  const ways = Number(inCluster === true) + Number(kubeconfigSecret !== undefined);
  const remedy = "Give either inCluster: true or kubeconfigSecret: <namespace>/<name>";
  return ways === 1
    ? []
    : [complain(["engineClusters", index], ways === 0 ? "says no way to reach it" : "says two ways to reach it", remedy)];
}

function versionBreaches({ versions, pools }: FleetDocument): readonly Complaint[] {
  const known = versions.catalogue.map((entry) => entry.version);
  const asked = [
    { path: ["versions", "default"] as Path, version: versions.default },
    ...(versions.channels ?? []).flatMap((channel, index) => channelVersions(channel, ["versions", "channels", index])),
    ...pools.map(({ version }, index) => ({ path: ["pools", index, "version"] as Path, version })),
  ];
  return [
    ...duplicates(["versions", "catalogue"], "version", known),
    ...duplicates(
      ["versions", "channels"],
      "name",
      (versions.channels ?? []).map((one) => one.name),
    ),
    ...(versions.channels ?? []).flatMap((channel, index) => channelBreaches(channel, ["versions", "channels", index])),
    ...pools.flatMap((pool, index) => offerBreaches(versions, pool, ["pools", index])),
    ...asked.flatMap(({ path, version }) => {
      if (version === undefined) return [];
      if (!known.includes(version))
        return [complain(path, "is not in versions.catalogue", `Add it there, or use one of ${known.join(", ")}`)];
      return isBelowFloor(version, versions.floor)
        ? [complain(path, `is older than versions.floor (${versions.floor})`, "Use a newer release: older ones have known vulnerabilities")]
        : [];
    }),
  ];
}

type Versions = FleetDocument["versions"];
type Channel = NonNullable<Versions["channels"]>[number];

function channelVersions(channel: Channel, at: Path): readonly { readonly path: Path; readonly version: string }[] {
  return channel.versions.map((version, index) => ({ path: [...at, "versions", index], version }));
}

function channelBreaches({ default: usual, versions }: Channel, at: Path): readonly Complaint[] {
  if (versions.includes(usual)) return [];
  return [complain([...at, "default"], "is not among the channel's versions", `Add it there, or use one of ${versions.join(", ")}`)];
}

/** A pool has a release that its channel has. */
function offerBreaches(
  { channels }: Versions,
  { class: { channel }, version }: FleetDocument["pools"][number],
  at: Path,
): readonly Complaint[] {
  const offered = channels?.find(({ name }) => name === channel)?.versions;
  if (offered === undefined || version === undefined || offered.includes(version)) return [];
  return [complain([...at, "version"], `is not among the versions of channel ${channel}`, `Use one of ${offered.join(", ")}`)];
}

function poolBreaches({ engineClusters }: FleetDocument, pool: FleetDocument["pools"][number], at: Path): readonly Complaint[] {
  const clusters = pool.engineClusters.flatMap((name, index) => {
    const path = [...at, "engineClusters", index];
    const cluster = engineClusters.find((one) => one.name === name);
    if (cluster === undefined)
      return [
        unknownCluster(
          path,
          name,
          engineClusters.map((one) => one.name),
        ),
      ];
    return cluster.region === pool.class.region
      ? []
      : [complain(path, `is in region ${cluster.region}, the pool's class in ${pool.class.region}`, "Use clusters of the class's region")];
  });
  const size =
    pool.instances.min <= pool.instances.max
      ? []
      : [complain([...at, "instances", "min"], "is more than instances.max", "Raise max or lower min")];
  return [...duplicates([...at, "engineClusters"], undefined, pool.engineClusters), ...clusters, ...size];
}

function unknownCluster(path: Path, name: string, known: readonly string[]): Complaint {
  const meant = nearest(name, known);
  return complain(
    path,
    "is no engine cluster of this fleet",
    meant === undefined ? `Use one of ${known.join(", ")}` : `Did you mean ${meant}?`,
  );
}

function duplicates(path: Path, field: string | undefined, values: readonly string[]): readonly Complaint[] {
  return values.flatMap((value, index) =>
    values.indexOf(value) === index
      ? []
      : [
          complain(
            [...path, index, ...(field === undefined ? [] : [field])],
            `is there twice (first at [${values.indexOf(value)}])`,
            "Remove one of the two",
          ),
        ],
  );
}
