import { type Clock, millis, rfc3339 } from "../../domain/clock.ts";
import { RefusedError } from "../../domain/errors.ts";
import { sha256 } from "../../domain/hash.ts";
import { ANNOTATION_KINDS_CHANGED } from "../../domain/names.ts";
import type { Discovery } from "../../domain/parse-discovery.ts";
import { type deployerRules, type PolicyRule, sameRules } from "../../shard/deployer-rules.ts";
import { readerRules } from "../../shard/reader-rules.ts";
import type { Log } from "../../telemetry/log.ts";
import type { KeptRole, ObservedClusterRole } from "../port.ts";

/**
 * Instances read the whole cluster anew when kinds have changed, one after the other within this time, in ms: a hundred at once would ask for
 * all objects of fifty kinds each.
 */
const SPREAD_MS = 60_000;
/**
 * How long after a kind became readable every instance watches it, in ms: the other members see the role half a minute later at most, ask within
 * `SPREAD_MS` at their next sweep, and Argo CD has then read the cluster.
 */
const SETTLE_MS = SPREAD_MS + 60_000;
/** How far an instance's clock may be ahead of ours, in ms: what it read before now is to count as old. */
const SKEW_MS = 5 * 60_000;

export interface ReaderRoleDeps {
  readonly reader: KeptRole;
  readonly clock: Clock;
  readonly log: Log;
}

/** Keeps the role by which instances read, and has them read anew what it names. */
export interface ReaderKinds {
  /** Brings the role in step with what may be deployed. Returns the kinds that instances may not watch yet. */
  keep(discovery: Discovery, declared: Parameters<typeof deployerRules>[1], signal: AbortSignal): Promise<readonly PolicyRule[]>;
  /** Whether the role has rules: what is installed is empty, and an instance that reads by it would take the cluster for empty. */
  isFilled(signal: AbortSignal): Promise<boolean>;
  /** What an entry is to say, so that Argo CD reads the cluster anew; `undefined`: what it says already. `key`: the entry's, for its turn. */
  refreshAt(key: string, entry: { readonly isThere: boolean }): string | undefined;
}

export function createReaderKinds({ reader, clock, log }: ReaderRoleDeps): ReaderKinds {
  let isFilled = false;
  /** The role's mark, and when it was first seen here, on the clock that only grows. */
  let seen: { readonly mark: string; readonly atMs: number } | undefined;

  const see = ({ rules, annotations }: Pick<ObservedClusterRole, "rules" | "annotations">): void => {
    isFilled ||= rules.length > 0;
    const mark = annotations[ANNOTATION_KINDS_CHANGED];
    if (mark !== undefined && mark !== seen?.mark) seen = { mark, atMs: clock.monotonicMs() };
  };

  const update = async (role: ObservedClusterRole, wanted: readonly PolicyRule[], signal: AbortSignal): Promise<void> => {
    const annotations = { ...role.annotations, [ANNOTATION_KINDS_CHANGED]: rfc3339(millis(clock.now() + SKEW_MS)) };
    log.info({ groups: wanted.length }, "Updating the role that instances read by");
    await reader.replaceRules({ ...role, annotations }, wanted, signal);
    see({ rules: wanted, annotations });
  };

  return {
    async keep(discovery, declared, signal) {
      const role = await reader.read(signal);
      if (role === undefined) {
        log.error({}, "Missing the role that instances read by; installing Argosy's roles again brings it back");
        return [];
      }
      const isFirst = role.annotations[ANNOTATION_KINDS_CHANGED] === undefined;
      const wanted = readerRules(discovery, { ...declared, present: [...role.rules, ...declared.present] });
      see(role);
      try {
        if (!sameRules(wanted, role.rules)) await update(role, wanted, signal);
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error;
        log.error({ error }, "Not allowed to keep the role that instances read by");
        return wanted;
      }
      // Where the role was never kept no instance has read by it.
      if (isFirst) return [];
      return clock.monotonicMs() - (seen?.atMs ?? 0) < SETTLE_MS ? wanted : [];
    },
    async isFilled(signal) {
      if (isFilled) return true;
      const role = await reader.read(signal);
      if (role !== undefined) see(role);
      return isFilled;
    },
    refreshAt(key, { isThere }) {
      if (seen === undefined) return undefined;
      const isDue = !isThere || clock.monotonicMs() - seen.atMs >= turnOf(key);
      return isDue ? seen.mark : undefined;
    },
  };
}

/** When within `SPREAD_MS` it is an entry's turn. */
function turnOf(key: string): number {
  return Number.parseInt(sha256(key).slice(0, 8), 16) % SPREAD_MS;
}
