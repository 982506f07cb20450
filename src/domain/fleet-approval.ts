import type { Millis } from "./clock.ts";
import { entriesOf, type FleetSpec } from "./fleet.ts";
import type { FleetDifference } from "./fleet-diff.ts";
import { canonicalJson } from "./hash.ts";
import type { ProposalId } from "./ids.ts";

/** A field of a fleet document whose change needs a second person. */
interface Guarded {
  /** Where it stands. `*` is each pool, engine cluster or release, by its name. */
  readonly path: string;
  /** What somebody alone could do with it. */
  readonly reason: string;
  /** Taking it away gives nobody anything. */
  readonly isFreeToRemove?: true;
  /** A value that stands at another such place already is nothing new. */
  readonly mayRepeat?: true;
  /** A value that gives nobody anything, as JSON text. */
  readonly isFreeToBe?: string;
}

const CODE = "it says which program runs with the rights of instances";
const REACH = "it says what instances, and the users who deploy with them, reach inside";
const KINDS = "it says which operators a user's objects may reach";
const MEMBERS = "it says in which namespaces instances may write";
const TOGETHER = "it says which workspaces live together";
const PROOF = "it says who may pass for a Git host";

/** Fields whose change one person alone must not make. Another one is another line here. */
export const GUARDED: readonly Guarded[] = [
  { path: "versions.catalogue.*.image", reason: CODE, isFreeToRemove: true },
  { path: "versions.catalogue.*.redisImage", reason: CODE, isFreeToRemove: true },
  { path: "versions.catalogue.*.crds", reason: "it says what instances' objects may hold", isFreeToRemove: true },
  { path: "egress.allow", reason: REACH },
  { path: "egress.apiServers", reason: REACH },
  { path: "egress.http", reason: "what is read over plain HTTP, anybody on the way may replace" },
  { path: "egress.certificateAuthorities", reason: PROOF },
  { path: "egress.sshKnownHosts", reason: PROOF },
  { path: "engineClusters.*", reason: "it says where instances run, and by whose kubeconfig Argosy acts there" },
  { path: "pools.*.class.trust", reason: TOGETHER, isFreeToRemove: true, mayRepeat: true },
  {
    path: "pools.*.entries",
    reason: "whoever takes over an instance whose workspaces share an entry reads Secrets of every namespace",
    isFreeToRemove: true,
    mayRepeat: true,
    isFreeToBe: '"per-workspace"',
  },
  { path: "deployments.allowedGroups", reason: KINDS },
  { path: "deployments.refusedGroups", reason: KINDS },
  { path: "workspaces.selector", reason: MEMBERS },
  { path: "workspaces.everyNamespace", reason: MEMBERS },
  { path: "workspaces.classes", reason: TOGETHER },
  { path: "workspaces.groups", reason: TOGETHER },
];

/** A change that needs a second person. Values are JSON text. */
export interface NeededApproval {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly reason: string;
}

