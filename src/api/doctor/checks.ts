import { isRenewalOverdue, type TokenSpan } from "../../domain/account-token.ts";
import { type Millis, rfc3339 } from "../../domain/clock.ts";
import { controllerNeed } from "../../domain/controller-memory.ts";
import { isCordonedByHand } from "../../domain/cordon.ts";
import { countText } from "../../domain/count-text.ts";
import { type ShareExceeded, shareText } from "../../domain/cpu-share.ts";
import { mayKindBeDeployed } from "../../domain/deployable-kinds.ts";
import { classOf, EVERY_GROUP, type FleetSpec, isScaled, type PoolSpec } from "../../domain/fleet.ts";
import { type InstanceVerdict, unfitState } from "../../domain/health.ts";
import type { Instance, InstanceState } from "../../domain/instance.ts";
import { toDocumentLoad } from "../../domain/load.ts";
import { CLASS_LABELS, CLASS_LABELS_POLICY } from "../../domain/names.ts";
import type { OwnershipFinding } from "../../domain/ownership.ts";
import { parseQuantity } from "../../domain/quantity.ts";
import type { ResourceLimits } from "../../domain/raised-resources.ts";
import { hasDigest } from "../../domain/release.ts";
import { compareVersions, isBelowFloor, releaseOf } from "../../domain/version.ts";
import type { DeployedKind } from "../../store/operation/port.ts";
import type { DatabaseLogin } from "../../store/port.ts";
import type { OverdueProofs } from "../../store/repository-access/port.ts";
import type { TokenRecord } from "../../store/token/port.ts";
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

/**
 * Whether processes connect as who owns the tables. That is a remark: it is what an installation has before somebody makes logins for them.
 * `isOwn`: the database is one that an administrator gave.
 */
export function judgeLogins(logins: readonly DatabaseLogin[], isOwn: boolean): Check {
  const owners = logins.filter(({ isOwner }) => isOwner).map(({ user }) => user);
  const remark = `${owners.join(", ")} may drop the tables and write the audit trail anew, and processes connect as that; give them logins of their own with \`argosy database grant\` (docs/install.md)`;
  return {
    name: "database logins",
    ok: true,
    detail: logins.map(({ user, isOwner }) => (isOwner ? `${user}, which owns the tables` : user)).join("; "),
    remedy: "See docs/install.md, A login for each kind of process",
    ...(isOwn && owners.length > 0 ? { remark } : {}),
  };
}

/** What a connection showed that NetworkPolicies of instances refuse: `open`, it came about; `closed`, it did not, and somebody listens there. */
export type PoliciesFound =
  | { readonly cluster: string; readonly outcome: "open" | "closed"; readonly at: string }
  | { readonly cluster: string; readonly unseen: string };

/** Whether NetworkPolicies are enforced where instances are hosted. What cannot be seen is a remark. */
export function judgeNetworkPolicies(found: readonly PoliciesFound[]): Check {
  const tried = found.filter((one) => "outcome" in one);
  const open = tried.filter(({ outcome }) => outcome === "open");
  const unseen = found.filter((one) => "unseen" in one);
  const named = open.slice(0, NAMED).map(({ cluster, at }) => `${cluster}: ${at} took a connection that its policy refuses`);
  const more = open.length > NAMED ? [`and ${open.length - NAMED} more`] : [];
  const enforced = tried.length === 0 ? "cannot be seen from here" : `enforced on ${tried.map(({ cluster }) => cluster).join(", ")}`;
  const remark =
    `cannot be seen from here for ${unseen.map(({ cluster, unseen: why }) => `${cluster} (${why})`).join(", ")}; ` +
    "from a pod of another namespace, `nc -z -w 3 <address of a pod argocd-repo-server> 8081` must not connect";
  return {
    name: "network policies",
    ok: open.length === 0,
    detail: open.length === 0 ? enforced : `not enforced on ${[...named, ...more].join("; ")}`,
    remedy:
      "Give the cluster a network plugin that enforces NetworkPolicies (docs/install.md): until then any pod reaches what instances keep",
    ...(unseen.length === 0 ? {} : { remark }),
  };
}

/** What the arguments of a cluster's API servers say of encryption in etcd; `without`: names of those that say nothing. */
export type EncryptionFound =
  | { readonly cluster: string; readonly servers: number; readonly without: readonly string[] }
  | { readonly cluster: string; readonly unseen: string };

