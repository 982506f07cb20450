import { CONTROLLER_COST_MIB, controllerNeed, mostEnvironmentObjects, mostEnvironments } from "../../domain/controller-memory.ts";
import { isEverMet, parseSchedule } from "../../domain/cron.ts";
import { isForbidden, isRefused, readGroupEntry } from "../../domain/deployable-kinds.ts";
import { classOf, EVERY_GROUP, hasLabels, REFUSED_GROUPS, USUAL_DISK } from "../../domain/fleet.ts";
import { CLASS_LABELS, SYSTEM_NAMESPACE } from "../../domain/names.ts";
import { nearest } from "../../domain/nearest.ts";
import { isTimeZone, LONGEST_PEAK_MS, peakMs } from "../../domain/peaks.ts";
import { parseQuantity } from "../../domain/quantity.ts";
import { FLOOR_SEPARATOR, isBelowFloor } from "../../domain/version.ts";
import { isAddressRange } from "./address-range.ts";
import type { Complaint } from "./complaint.ts";
import { fleetPathText } from "./complaint.ts";
import { DEFAULT_FLOOR, USUAL_RESOURCES } from "./schema.ts";
import type { SoundFleet } from "./sound-part.ts";

type Path = readonly (string | number)[];
type Sound<Key extends keyof SoundFleet> = NonNullable<SoundFleet[Key]>;
type Pool = NonNullable<Sound<"pools">[number]>;
type EngineCluster = NonNullable<Sound<"engineClusters">[number]>;

const complain = (path: Path, message: string, remedy: string): Complaint => ({ path: fleetPathText(path), message, remedy });

/** Checks the rules between fields, in the order of the fields. A rule that needs a malformed field says nothing. */
export function breaches(document: SoundFleet): readonly Complaint[] {
  const { engineClusters = [], versions = {}, pools = [], egress = {}, deployments = {} } = document;
  const catalogue = known(versions.catalogue, "version");
  return [
    ...duplicates(["engineClusters"], "name", fieldsOf(engineClusters, "name")),
    ...engineClusters.flatMap((cluster, index) => (cluster === undefined ? [] : accessOf(cluster, index))),
    ...engineClusters.flatMap((cluster, index) => secretBreaches(cluster?.kubeconfigSecret, index)),
    ...versionBreaches(versions, pools, catalogue),
    ...duplicates(["pools"], "name", fieldsOf(pools, "name")),
    ...pools.flatMap((pool, index) => (pool === undefined ? [] : poolBreaches(pool, ["pools", index], engineClusters))),
    ...workspaceBreaches(document),
    ...classBreaches(document.workspaces?.classes ?? [], pools),
    ...duplicates(["workspaces", "cpuShares"], "class", fieldsOf(document.workspaces?.cpuShares, "class")),
    ...(document.workspaces?.cpuShares ?? []).flatMap((one, index) =>
      servedBreaches(["workspaces", "cpuShares", index, "class"], one?.class, pools),
    ),
    ...groupRuleBreaches(document.workspaces?.groups ?? []),
    ...quotaBreaches(document.workspaces ?? {}, pools),
    ...duplicates(["rebalancing"], "class", fieldsOf(document.rebalancing, "class")),
    ...(document.rebalancing ?? []).flatMap((entry, index) => servedBreaches(["rebalancing", index, "class"], entry?.class, pools)),
    ...duplicates(["cost", "labels"], undefined, document.cost?.labels ?? []),
    ...rangeBreaches(["egress", "allow"], egress.allow ?? []),
    ...rangeBreaches(["egress", "apiServers"], egress.apiServers ?? []),
    ...duplicates(["egress", "certificateAuthorities"], "host", fieldsOf(egress.certificateAuthorities, "host")),
    ...hostKeyBreaches(egress.sshKnownHosts ?? ""),
    ...groupBreaches(deployments),
  ];
}

/** Which namespaces are workspaces is never left to a default: whoever may write in one gets an account of Argosy's to deploy with. */
function workspaceBreaches(document: SoundFleet): readonly Complaint[] {
  if ("workspaces" in document && document.workspaces === undefined) return [];
  const workspaces = document.workspaces ?? {};
  if (["selector", "everyNamespace"].some((field) => field in workspaces && workspaces[field as "selector"] === undefined)) return [];
  const hasLabels = Object.keys(workspaces.selector ?? {}).length > 0;
  if (hasLabels !== (workspaces.everyNamespace === true)) return [];
  const message = hasLabels ? "is given beside everyNamespace: true" : "names no label, so no namespace would be a workspace";
  const remedy = hasLabels
    ? "Remove one of the two: with a selector only namespaces that have its labels are workspaces"
    : 'Give the labels that mark a workspace, such as { argosy.dev/workspace: "true" }, and put them on the namespaces; or everyNamespace: true, which makes every namespace one, as documents without a selector did before';
  return [complain(["workspaces", "selector"], message, remedy)];
}

