import type { TokenLife } from "../../domain/account-token.ts";
import { isRenewalOverdue, renewalOf } from "../../domain/account-token.ts";
import { type Clock, type Millis, millis, rfc3339 } from "../../domain/clock.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import { backoffMs } from "../../runtime/backoff.ts";
import type { Destination, OwnNamespaces } from "../../shard/application-placement.ts";
import { nextTokenStep, type ObservedEntry, type TokenStep } from "../../shard/entry-token.ts";
import type { DesiredObject, ObjectAt, ObservedObject } from "../../shard/managed-object.ts";
import { ANNOTATION_REFRESH, accountName, clusterEntryName, workspaceEntryName } from "../../shard/names.ts";
import { unitOf } from "../../shard/parse-application.ts";
import { type EntryContent, type EntryToken, renderClusterEntry } from "../../shard/render-instance.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { ObjectWriter } from "../apply-object.ts";
import type { Host, Hosts } from "../find-hosts.ts";
import type { ApiCluster } from "../port.ts";
import type { ReaderKinds } from "./keep-reader-role.ts";

export interface EntryTokenDeps {
  readonly apiCluster: Pick<ApiCluster, "tokens" | "accounts">;
  readonly hosts: Pick<Hosts, "mine">;
  readonly readerKinds: Pick<ReaderKinds, "refreshAt">;
  readonly writer: ObjectWriter;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
  readonly tokenLife: TokenLife;
  /** How long a token without an end stays beside the one that replaces it, in ms: an instance reads an entry a moment after it is written. */
  readonly formerStaysMs: number;
  readonly clock: Clock;
  readonly rng: { next(): number };
  readonly log: Log;
  readonly metrics: Metrics;
}

/** An entry of an instance for the API cluster, and as whom the instance enters by it. */
export interface TokenEntry {
  readonly host: Host;
  readonly at: ObjectAt;
  readonly account: ObservedObject;
  readonly render: (content: EntryContent) => DesiredObject;
}

export interface KeptEntry {
  /** After how many ms its token is due for another check. */
  readonly requeueAfterMs: number;
  /** Whether it stands as it should; else a former one is on its way out, or nobody wrote it now. */
  readonly isSettled: boolean;
}

/**
 * Keeps tokens in instances' entries for the API cluster that are good, and replaces each well before its end. What it needs to know stands in
 * the entry, so that whoever takes over goes on.
 *
 * While no new token is to be had, the present one stays, and the log and a metric say so; without one that works it throws.
 */
export interface EntryTokens {
  keep(entry: TokenEntry, signal: AbortSignal): Promise<KeptEntry>;
  /** The instance's one entry for the API cluster. */
  keepShared(host: Host, account: ObservedObject, signal: AbortSignal): Promise<KeptEntry>;
  /** Units of an instance with an entry for each workspace whose entry is to be written anew: for its token, or so that kinds are read anew. */
  listDue(host: Host): readonly UnitId[];
}

/** How soon a token that could not be replaced is asked for again, in ms; later after each failure in a row. */
const AGAIN = { minMs: 5_000, maxMs: 5 * 60_000 };

/** However short the tokens that a server gives, they are not replaced all the time. In ms. */
const SOONEST_MS = 1_000;

type Renewal = Extract<TokenStep, { readonly kind: "renew" }>;

/** What is known of an entry. */
interface Known {
  readonly instance: InstanceId;
  readonly span?: Pick<EntryToken, "madeAt" | "endsAt">;
  readonly failures?: { readonly inARow: number; readonly againAtMs: number } | undefined;
}