/**
 * Whether API servers encrypt what they keep in etcd. Nothing of it is a failure: most clusters are made without, and what cannot be seen may be
 * in order.
 */
export function judgeEncryption(found: readonly EncryptionFound[]): Check {
  const seen = found.filter((one) => "servers" in one);
  const plain = seen.filter(({ without }) => without.length > 0);
  const unseen = found.filter((one) => "unseen" in one);
  const clusters = (some: readonly EncryptionFound[]) => some.map(({ cluster }) => cluster).join(", ");
  const configured = seen.filter((one) => !plain.includes(one));
  const detail = [
    plain.length === 0 ? "" : `not configured on ${clusters(plain)}`,
    configured.length === 0 ? "" : `configured on ${clusters(configured)}; whether Secrets are among what it names stands in that file`,
    unseen.length === 0 ? "" : `cannot be seen from here on ${clusters(unseen)}`,
  ].filter(Boolean);
  const remarks = [
    ...plain.map(
      ({ cluster, servers, without }) =>
        `on ${cluster}, ${without.length === servers ? "no API server" : `${without.slice(0, NAMED).join(", ")} not, and others`} ` +
        `${without.length === servers ? "has" : "have"} --encryption-provider-config: Secrets are plain text in etcd and its backups; encrypt them at rest (docs/install.md)`,
    ),
    ...(unseen.length === 0
      ? []
      : [
          `for ${unseen.map(({ cluster, unseen: why }) => `${cluster} (${why})`).join(", ")} read the API servers' --encryption-provider-config, or at what the provider says of encrypted Secrets`,
        ]),
  ];
  return {
    name: "encryption in etcd",
    ok: true,
    detail: detail.join("; "),
    remedy: "See docs/install.md, Before you begin",
    ...(remarks.length === 0 ? {} : { remark: remarks.join("; ") }),
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
  return { name: `permissions on ${name}`, ok, detail, remedy: rightsRemedy(part, missing) };
}

/** What an administrator does about rights that are missing. */
export function rightsRemedy(part: "api" | "engine", missing: readonly NeededRight[] = []): string {
  const more = missing.some(({ resource }) => resource === "tokenreviews") ? " --token-reviews" : "";
  return (
    `An administrator runs: argosy manifests --for ${part}${more} | kubectl apply --server-side -f - ` +
    "(where the Helm chart made the accounts: helm upgrade with the chart of this version)"
  );
}

/** What a process says in /readyz and in its log of the rights of its roles that are missing. */
export function ownRightsText(holder: Holder, missing: readonly NeededRight[]): string {
  return `${holderText(holder)} has no right to: ${rightsText(missing)}. ${rightsRemedy("api", missing)}`;
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

/** How old the proof of a repository may be, in ms. It is proven once an hour. */
export const PROOF_MS = 2 * 60 * 60_000;

/**
 * Whether Git hosts are asked as often as they are to be. Repositories are proven once an hour and credentials every ten minutes, by processes of the role workspace; where there are more
 * than these get to, a credential that was taken away stays in use for longer.
 */
export function judgeRepositoryProbes({ count, since }: OverdueProofs, now: Millis): Check {
  const hours = since === undefined ? 0 : Math.floor((now - since) / 3_600_000);
  return {
    name: "repository probes",
    ok: count === 0,
    detail:
      count === 0
        ? "each repository in use was probed within the last two hours"
        : `${count} of the repositories in use not probed for two hours, the first of them for ${hours}`,
    remedy:
      "See that processes of the role workspace run; where argosy_repository_probe_lag_seconds stays high, start more of them or raise limits.repositoryProbes",
  };
}

/** The token by which an instance enters the API cluster, as its entry says; `span` is absent where it never ends. */
export interface TokenFound {
  readonly namespace: string;
  readonly span: TokenSpan | undefined;
}

/** Whether every instance's token is replaced in time. One that was not, or that never ends, works still: there is time to act. */
export function judgeInstanceTokens(found: readonly TokenFound[], now: Millis): Check {
  const late = found.flatMap(({ namespace, span }) => {
    if (span === undefined) return [`${namespace} has one that never ends`];
    return isRenewalOverdue(span, now)
      ? [`${namespace} has one that ${span.endsAt <= now ? "ended" : "ends"} ${rfc3339(span.endsAt)}`]
      : [];
  });
  const more = late.length > NAMED ? [`and ${late.length - NAMED} more`] : [];
  return {
    name: "tokens of instances",
    ok: late.length === 0,
    detail: late.length === 0 ? "all are replaced in time" : [...late.slice(0, NAMED), ...more].join("; "),
    remedy: "The reconciler's log says why it gets no others: look for 'Getting no new token' (docs/instances.md)",
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

/** A token that ends within this time has to be replaced now, in ms. */
const ENDS_SOON_MS = 7 * 24 * 3_600_000;

/**
 * The tokens that work, with those that never end and those that end soon. Both are remarks: a token of a version before, which had no ends, must
 * not fail the check that an upgrade waits for.
 */
export function judgeTokens(tokens: readonly TokenRecord[], now: Millis): Check {
  const active = tokens.filter(({ state }) => state === "active");
  const named = (found: readonly TokenRecord[]): string => found.map(({ name }) => name).join(", ");
  const endless = active.filter(({ expiresAt }) => expiresAt === undefined);
  const ending = active.filter(({ expiresAt }) => expiresAt !== undefined && expiresAt - now < ENDS_SOON_MS);
  const remarks = [
    endless.length === 0 ? "" : `never ends: ${named(endless)}; \`argosy token create\` replaces one by one that does`,
    ending.length === 0 ? "" : `ends within a week: ${named(ending)}; \`argosy token create\` replaces it`,
  ].filter(Boolean);
  return {
    name: "tokens",
    ok: true,
    detail: `${countText(active.length, "token")} in use`,
    remedy: "See `argosy token list`",
    ...(remarks.length === 0 ? {} : { remark: remarks.join("; ") }),
  };
}

/** Whether tokens pass between machines in plain text, which somebody has allowed: else the process had not started. */
export function judgePlainHttp(at: string | undefined): Check {
  return {
    name: "REST listener",
    ok: true,
    detail: at === undefined ? "HTTPS, or this machine alone" : `plain HTTP at ${at}`,
    remedy: "Give listen.tls",
    ...(at === undefined
      ? {}
      : { remark: `tokens pass in plain text at ${at}, as listen.allowPlainHttp says; listen.tls, or listen.host 127.0.0.1, ends it` }),
  };
}

/** Oldest Kubernetes whose API server checks the rules in our CustomResourceDefinitions. */
const OLDEST_KUBERNETES = "1.29.0";

export function judgeCluster(name: string, gitVersion: string): Check {
  const ok = compareVersions(releaseOf(gitVersion), OLDEST_KUBERNETES) >= 0;
  return { name, ok, detail: `answers, Kubernetes ${gitVersion}`, remedy: `Use Kubernetes ${OLDEST_KUBERNETES} or newer` };
}

/** What is declared. That one person alone may change all of it, and that a release has no digest, is no trouble, but worth knowing. */
export function judgeFleet(spec: FleetSpec | undefined, approvals: { readonly fleet: "two-people" | "nobody" }): Check {
  const ok = spec !== undefined && spec.pools.length > 0;
  const detail =
    spec === undefined
      ? "nothing is declared"
      : `${countText(spec.pools.length, "pool")}, ${countText(spec.engineClusters.length, "engine cluster")}`;
  const movable = (spec?.versions.catalogue ?? []).filter(({ image, redisImage }) => !hasDigest(image) || !hasDigest(redisImage));
  const remarks = [
    ...(approvals.fleet === "nobody"
      ? ["one person alone may change images, egress and engine clusters; approvals.fleet: two-people in the configuration ends it"]
      : []),
    ...(movable.length > 0
      ? [`images without digest: ${movable.map(({ version }) => version).join(", ")}; a build with digests and a rollout of it end it`]
      : []),
  ];
  const remark = remarks.length === 0 ? {} : { remark: remarks.join("; ") };
  return { name: "fleet", ok, detail, remedy: "Declare one with: argosy apply -f fleet.yaml", ...remark };
}

/** What the API cluster has of the policy for labels that decide a class; `weakened`: it does not refuse, or not everywhere. */
export type ClassPolicyFound = { readonly kind: "in force" | "away" | "weakened" } | { readonly kind: "unseen"; readonly why: string };

/** Whether users are kept from choosing the class of their workspace. Without rules there is nothing to choose. */
export function judgeClassLabels(found: ClassPolicyFound): Check {
  const see = `\`kubectl get validatingadmissionpolicybinding ${CLASS_LABELS_POLICY}\` says whether it is there`;
  const labels = `labels that begin with ${CLASS_LABELS}`;
  const details = {
    "in force": `only who may assign classes sets ${labels}`,
    away: `nothing keeps whoever may write a namespace from setting ${labels}, and so from choosing its class`,
    weakened: `the policy ${CLASS_LABELS_POLICY} was changed: it does not refuse ${labels} to everybody who may not assign classes`,
    unseen: `cannot be seen from here: ${found.kind === "unseen" ? found.why : ""}`,
  };
  return {
    name: "class labels",
    ok: found.kind === "in force" || found.kind === "unseen",
    detail: details[found.kind],
    remedy:
      "Apply `argosy manifests --for api`, or upgrade the Helm release: policies need Kubernetes 1.30. Until then let no user write namespaces (docs/rights.md)",
    ...(found.kind === "unseen" ? { remark: see } : {}),
  };
}

/** Whether somebody said which namespaces are workspaces. That all are is no failure: it is what a fleet was without saying so. */
export function judgeWorkspaces({ workspaces: { selector, everyNamespace } }: Pick<FleetSpec, "workspaces">): Check {
  const labels = Object.entries(selector).map(([label, value]) => `${label}=${value}`);
  const detail = everyNamespace === true ? "every namespace is one" : `namespaces labelled ${labels.join(", ")}`;
  const remedy = "Declare workspaces.selector in fleet.yaml, and label the namespaces that are workspaces (docs/fleet.md)";
  const remark = "a namespace that somebody makes for anything else is a workspace too; workspaces.selector of fleet.yaml ends it";
  return { name: "workspaces", ok: true, detail, remedy, ...(everyNamespace === true ? { remark } : {}) };
}

/**
 * Whether controllers have the memory for what their pool's capacity allows, and one environment's objects a bound. Neither is a failure:
 * a fleet may have been declared before either was asked for, and goes on as it was.
 */
export function judgeControllerMemory({ pools, workspaces }: Pick<FleetSpec, "pools" | "workspaces">): Check {
  const short = pools.flatMap(({ name, capacity, resources }) => {
    const { total } = controllerNeed(toDocumentLoad(capacity));
    const memory = Math.floor((parseQuantity(resources.controller.memory) ?? 0) / 2 ** 20);
    return total <= memory ? [] : [`pool ${name} needs ${total} MiB of ${memory} MiB`];
  });
  const remarks = [
    ...(short.length === 0
      ? []
      : [
          `controllers that are as full as capacity allows end for want of memory: ${short.join(", ")}; lower capacity.clusterEntries and cachedResources, or raise resources.controller.memory`,
        ]),
    ...(workspaces.quota.environmentObjects === undefined
      ? ["nothing bounds what an instance caches of one environment; argosy apply declares workspaces.quota.environmentObjects"]
      : []),
  ];
  return {
    name: "controller memory",
    ok: true,
    detail: short.length === 0 ? "fits what pools' capacity allows" : "less than pools' capacity allows",
    remedy: "Declare capacity and memory that fit in fleet.yaml (docs/fleet.md)",
    ...(remarks.length === 0 ? {} : { remark: remarks.join("; ") }),
  };
}

/** Whether instances of pools with `entries: filtered` can be made. Nothing to say where no pool asks for such. */
export function judgeFilters({ pools }: Pick<FleetSpec, "pools">, image: string | undefined): readonly Check[] {
  const filtered = pools.filter(({ entries }) => entries === "filtered").map(({ name }) => name);
  if (filtered.length === 0) return [];
  const of = `${filtered.length === 1 ? "pool" : "pools"} ${filtered.join(", ")}`;
  return [
    {
      name: "cluster filters",
      ok: image !== undefined,
      detail: image === undefined ? `no image is configured, so ${of} can get no instances` : `run from ${image}`,
      remedy: "Give clusterFilter.image, Argosy's own image, in the configuration of every process; the chart does (docs/configuration.md)",
    },
  ];
}

/** Whether a workspace takes more of its instance's CPU than its class allows. No failure: users could make the check fail. */
export function judgeCpuShares(exceeded: readonly ShareExceeded[]): Check {
  const more = exceeded.length > NAMED ? [`and ${exceeded.length - NAMED} more`] : [];
  const remark = [...exceeded.slice(0, NAMED).map(shareText), ...more].join("; ");
  return {
    name: "CPU shares",
    ok: true,
    detail: exceeded.length === 0 ? "no workspace took more than its class allows in six hours" : countText(exceeded.length, "workspace"),
    remedy: "See `argosy cost`, and give it an instance of its own: `argosy pin`, or another class (docs/cost.md)",
    ...(exceeded.length === 0 ? {} : { remark }),
  };
}

/**
 * Which kinds workspaces may deploy, and which they try to without being allowed. Neither is a failure: users could make the check fail, and an
 * open list is what a fleet had before there was one.
 */
export function judgeKinds({ deployments }: Pick<FleetSpec, "deployments">, deployed: readonly DeployedKind[]): Check {
  const { allowedGroups } = deployments;
  const isOpen = allowedGroups.includes(EVERY_GROUP);
  const named = (kinds: readonly DeployedKind[]) => {
    const more = kinds.length > NAMED ? [`and ${kinds.length - NAMED} more`] : [];
    const text = kinds
      .slice(0, NAMED)
      .map(({ kind, group, applications }) => `${kind} of ${group || "core"} (${countText(applications, "application")})`);
    return [...text, ...more].join(", ");
  };
  const unlisted = deployed.filter(
    (one) => !mayKindBeDeployed(one, { ...deployments, allowedGroups: allowedGroups.filter((each) => each !== EVERY_GROUP) }),
  );
  const asked = unlisted.filter((one) => mayKindBeDeployed(one, { ...deployments, allowedGroups: [EVERY_GROUP] }));
  const detail = isOpen
    ? "every group that is not refused"
    : `those of Kubernetes${allowedGroups.length === 0 ? "" : `, and ${allowedGroups.slice(0, NAMED).join(", ")}${allowedGroups.length > NAMED ? ", …" : ""}`}`;
  const inUse = asked.length === 0 ? "nothing in use needs it" : `in use are ${named(asked)}`;
  const remark = isOpen
    ? `every workspace may deploy whatever operators' kinds are installed, also later ones; declare deployments.allowedGroups: ${inUse}`
    : `applications have kinds that are not allowed: ${named(asked)}; deployments.allowedGroups of fleet.yaml allows them`;
  const remedy = "Declare deployments.allowedGroups in fleet.yaml (docs/instances.md)";
  return { name: "deployable kinds", ok: true, detail, remedy, ...(isOpen || asked.length > 0 ? { remark } : {}) };
}

/** What the load needs and may not be given. */
export interface Shortage {
  /** That need more instances than their pools may have. */
  readonly classes: ReadonlySet<string>;
  readonly limits: ResourceLimits;
}

/** Nothing where the pool lets nothing be raised any more. */
function limitRemark({ id, name }: Instance, pool: PoolSpec, limits: ResourceLimits): readonly string[] {
  const limit = limits[id];
  if (limit === undefined || pool.resources.max === undefined) return [];
  const { amount, given, why } = limit;
  return [
    why === "MAXIMUM"
      ? `${name} runs out of ${amount}, and ${given} is all that its pool allows: raise resources.max, or instances.max`
      : `${name} runs out of ${amount}, and its pods did not get ready with more than ${given}: give its engine cluster larger nodes, or drain it`,
  ];
}

/**
 * One check a pool: whether as many of its instances take workspaces as are declared at least. Those that somebody cordoned or drains
 * count as if they did: that is maintenance, and only a remark. A cordoned one is not replaced, one that is drained is. What the load needs and may not be
 * given is a remark too.
 */
export function judgePools(
  spec: FleetSpec,
  instances: readonly Instance[],
  { classes: short, limits }: Shortage = { classes: new Set(), limits: {} },
): readonly Check[] {
  return spec.pools.map((pool) => {
    const own = instances.filter((instance) => instance.pool === pool.name);
    const active = own.filter(({ state }) => state === "ACTIVE").length;
    const ordered = own.filter(isMaintained);
    const isShort = active < pool.instances.min;
    const ok = active + ordered.length >= pool.instances.min;
    const isAtCeiling = isScaled(pool) && short.has(classOf(pool));
    const remarks = [
      ...(isShort && ok ? [`fewer than declared take new workspaces: ${ordered.map(({ name }) => name).join(", ")} by order`] : []),
      ...(isAtCeiling
        ? ["the load needs more instances than its class gets: raise instances.max, or see which one failed (`argosy capacity`)"]
        : []),
      ...own.flatMap((one) => limitRemark(one, pool, limits)),
    ];
    return {
      name: `pool ${pool.name}`,
      ok,
      detail: `${active} ACTIVE of ${pool.instances.min} to ${pool.instances.max} instances`,
      remedy: "See `argosy get instances -o wide` for what the others wait for",
      ...(remarks.length > 0 ? { remark: remarks.join("; ") } : {}),
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