type ClassRule = NonNullable<NonNullable<Sound<"workspaces">["classes"]>[number]>;

/**
 * A rule without labels, of a class that nothing serves, or that another one always comes before, decides something else than it says; one by
 * labels that users may set lets them choose.
 */
function classBreaches(rules: readonly (ClassRule | undefined)[], pools: readonly (Pool | undefined)[]): readonly Complaint[] {
  return rules.flatMap((rule, index) => {
    const at = ["workspaces", "classes", index];
    const labels = soundLabels(rule);
    const before = rules.slice(0, index).map(soundLabels);
    const first = labels && before.findIndex((wanted) => wanted !== undefined && hasLabels(labels, wanted));
    return [
      ...(labels !== undefined && Object.keys(labels).length === 0
        ? [complain([...at, "labels"], "names no label", "Name one, or put the pool for workspaces without a label first in pools")]
        : []),
      ...Object.keys(rule?.labels ?? {}).flatMap((label) => guardedBreaches([...at, "labels", label], label)),
      ...(first === undefined || first < 0
        ? []
        : [
            complain(
              at,
              `is never reached: every namespace with its labels has those of [${first}]`,
              "Put it before that one, or remove it",
            ),
          ]),
      ...servedBreaches([...at, "class"], rule?.class, pools),
    ];
  });
}

/** Whoever may write a namespace writes all of its labels but those. */
function guardedBreaches(at: Path, label: string): readonly Complaint[] {
  if (label.startsWith(CLASS_LABELS)) return [];
  const remedy = `Use one that begins with ${CLASS_LABELS}: the installation lets only those set it who may assign classes (docs/rights.md)`;
  return [complain(at, "is a label that whoever may write the namespace sets", remedy)];
}

type GroupRule = NonNullable<NonNullable<Sound<"workspaces">["groups"]>[number]>;

/** A workspace could not be on the instance of two groups at once, so only one label puts workspaces together. */
function groupRuleBreaches(rules: readonly (GroupRule | undefined)[]): readonly Complaint[] {
  const at = ["workspaces", "groups"];
  const first = rules.findIndex((each) => each?.rule === "together");
  return [
    ...duplicates(at, "label", fieldsOf(rules, "label")),
    ...rules.flatMap((rule, index) => [
      ...(rule?.label === undefined ? [] : guardedBreaches([...at, index, "label"], rule.label)),
      ...(rule?.rule !== "together" || index === first
        ? []
        : [complain([...at, index, "rule"], `is together, as that of [${first}]`, "Keep one label whose rule is together")]),
    ]),
  ];
}

/** A class that is named has to be that of a pool. */
function servedBreaches(at: Path, name: string | undefined, pools: readonly (Pool | undefined)[]): readonly Complaint[] {
  const served = classesOf(pools);
  if (name === undefined || served === undefined || served.includes(name)) return [];
  return [complain(at, "is the class of no pool", classRemedy(name, served))];
}

function classRemedy(name: string, served: readonly string[]): string {
  const meant = nearest(name, served);
  return meant === undefined ? `Use one of ${served.join(", ")}, or declare a pool of it` : `Did you mean ${meant}?`;
}

/** The classes of all pools; `undefined`: that of one of them is not known. */
function classesOf(pools: readonly (Pool | undefined)[]): readonly string[] | undefined {
  const keys = pools.map(classOfPool);
  const known = keys.filter((key) => key !== undefined);
  return known.length === 0 || known.length < keys.length ? undefined : [...new Set(known)];
}

/** The class of a pool; `undefined`: it is not known, because a part of it is malformed. */
function classOfPool(pool: Pool | undefined): string | undefined {
  const { region, tier, trust, channel } = pool?.class ?? {};
  if (region === undefined || tier === undefined || trust === undefined) return undefined;
  if (channel === undefined) return "channel" in (pool?.class ?? {}) ? undefined : classOf({ class: { region, tier, trust } });
  return classOf({ class: { region, tier, trust, channel } });
}

