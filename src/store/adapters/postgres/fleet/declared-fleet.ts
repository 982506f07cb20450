import type { Clock } from "../../../../domain/clock.ts";
import { asDeclared, type FleetSpec, type StoredFleetSpec } from "../../../../domain/fleet.ts";
import type { FleetProposal } from "../../../../domain/fleet-approval.ts";
import { canonicalJson } from "../../../../domain/hash.ts";
import { imagesOf, type ReleasePart } from "../../../../domain/release.ts";
import {
  changedPools,
  changesOf,
  declaredAnew,
  FLEET,
  fleetAudit,
  fleetDecision,
  stillUndeclared,
  whyNotDeclare,
} from "../../../fleet/fleet-changes.ts";
import type { FleetChange, FleetStore, StoredFleet } from "../../../fleet/port.ts";
import { APPEND_AUDIT, auditValues } from "../audit.ts";
import type { Database, Run, Statement } from "../database.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues } from "../decisions.ts";
import { instant, texts } from "../sql-values.ts";

const READ: Statement = { name: "read_fleet", text: "select spec, revision, pruned from fleet where revision > 0" };

/** The first to declare anything needs a row to lock, too. */
const ENSURE: Statement = {
  name: "ensure_fleet",
  text: "insert into fleet (spec, revision, declared_at) values ('null', 0, $1) on conflict do nothing",
};

const LOCK: Statement = { name: "lock_fleet", text: "select spec, revision, pruned from fleet for update" };

const REPLACE: Statement = {
  name: "apply_fleet",
  text: `
with replaced as (
  update fleet set spec = $1::json, revision = $2, declared_at = $3, pruned = $12::text[]
), journal as (
  insert into decision (${DECISION_COLUMNS}) values ($5, $6, $7, $8, $9, $10, $11::json)
)
select count(pg_notify('argosy', notification)) as sent from unnest($4::text[]) as n (notification)`,
};

/** Byte by byte, as everywhere: the order of names does not depend on the database. */
const POOLS: Statement = {
  name: "list_peopled_pools",
  text: "select distinct pool from instance where state <> 'RETIRED' order by pool",
};

const PRUNE: Statement = {
  name: "prune_pools",
  text: `
with pruned as (
  update fleet set pruned = $1::text[], revision = revision + 1
), journal as (
  insert into decision (${DECISION_COLUMNS}) values ($3, $4, $5, $6, $7, $8, $9::json)
)
select count(pg_notify('argosy', notification)) as sent from unnest($2::text[]) as n (notification)`,
};

/** A part that is remembered stays, whoever asks for another one. */
const KEEP_PARTS: Statement = {
  name: "keep_release_parts",
  text: `
insert into release_part (version, part, content, since)
select version, part, content, $4 from unnest($1::text[], $2::text[], $3::text[]) as p (version, part, content)
on conflict do nothing`,
};

const PARTS: Statement = { name: "list_release_parts", text: "select version, part, content from release_part order by version, part" };

interface Row {
  readonly spec: StoredFleetSpec | null;
  readonly revision: number;
  readonly pruned: readonly string[];
}