export function createEntryTokens(deps: EntryTokenDeps): EntryTokens {
  const { apiCluster, writer, destination, namespaces, clock, log, tokenLife: life } = deps;
  const known = new Map<string, Known>();
  /** Instances that have no endless token any more, as far as this process has seen to it. */
  const clean = new Set<InstanceId>();
  const renewals = deps.metrics.counter(
    "argosy_reconciler_token_renewals_total",
    "Tokens by which instances enter the API cluster that were replaced, or could not be.",
    ["result"],
  );
  deps.metrics
    .gauge("argosy_reconciler_overdue_tokens", "Tokens of instances for the API cluster that should have been replaced long ago.", [])
    .collect(() => {
      const mine = new Set(deps.hosts.mine().map(({ id }) => id));
      for (const [key, { instance }] of known) if (!mine.has(instance)) known.delete(key);
      const isOverdue = ({ span }: Known) => span !== undefined && isRenewalOverdue(span, clock.now());
      return [{ value: [...known.values()].filter(isOverdue).length, labels: {} }];
    });

  const remember = ({ host, at }: TokenEntry, more: Partial<Known>): void => {
    const key = keyOf(at);
    known.set(key, { ...known.get(key), ...more, instance: host.instance.id });
  };

  const write = async (entry: TokenEntry, token: EntryToken, signal: AbortSignal): Promise<KeptEntry> => {
    const { host, at, account, render } = entry;
    const { entries } = host.engine;
    const refreshAt = deps.readerKinds.refreshAt(keyOf(at), { isThere: entries.get(at) !== undefined });
    const end = await writer.put({ name: "cluster-entry", objects: entries, desired: render({ ...token, refreshAt }) }, signal);
    remember(entry, { span: token });
    const requeueAfterMs = Math.max(renewalOf(token, account.at.name, life) - clock.now(), SOONEST_MS);
    return { requeueAfterMs, isSettled: end.kind === "settled" };
  };

  const renew = async (entry: TokenEntry, { why }: Renewal, signal: AbortSignal): Promise<KeptEntry> => {
    const { host, at, account } = entry;
    const issued = await apiCluster.tokens.issue(account.at, life.lifeMs, signal);
    const kept = await write(entry, { ...issued, accountUid: account.uid }, signal);
    renewals.add(1, { result: "renewed" });
    const { name } = host.instance;
    log.info(
      { instance: name, entry: at.name, why, endsAt: rfc3339(issued.endsAt) },
      "Replacing the token by which an instance enters the API cluster",
    );
    remember(entry, { failures: undefined });
    return kept;
  };

  const failed = (entry: TokenEntry, goodUntil: Millis | undefined, error: unknown): number => {
    const inARow = (known.get(keyOf(entry.at))?.failures?.inARow ?? 0) + 1;
    const waitMs = backoffMs(inARow, AGAIN, deps.rng.next());
    remember(entry, { failures: { inARow, againAtMs: clock.monotonicMs() + waitMs } });
    renewals.add(1, { result: "failed" });
    const until = goodUntil === undefined ? "no token works" : isEndless(goodUntil) ? "without end" : rfc3339(goodUntil);
    log.warn(
      { instance: entry.host.instance.name, entry: entry.at.name, goodUntil: until, failures: inARow, err: error },
      "Getting no new token for an instance: the present one stays",
    );
    return waitMs;
  };

  const stepOf = (seen: ObservedEntry | undefined, account: Pick<ObservedObject, "at" | "uid">): TokenStep =>
    nextTokenStep(seen, { account: account.at.name, accountUid: account.uid, now: clock.now(), life });

  const keep = async (entry: TokenEntry, signal: AbortSignal): Promise<KeptEntry> => {
    const step = stepOf(entry.host.engine.entries.get(entry.at), entry.account);
    if (step.kind === "keep") return write(entry, step.token, signal);
    const waitMs = (known.get(keyOf(entry.at))?.failures?.againAtMs ?? 0) - clock.monotonicMs();
    if (step.goodUntil !== undefined && waitMs > 0) return { requeueAfterMs: waitMs, isSettled: true };
    try {
      return await renew(entry, step, signal);
    } catch (error) {
      signal.throwIfAborted();
      const requeueAfterMs = failed(entry, step.goodUntil, error);
      if (step.goodUntil === undefined) throw error;
      return { requeueAfterMs, isSettled: true };
    }
  };

  /** Whether a unit's own entry is to be written anew. */
  const isDue = ({ instance }: Host, unit: UnitId, entry: ObservedEntry): boolean => {
    const at = { namespace: namespaces.accounts, name: accountName(unit, instance.id) };
    const refreshAt = deps.readerKinds.refreshAt(keyOf(entry.at), { isThere: true });
    if (refreshAt !== undefined && refreshAt !== entry.annotations[ANNOTATION_REFRESH]) return true;
    return stepOf(entry, { at, uid: apiCluster.accounts.get(at)?.uid ?? "" }).kind === "renew";
  };

  return {
    keep,
    async keepShared(host, account, signal) {
      const { instance } = host;
      const at = { namespace: instance.namespace, name: clusterEntryName(destination.server) };
      const kept = await keep({ host, at, account, render: (content) => renderClusterEntry(instance, destination, content) }, signal);
      // What enters by the endless token does so until the entry has another one; after that nobody needs it.
      const step = stepOf(host.engine.entries.get(at), account);
      if (!kept.isSettled || step.kind !== "keep" || clean.has(instance.id)) return kept;
      const waitMs = step.token.madeAt + deps.formerStaysMs - clock.now();
      if (waitMs > 0) return { ...kept, requeueAfterMs: Math.min(kept.requeueAfterMs, waitMs) };
      await apiCluster.tokens.removeEndless(account.at, signal);
      clean.add(instance.id);
      return kept;
    },
    listDue(host) {
      return host.engine.entries.list(host.instance.namespace).flatMap((entry) => {
        const unit = unitOf(entry);
        return unit !== undefined && entry.at.name === workspaceEntryName(unit) && isDue(host, unit, entry) ? [unit] : [];
      });
    },
  };
}

function keyOf({ namespace, name }: ObjectAt): string {
  return `${namespace}/${name}`;
}

function isEndless(at: Millis): boolean {
  return at >= millis(Number.MAX_SAFE_INTEGER);
}