/** The labels of a rule; `undefined` where one of them is malformed. */
function soundLabels(rule: ClassRule | undefined): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(rule?.labels ?? {}).flatMap(([label, value]) => (value === undefined ? [] : [[label, value] as const]));
  return rule?.labels === undefined || entries.length < Object.keys(rule.labels).length ? undefined : Object.fromEntries(entries);
}

/** The memory of a pool's controllers in MiB; `undefined` where what was written is none. */
function controllerMiB(pool: Pool): number | undefined {
  const bytes = sizeOfGiven(givenAmount(pool, { component: "controller", amount: "memory", usual: USUAL_RESOURCES.controller.memory }));
  return bytes === undefined ? undefined : bytes / MIB;
}

interface Amount {
  readonly component: "controller" | "repoServer";
  readonly amount: "cpu" | "memory" | "disk";
  /** Where nothing is declared. */
  readonly usual: string;
}

/** What a pool gives a component; `undefined` where what was written is malformed. */
function givenAmount(pool: Pool, { component, amount, usual }: Amount): string | number | undefined {
  if (!("resources" in pool)) return usual;
  const { resources } = pool;
  if (resources === undefined || !(component in resources)) return resources && usual;
  const given: Readonly<Partial<Record<Amount["amount"], string | number | undefined>>> | undefined = resources[component];
  return given === undefined || amount in given ? given?.[amount] : usual;
}

function sizeOfGiven(quantity: string | number | undefined): number | undefined {
  return quantity === undefined ? undefined : parseQuantity(String(quantity));
}

const RAISABLE: readonly Amount[] = [
  { component: "controller", amount: "cpu", usual: USUAL_RESOURCES.controller.cpu },
  { component: "controller", amount: "memory", usual: USUAL_RESOURCES.controller.memory },
  { component: "repoServer", amount: "memory", usual: USUAL_RESOURCES.repoServer.memory },
  { component: "repoServer", amount: "disk", usual: USUAL_DISK },
];

/** A maximum below what is declared would lower it, and one that names nothing raises nothing. */
function maximumBreaches(pool: Pool, at: Path): readonly Complaint[] {
  const max = pool.resources?.max;
  if (max === undefined) return [];
  if (Object.keys(max).length === 0) {
    return [complain([...at, "resources", "max"], "names no amount", "Name one, such as controller: { memory: 8Gi }, or remove it")];
  }
  return RAISABLE.flatMap((each) => {
    const { component, amount } = each;
    const most: Readonly<Partial<Record<Amount["amount"], string | number | undefined>>> = max[component] ?? {};
    const [given, bound] = [sizeOfGiven(givenAmount(pool, each)), sizeOfGiven(most[amount])];
    if (given === undefined || bound === undefined || given <= bound) return [];
    const declared = fleetPathText([...at, "resources", component, amount]);
    const message = `is less than ${declared}, ${givenAmount(pool, each)}`;
    return [complain([...at, "resources", "max", component, amount], message, "Give as much or more, or leave it out")];
  });
}

const MIB = 2 ** 20;

/** Every entry and object that the capacity allows is cached at once one day: a workspace that makes them has to find the memory there. */
function memoryBreaches(pool: Pool, at: Path): readonly Complaint[] {
  const memory = controllerMiB(pool);
  const { applications, clusterEntries, cachedResources } = pool.capacity ?? {};
  if (memory === undefined || applications === undefined || clusterEntries === undefined || cachedResources === undefined) return [];
  const need = controllerNeed({ applications, clusterEntries, cachedResources });
  if (need.total <= memory) return [];
  const parts = [
    `${whole(need.entries)} for clusterEntries${pool.entries === "per-workspace" ? ", of which each workspace takes one" : ""}`,
    `${whole(need.resources)} for cachedResources`,
    `${whole(need.applications)} for applications`,
    `${need.empty} for Argo CD itself`,
  ];
  const message = `needs ${need.total} MiB of memory (${parts.join(", ")}), and resources.controller.memory is ${whole(memory)} MiB`;
  const remedy = `Lower what needs most, or raise ${fleetPathText([...at, "resources", "controller", "memory"])} to ${need.total}Mi`;
  return [complain([...at, "capacity"], message, remedy)];
}

function whole(mib: number): string {
  return String(Math.floor(mib));
}

/** Instances are filled to nine tenths: of one entry nothing is left for a workspace. */
const FEWEST_OWN_ENTRIES = 2;