export function createDeclaredFleet(
  database: Database,
  clock: Clock,
  ids: DecisionIds,
): Pick<FleetStore, "readFleet" | "applyFleet" | "changeFleet" | "listReleaseParts" | "keepReleasePart" | "prunePools"> {
  return {
    async readFleet(signal) {
      const [row] = await database.run<Row>(READ, [], signal);
      return row === undefined ? undefined : storedFleet(row);
    },
    applyFleet: (spec, actor, signal) =>
      database.transaction("apply_fleet", (run) => declareFleet(run, { clock, ids }, { spec, actor }), signal),
    changeFleet: (change, signal) => database.transaction("apply_fleet", (run) => declareFleet(run, { clock, ids }, change), signal),
    listReleaseParts: (signal) => database.run<ReleasePart>(PARTS, [], signal),
    keepReleasePart: (part, signal) =>
      database.transaction(
        "keep_release_part",
        async (run) => {
          await keepParts(run, clock, [part]);
          const isIt = (one: ReleasePart): boolean => one.version === part.version && one.part === part.part;
          return (await run<ReleasePart>(PARTS, [])).find(isIt)?.content ?? part.content;
        },
        signal,
      ),
    prunePools: (actor, signal) =>
      database.transaction(
        "prune_pools",
        async (run) => {
          const [row] = await run<Row>(LOCK, []);
          const before = row === undefined ? undefined : storedFleet(row);
          if (before === undefined) return [];
          const rows = await run<{ readonly pool: string }>(POOLS, []);
          const pruned = stillUndeclared(
            rows.map(({ pool }) => pool),
            before.spec,
          );
          if (canonicalJson(pruned) === canonicalJson(before.pruned)) return pruned;
          const decision = fleetDecision({ at: clock.now(), actor, revision: before.revision + 1, pools: pruned, verdict: "PRUNED" });
          const notifications = texts(pruned.map((pool) => `pool:${pool}`));
          await run(PRUNE, [texts(pruned), notifications, ...decisionValues(ids, decision)]);
          const { pruned: prunedBefore, revision } = before;
          await run(APPEND_AUDIT, auditValues(fleetAudit(actor, revision + 1, { prunedBefore, pruned })));
          return pruned;
        },
        signal,
      ),
  };
}

/**
 * Locks the declared fleet inside the caller's transaction, and returns it. With a `revision` it throws `StaleError` when another one is in
 * force; 0: none is declared.
 */
export async function lockFleet(run: Run, clock: Clock, revision?: number): Promise<StoredFleet | undefined> {
  await run(ENSURE, [instant(clock.now())]);
  const [row] = await run<Row>(LOCK, []);
  const fleet = row === undefined ? undefined : storedFleet(row);
  if (revision !== undefined && (fleet?.revision ?? 0) !== revision) throw declaredAnew(revision);
  return fleet;
}

/**
 * Replaces the declared fleet if it differs, inside the caller's transaction; returns the revision in force. With a `revision`
 * it throws `StaleError` when another one is declared.
 */
export async function declareFleet(
  run: Run,
  { clock, ids }: { readonly clock: Clock; readonly ids: DecisionIds },
  change: Omit<FleetChange, "revision"> & Partial<FleetChange> & { readonly approved?: FleetProposal },
): Promise<number> {
  const { spec, actor, approved } = change;
  const before = await lockFleet(run, clock, change.revision);
  if (before !== undefined && canonicalJson(before.spec) === canonicalJson(spec)) return before.revision;
  const whyNot = whyNotDeclare(await run<ReleasePart>(PARTS, []), before?.spec, spec);
  if (whyNot !== undefined) throw whyNot;
  await keepParts(run, clock, imagesOf([...(before?.spec.versions.catalogue ?? []), ...spec.versions.catalogue]));
  const revision = (before?.revision ?? 0) + 1;
  const pools = changedPools(before?.spec, spec);
  const decision = fleetDecision({ at: clock.now(), actor, revision, pools, changes: changesOf(before?.spec, spec), approved });
  const notifications = texts([`fleet:${FLEET}`, ...pools.map((pool) => `pool:${pool}`)]);
  const pruned = stillUndeclared(before?.pruned ?? [], spec);
  await run(REPLACE, [canonicalJson(spec), revision, instant(clock.now()), notifications, ...decisionValues(ids, decision), texts(pruned)]);
  // Last, so that others wait no longer for their turn in the trail than this takes to commit.
  await run(APPEND_AUDIT, auditValues(fleetAudit(actor, revision, { before: before?.spec, after: spec })));
  return revision;
}

async function keepParts(run: Run, clock: Clock, parts: readonly ReleasePart[]): Promise<void> {
  const columns = (["version", "part", "content"] as const).map((column) => texts(parts.map((part) => part[column])));
  await run(KEEP_PARTS, [...columns, instant(clock.now())]);
}

function storedFleet({ spec, revision, pruned }: Row): StoredFleet | undefined {
  return spec === null ? undefined : { spec: specOf(spec), revision, pruned };
}

/** JSON has no `undefined`: a pool without a version of its own does not have the field there. */
export function specOf(spec: StoredFleetSpec): FleetSpec {
  const declared = asDeclared(spec);
  return { ...declared, pools: declared.pools.map((pool) => ({ ...pool, version: pool.version })) };
}