/** Every change from one declaration to another that needs a second person, sorted by path. */
export function approvalsFor(before: FleetSpec | undefined, after: FleetSpec): readonly NeededApproval[] {
  const [old, now] = [before === undefined ? {} : treeOf(before), treeOf(after)];
  return GUARDED.flatMap(({ path, reason, isFreeToRemove, mayRepeat, isFreeToBe }) => {
    const [was, is] = [valuesAt(old, path.split("."), []), valuesAt(now, path.split("."), [])];
    const known = new Set(mayRepeat === true ? was.values() : []);
    return [...new Set([...was.keys(), ...is.keys()])].flatMap((at) => {
      const [from, to] = [was.get(at), is.get(at)];
      if (from === to || (to === undefined && isFreeToRemove === true) || (to !== undefined && to === isFreeToBe)) return [];
      if (from === undefined && to !== undefined && known.has(to)) return [];
      return [{ path: at, before: from ?? "not set", after: to ?? "not set", reason }];
    });
  }).toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** A declaration with its lists of named things as maps, so that their order means nothing, and what guards a pool written out. */
function treeOf({ pools, engineClusters, versions, ...sections }: FleetSpec): object {
  return {
    ...sections,
    pools: Object.fromEntries(pools.map((pool) => [pool.name, { ...pool, entries: entriesOf(pool) }])),
    engineClusters: Object.fromEntries(engineClusters.map((cluster) => [cluster.name, cluster])),
    versions: { ...versions, catalogue: Object.fromEntries(versions.catalogue.map((release) => [release.version, release])) },
  };
}

function valuesAt(node: unknown, [key, ...rest]: readonly string[], at: readonly string[]): ReadonlyMap<string, string> {
  if (node === undefined) return new Map();
  if (key === undefined) return new Map([[at.join("."), canonicalJson(node)]]);
  if (typeof node !== "object" || node === null) return new Map();
  const children = new Map<string, unknown>(Object.entries(node));
  const keys = key === "*" ? [...children.keys()] : [key];
  return new Map(keys.flatMap((name) => [...valuesAt(children.get(name), rest, [...at, name])]));
}

/** How long a proposal waits for somebody, in ms. What nobody wanted for a week is read again before it is done. */
export const PROPOSAL_MS = 7 * 24 * 3_600_000;

/** Who asks, and who stands behind that name. */
export interface Person {
  readonly actor: string;
  /** The first of those who made one another's tokens: see `firstMaker`. */
  readonly owner?: string;
}

/** Before who made a token in the database itself: no token's name has a colon. */
const IN_DATABASE = "database:";

/**
 * The first of those who made one another's tokens, from the maker of `actor`'s: whoever makes a token can use it, so all of them count as one
 * person. A token that was made in the database stands for itself: who may do that hands them out. `makers`: who made each token, by its name.
 */
export function firstMaker(actor: string, makers: ReadonlyMap<string, string | undefined>): string {
  const passed = new Set<string>();
  let name = actor;
  for (;;) {
    const maker = makers.get(name);
    if (maker === undefined || maker.startsWith(IN_DATABASE) || passed.has(maker)) return name;
    passed.add(name);
    name = maker;
  }
}

export const PROPOSAL_ENDS = ["APPROVED", "REJECTED", "WITHDRAWN"] as const;
export type ProposalEnd = (typeof PROPOSAL_ENDS)[number];

/** A declaration that waits for a second person. The whole document waits, also what of it would need nobody. */
export interface FleetProposal {
  readonly id: ProposalId;
  readonly spec: FleetSpec;
  /** Whether the instances of pools that it leaves out are to go. */
  readonly prune: boolean;
  /** The revision that it was made from; 0: none was declared. It counts only while that one is in force. */
  readonly base: number;
  readonly needs: readonly NeededApproval[];
  readonly changes: readonly FleetDifference[];
  readonly by: Person;
  readonly createdAt: Millis;
  readonly expiresAt: Millis;
  /** Absent: it waits. */
  readonly end: { readonly as: ProposalEnd; readonly actor: string; readonly at: Millis; readonly reason: string } | undefined;
}

export const PROPOSAL_STATES = ["OPEN", ...PROPOSAL_ENDS, "EXPIRED", "OUTDATED"] as const;

/** What a proposal is now: one that nobody has ended ends by time, or by another declaration. */
export function stateOfProposal(
  { end, expiresAt, base }: Pick<FleetProposal, "end" | "expiresAt" | "base">,
  { now, revision }: { readonly now: Millis; readonly revision: number },
): (typeof PROPOSAL_STATES)[number] {
  if (end !== undefined) return end.as;
  if (base !== revision) return "OUTDATED";
  return expiresAt <= now ? "EXPIRED" : "OPEN";
}

/** Two names of one person are one person. */
export function isSamePerson(one: Person, other: Person): boolean {
  return one.actor === other.actor || (one.owner !== undefined && one.owner === other.owner);
}
