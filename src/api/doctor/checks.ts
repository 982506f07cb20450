import type { Millis } from "../../domain/clock.ts";
import { isCordonedByHand } from "../../domain/cordon.ts";
import { countText } from "../../domain/count-text.ts";
import type { FleetSpec } from "../../domain/fleet.ts";
import { type InstanceVerdict, unfitState } from "../../domain/health.ts";
import type { Instance, InstanceState } from "../../domain/instance.ts";
import type { OwnershipFinding } from "../../domain/ownership.ts";
import { compareVersions, isBelowFloor, releaseOf } from "../../domain/version.ts";
import type { Check } from "../port.ts";
import { type Holder, holderText } from "./holders.ts";
import type { NeededRight } from "./rights.ts";

/** Missing rights as text: one part for each resource, with all its verbs. */
export function rightsText(missing: readonly NeededRight[]): string {
  const perResource = Map.groupBy(missing, ({ group, resource, subresource, namespace, name }) => {
    const what = `${resource}${subresource === undefined ? "" : `/${subresource}`}${group === "" ? "" : `.${group}`}`;
    return `${what}${name === undefined ? "" : ` ${name}`}${namespace === undefined ? "" : ` in ${namespace}`}`;
  });
  const parts = [...perResource].map(([what, rights]) => `${rights.map(({ verb }) => verb).join(", ")} ${what}`);
  const more = parts.length > RESOURCES_NAMED ? [`and ${parts.length - RESOURCES_NAMED} more`] : [];
  return [...parts.slice(0, RESOURCES_NAMED), ...more].join("; ");
}

/** More than these are one missing role, not missing rules: naming them all helps nobody. */
const RESOURCES_NAMED = 5;

/** Oldest PostgreSQL the statements are written for. */
const OLDEST_POSTGRES = 15;

export function judgeDatabase(answer: { readonly version: string; readonly schema: number } | { readonly error: unknown }): Check {
  if ("error" in answer) {
    return { name: "database", ok: false, detail: errorSentence(answer.error), remedy: "Start PostgreSQL or correct DATABASE_URL" };
  }
  const major = Number.parseInt(answer.version, 10);
  const ok = Number.isNaN(major) || major >= OLDEST_POSTGRES;
  return {
    name: "database",
    ok,
    detail: `PostgreSQL ${answer.version}, schema ${answer.schema}`,
    remedy: `Use PostgreSQL ${OLDEST_POSTGRES} or newer`,
  };
}

/** Whether the database's connections keep their session: notifications, settings and prepared statements live in it. */
export function judgeSessions({ isDirect, isHeard }: { readonly isDirect: boolean; readonly isHeard: boolean }): Check {
  const wrong = [isDirect ? "" : "settings of a connection are lost", isHeard ? "" : "notifications of changes do not arrive"].filter(
    Boolean,
  );
  return {
    name: "database sessions",
    ok: wrong.length === 0,
    detail: wrong.length === 0 ? "kept; notifications of changes arrive" : wrong.join(", "),
    remedy: "Let DATABASE_URL lead to PostgreSQL itself, past any pooler such as PgBouncer",
  };
}

/** An API server that instances have to reach, and those of its addresses that only the inside reaches. */
export interface InsideServer {
  readonly cluster: string;
  readonly addresses: readonly string[];
}

/** Things of a kind that a message names: API servers, addresses of each, findings. */
const NAMED = 3;

/** Whether API servers with private addresses are declared: instances' network policies let nothing private through that is not. */
export function judgeApiServers({ egress }: Pick<FleetSpec, "egress">, servers: readonly InsideServer[]): Check {
  const inside = servers.filter(({ addresses }) => addresses.length > 0);
  const ok = inside.length === 0 || (egress.apiServers ?? []).length > 0;
  const named = inside.slice(0, NAMED).map(({ cluster, addresses }) => `${cluster} at ${addresses.slice(0, NAMED).join(", ")}`);
  const more = inside.length > NAMED ? [`and ${inside.length - NAMED} more`] : [];
  const detail = ok
    ? inside.length === 0
      ? "none has a private address"
      : "egress.apiServers is declared"
    : `private, and egress.apiServers is not declared: ${[...named, ...more].join("; ")}`;
  return {
    name: "API servers",
    ok,
    detail,
    remedy: "Declare egress.apiServers in fleet.yaml: instances reach no private address else (docs/instances.md)",
  };
}

/** Of which rights some are missing, on a cluster that `name` names. */
export interface RightsFound {
  readonly name: string;
  readonly part: "api" | "engine";
  /** Whose they are. Absent: the one account that Argosy has there, whichever role asks. */
  readonly holder?: Holder;
  readonly missing: readonly NeededRight[];
}

export function judgeRights({ name, part, holder, missing }: RightsFound): Check {
  const ok = missing.length === 0;
  const whose = holder === undefined ? "" : ` for ${holderText(holder)}`;
  const detail = ok ? `all there${whose}` : `missing${whose}: ${rightsText(missing)}`;
  return { name: `permissions on ${name}`, ok, detail, remedy: rightsRemedy(part) };
}

/** What an administrator does about rights that are missing. */
export function rightsRemedy(part: "api" | "engine"): string {
  return (
    `An administrator runs: argosy manifests --for ${part} | kubectl apply --server-side -f - ` +
    "(where the Helm chart made the accounts: helm upgrade with the chart of this version)"
  );
}

/** What a process says in /readyz and in its log of the rights of its roles that are missing. */
export function ownRightsText(holder: Holder, missing: readonly NeededRight[]): string {
  return `${holderText(holder)} has no right to: ${rightsText(missing)}. ${rightsRemedy("api")}`;
}