/** Where each workspace has a cluster entry, entries are what bounds how many workspaces an instance holds. */
function entryBreaches({ entries, capacity }: Pool, at: Path): readonly Complaint[] {
  if (entries !== "per-workspace" || capacity?.clusterEntries === undefined || capacity.clusterEntries >= FEWEST_OWN_ENTRIES) return [];
  const message = `leaves no entry for a workspace: with ${fleetPathText([...at, "entries"])} per-workspace each takes one`;
  const remedy = `Give at least ${FEWEST_OWN_ENTRIES}, as many as one instance is to hold workspaces and environments and a tenth more, each of which takes ${CONTROLLER_COST_MIB.entry} MiB of memory`;
  return [complain([...at, "capacity", "clusterEntries"], message, remedy)];
}

/** A number holds in every pool of the classes that it is for, so the smallest of these bounds it: one workspace alone must not fill an instance. */
function quotaBreaches({ quota = {}, classQuotas = [] }: Sound<"workspaces">, pools: readonly (Pool | undefined)[]): readonly Complaint[] {
  const at = ["workspaces", "classQuotas"];
  const forAll = (field: QuotaField): Bounding => ({ pools: withoutOwn(pools, classQuotas, field), whose: "" });
  return [
    ...environmentsBreaches(["workspaces", "quota", "environments"], quota.environments, forAll("environments")),
    ...objectsBreaches(["workspaces", "quota", "environmentObjects"], quota.environmentObjects, forAll("environmentObjects")),
    ...duplicates(at, "class", fieldsOf(classQuotas, "class")),
    ...classQuotas.flatMap((one, index) => (one === undefined ? [] : classQuotaBreaches(one, [...at, index], pools))),
  ];
}

type ClassQuota = NonNullable<NonNullable<Sound<"workspaces">["classQuotas"]>[number]>;
type QuotaField = "environments" | "environmentObjects";

function classQuotaBreaches(one: ClassQuota, at: Path, pools: readonly (Pool | undefined)[]): readonly Complaint[] {
  const own: Bounding = {
    pools: one.class === undefined ? [undefined] : pools.filter((pool) => isOfClass(pool, one.class)),
    whose: " of its class",
  };
  return [
    ...(Object.keys(one).some((field) => field !== "class")
      ? []
      : [complain(at, "says no number, so it changes nothing", "Give deployments, syncsPerMinute, environments or environmentObjects")]),
    ...servedBreaches([...at, "class"], one.class, pools),
    ...environmentsBreaches([...at, "environments"], one.environments, own),
    ...objectsBreaches([...at, "environmentObjects"], one.environmentObjects, own),
  ];
}

/** The pools whose class has no number of its own for this; `[undefined]`: nobody can tell which. */
function withoutOwn(
  pools: readonly (Pool | undefined)[],
  classQuotas: readonly (ClassQuota | undefined)[],
  field: QuotaField,
): readonly (Pool | undefined)[] {
  const owners = classQuotas.filter((one) => one === undefined || field in one);
  if (owners.some((one) => one?.class === undefined)) return [undefined];
  return pools.filter((pool) => !owners.some((one) => classOfPool(pool) !== undefined && classOfPool(pool) === one?.class));
}

/** A pool whose class is not known may be of any. */
function isOfClass(pool: Pool | undefined, name: string | undefined): boolean {
  const own = classOfPool(pool);
  return own === undefined || own === name;
}

/** The pools that bound a number, and how they are called. */
interface Bounding {
  readonly pools: readonly (Pool | undefined)[];
  readonly whose: "" | " of its class";
}

function environmentsBreaches(at: Path, environments: number | undefined, { pools, whose }: Bounding): readonly Complaint[] {
  const entries = smallest(pools, (pool) => pool.capacity?.clusterEntries);
  const most = smallest(pools, ({ capacity: { clusterEntries } = {}, entries: scope }) =>
    clusterEntries === undefined ? undefined : mostEnvironments({ clusterEntries, entries: scope }),
  );
  if (environments === undefined || most === undefined || environments <= most) return [];
  const message = `lets one workspace take more than a quarter of the ${entries} cluster entries of the smallest pool${whose}`;
  return [complain(at, message, `Give at most ${most}, or raise capacity.clusterEntries there`)];
}

function objectsBreaches(at: Path, objects: number | undefined, { pools, whose }: Bounding): readonly Complaint[] {
  const memory = smallest(pools, controllerMiB);
  const most = memory && mostEnvironmentObjects(memory);
  if (objects === undefined || memory === undefined || most === undefined || objects <= most) return [];
  const message = `lets one environment take more than half of the ${whole(memory)} MiB of the smallest controller${whose}, at 20 KiB an object`;
  return [complain(at, message, `Give at most ${most}, or raise resources.controller.memory there`)];
}