/** Whether the watchdog has reported anything about who owns what that is still so. */
export function judgeOwnershipFindings(open: readonly OwnershipFinding[]): Check {
  const named = open.slice(0, NAMED).map(({ rule, text }) => `${rule}: ${text}`);
  const more = open.length > NAMED ? [`and ${open.length - NAMED} more`] : [];
  const detail = open.length === 0 ? "nothing is wrong about who owns what" : [...named, ...more].join("; ");
  return {
    name: "ownership",
    ok: open.length === 0,
    detail,
    remedy: "See `argosy journal --kind ownership -o wide` and docs/instances.md",
  };
}

/** Whether any instance is judged not to work at present, in the words of its health. */
export function judgeHealthReports(
  verdicts: readonly InstanceVerdict[],
  instances: readonly Pick<Instance, "id" | "name">[],
  now: Millis,
): Check {
  const names = new Map<string, string>(instances.map(({ id, name }) => [id, name]));
  const unfit = verdicts.filter((verdict) => names.has(verdict.instanceId) && unfitState(verdict, now) !== undefined);
  const named = unfit.slice(0, NAMED).map(({ instanceId, state, text }) => `${names.get(instanceId)} is ${state}: ${text}`);
  const more = unfit.length > NAMED ? [`and ${unfit.length - NAMED} more`] : [];
  return {
    name: "health of instances",
    ok: unfit.length === 0,
    detail: unfit.length === 0 ? "none is judged stalled, failed or unknown" : [...named, ...more].join("; "),
    remedy: "See `argosy health <instance>`: what it rests on, and what is done about it",
  };
}

/** Oldest Kubernetes whose API server checks the rules in our CustomResourceDefinitions. */
const OLDEST_KUBERNETES = "1.29.0";

export function judgeCluster(name: string, gitVersion: string): Check {
  const ok = compareVersions(releaseOf(gitVersion), OLDEST_KUBERNETES) >= 0;
  return { name, ok, detail: `answers, Kubernetes ${gitVersion}`, remedy: `Use Kubernetes ${OLDEST_KUBERNETES} or newer` };
}

export function judgeFleet(spec: FleetSpec | undefined): Check {
  const ok = spec !== undefined && spec.pools.length > 0;
  const detail =
    spec === undefined
      ? "nothing is declared"
      : `${countText(spec.pools.length, "pool")}, ${countText(spec.engineClusters.length, "engine cluster")}`;
  return { name: "fleet", ok, detail, remedy: "Declare one with: argosy apply -f fleet.yaml" };
}

/**
 * One check a pool: whether as many of its instances take workspaces as are declared at least. Those that somebody cordoned or drains
 * count as if they did: that is maintenance, and only a remark. A cordoned one is not replaced, one that is drained is.
 */
export function judgePools(spec: FleetSpec, instances: readonly Instance[]): readonly Check[] {
  return spec.pools.map((pool) => {
    const own = instances.filter((instance) => instance.pool === pool.name);
    const active = own.filter(({ state }) => state === "ACTIVE").length;
    const ordered = own.filter(isMaintained);
    const isShort = active < pool.instances.min;
    const ok = active + ordered.length >= pool.instances.min;
    return {
      name: `pool ${pool.name}`,
      ok,
      detail: `${active} ACTIVE of ${pool.instances.min} to ${pool.instances.max} instances`,
      remedy: "See `argosy get instances -o wide` for what the others wait for",
      ...(isShort && ok
        ? { remark: `fewer than declared take new workspaces: ${ordered.map(({ name }) => name).join(", ")} by order` }
        : {}),
    };
  });
}

/** Whether it takes no new workspaces because that was ordered. */
function isMaintained(instance: Instance): boolean {
  return isCordonedByHand(instance) || instance.state === "DRAINING";
}

/**
 * How long an instance may take from one state to the next before it counts as stuck, in ms: images are pulled and a
 * controller fills its cache in well under this.
 */
const STUCK_MS = 15 * 60_000;
const ON_THE_WAY: readonly InstanceState[] = ["REQUESTED", "CREATING", "WARMING"];

/** One check an instance: failed or stuck ones, and those that run a version below the floor. */
export function judgeInstances(instances: readonly Instance[], floor: string | undefined, now: Millis): readonly Check[] {
  return instances
    .filter((instance) => instance.state !== "RETIRED")
    .map((instance) => {
      const isBelow = floor !== undefined && isBelowFloor(instance.version, floor);
      const minutes = Math.floor((now - instance.stateSince) / 60_000);
      const isStuck = ON_THE_WAY.includes(instance.state) && now - instance.stateSince > STUCK_MS;
      const state = isStuck ? `${instance.state} for ${minutes} minutes` : instance.state;
      const detail = [state, instance.version, isBelow ? `below the floor ${floor}` : "", instance.reason]
        .filter((part) => part !== "")
        .join(", ");
      const remedy = isBelow
        ? "Choose a newer version in fleet.yaml"
        : "The reason says what is wrong; the provisioner tries again by itself";
      const remark = isCordonedByHand(instance) ? { remark: `${instance.reason}; \`argosy uncordon ${instance.name}\` ends it` } : {};
      return { name: `instance ${instance.name}`, ok: instance.state !== "FAILED" && !isBelow && !isStuck, detail, remedy, ...remark };
    });
}

/** What we were doing when it failed, and the deepest reason known; never a stack. */
export function errorSentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  let deepest: Error = error;
  while (deepest.cause instanceof Error) deepest = deepest.cause;
  return deepest === error || deepest.message === "" ? error.message : `${error.message}: ${deepest.message}`;
}