/** The smallest amount of any pool; `undefined` where one of them is not known. */
function smallest(pools: readonly (Pool | undefined)[], of: (pool: Pool) => number | undefined): number | undefined {
  const amounts = pools.map((pool) => (pool === undefined ? undefined : of(pool)));
  const known = amounts.filter((amount) => amount !== undefined);
  return known.length === 0 || known.length < amounts.length ? undefined : Math.min(...known);
}

function groupBreaches({ allowedGroups = [], refusedGroups }: Sound<"deployments">): readonly Complaint[] {
  const refused = (refusedGroups ?? REFUSED_GROUPS).filter((entry) => entry !== undefined);
  return allowedGroups.flatMap((entry, index) => {
    if (entry === undefined || entry === EVERY_GROUP) return [];
    const at = ["deployments", "allowedGroups", index];
    const one = readGroupEntry(entry);
    if (isForbidden(one)) return [complain(at, "would widen rights or lift limits, and is never allowed", "Remove it")];
    if (!isRefused(one, refused)) return [];
    const list = refusedGroups === undefined ? `, as it is without a list: ${REFUSED_GROUPS.join(", ")}` : "";
    const remedy = `Remove it here, or give deployments.refusedGroups without it${list}`;
    return [complain(at, "is refused, and refusals come first", remedy)];
  });
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
  return [
    ...duplicates([...at, "engineClusters"], undefined, engineClusters),
    ...uses,
    ...size,
    ...peakBreaches(pool, [...at, "instances"]),
    ...memoryBreaches(pool, at),
    ...maximumBreaches(pool, at),
    ...entryBreaches(pool, at),
  ];
}

type Peak = NonNullable<NonNullable<NonNullable<Pool["instances"]>["peaks"]>[number]>;

/** A peak that never is, or that nothing acts on, is a mistake that shows on the morning that it was declared for. */
function peakBreaches({ instances = {} }: Pool, at: Path): readonly Complaint[] {
  const { peaks = [], max } = instances;
  const isFixed = peaks.length > 0 && (instances.scaling === "fixed" || !("scaling" in instances));
  return [
    ...(isFixed
      ? [
          complain(
            [...at, "peaks"],
            "has no effect in a pool of a fixed size: nothing would let the instances go after a peak",
            `Give ${fleetPathText([...at, "scaling"])}: auto, with min and max as bounds`,
          ),
        ]
      : []),
    ...duplicates([...at, "peaks"], "name", fieldsOf(peaks, "name")),
    ...peaks.flatMap((peak, index) => (peak === undefined ? [] : onePeakBreaches(peak, max, [...at, "peaks", index]))),
  ];
}

function onePeakBreaches(peak: Peak, max: number | undefined, at: Path): readonly Complaint[] {
  const isSound = (["factor", "instances"] as const).every((size) => !(size in peak) || peak[size] !== undefined);
  const sizes = Number(peak.factor !== undefined) + Number(peak.instances !== undefined);
  const lasts = peak.duration === undefined ? undefined : peakMs(peak.duration);
  return [
    ...scheduleBreaches(peak.schedule, [...at, "schedule"]),
    ...(peak.timezone === undefined || isTimeZone(peak.timezone)
      ? []
      : [
          complain(
            [...at, "timezone"],
            "is no time zone",
            "Give a name of the IANA database, such as Europe/Berlin, or leave it out for UTC",
          ),
        ]),
    ...(lasts === undefined || lasts <= LONGEST_PEAK_MS
      ? []
      : [complain([...at, "duration"], "is more than 31d", "Give at most 31d, or raise instances.min for what always is")]),
    ...(!isSound || sizes === 1
      ? []
      : [
          complain(
            at,
            sizes === 0 ? "does not say how large it is" : "says in two ways how large it is",
            "Give either factor, such as 1.5, or instances, how many the pool has then",
          ),
        ]),
    ...(peak.instances === undefined || max === undefined || peak.instances <= max
      ? []
      : [complain([...at, "instances"], "is more than instances.max of the pool", "Raise max or lower it")]),
  ];
}

function scheduleBreaches(text: string | undefined, at: Path): readonly Complaint[] {
  if (text === undefined) return [];
  const schedule = parseSchedule(text);
  if (schedule === undefined) {
    const remedy = "Give five fields: minute hour day month weekday, each *, a number, a range, a list or a step, for example 0 8 * * 1-5";
    return [complain(at, "is no cron schedule", remedy)];
  }
  return isEverMet(schedule) ? [] : [complain(at, "is met on no day of any year", "Give a day that the month has")];
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
