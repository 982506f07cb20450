import type { Clock } from "../../domain/clock.ts";
import type { MemberId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { sleep } from "../../runtime/clock.ts";
import type { ObservedOwnerBinding } from "../../shard/parse-observation.ts";
import type { Store } from "../../store/port.ts";
import type { UnitToRecover } from "../../store/recovery/port.ts";
import type { Standing } from "../port.ts";
import {
  epochsAbove,
  isOlder,
  judgeOwner,
  type OwnerJudgement,
  ownerBindingKey,
  recoveryDecision,
  unknownOwnerBindings,
} from "./judge-owner.ts";

export interface RecoveryDeps {
  readonly store: Pick<Store, "recovery" | "fleet" | "members">;
  readonly standing: Standing;
  readonly clock: Clock;
  /** How long a request of an account that lost its right may still be under way, in ms. */
  readonly fenceMs: number;
}

/** Which owner one unit gets, and why. */
export interface RecoveredUnit {
  readonly unit: UnitToRecover;
  readonly rule: OwnerJudgement["rule"];
  readonly owner: Instance["id"];
}

export interface Recovery {
  /** The newest epoch in the database, and the newest in the cluster. */
  readonly lastEpoch: number;
  readonly newestSeen: number;
  readonly isOlder: boolean;
  /** Every unit with an owner, sorted by namespace and part. */
  readonly units: readonly RecoveredUnit[];
  /** Owner bindings of units that no row places. */
  readonly unknown: readonly { readonly namespace: string; readonly name: string }[];
}

const PAGE = 500;
const MOVE_ENDED = "the database was restored while it was under way, or to a time when it was";

/** What a recovery would do. Nothing is written. */
export async function planRecovery(deps: RecoveryDeps, signal: AbortSignal): Promise<Recovery> {
  return describe(await judgeAll(deps, signal));
}

/**
 * Brings a restored database up to date with the clusters, while no control plane runs. First epochs leap above all that were ever given.
 * Then accounts that no instance acts as, and those of units that no row places, lose the right to write, and requests of theirs get time to end. Then each unit gets the owner
 * that its owner binding names, and a new epoch, so that everything of it is written again.
 *
 * Each write is conditional and may be repeated: a run that broke off is started once more, and no control plane starts before a run has
 * ended. `report` is called with how many units are done, of how many.
 */
export async function recover(
  deps: RecoveryDeps,
  report: (done: number, of: number) => void,
  signal: AbortSignal,
): Promise<Recovery & { readonly recovered: number }> {
  const { store, standing, clock, fenceMs } = deps;
  const found = await judgeAll(deps, signal);
  await store.members.heartbeat(UNFINISHED, [UNFINISHED_ROLE], FOR_GOOD_MS, signal);
  await store.recovery.raiseEpochs(epochsAbove(found.lastEpoch, found.newestSeen), signal);
  const strangers = found.judged.flatMap(({ judgement }) => (judgement.rule === "STRANGER" ? (judgement.ownerBinding ?? []) : []));
  const revoked = [...strangers, ...found.unknown];
  for (const ownerBinding of revoked) await standing.revoke(ownerBinding, signal);
  if (revoked.length > 0) await sleep(clock, fenceMs, signal);
  let recovered = 0;
  for (const [index, { unit, judgement }] of found.judged.entries()) {
    const decision = recoveryDecision(unit, judgement, clock.now());
    if (await store.recovery.recordOwner({ unit, owner: judgement.owner, message: MOVE_ENDED, decision }, signal)) recovered += 1;
    if ((index + 1) % PAGE === 0 || index + 1 === found.judged.length) report(index + 1, found.judged.length);
  }
  if (recovered === found.judged.length) await store.members.leave(UNFINISHED, signal);
  return { ...describe(found), recovered };
}

interface Found {
  readonly lastEpoch: number;
  readonly newestSeen: number;
  readonly judged: readonly { readonly unit: UnitToRecover; readonly judgement: OwnerJudgement }[];
  readonly unknown: readonly ObservedOwnerBinding[];
}

/** Reads both sides and judges every unit that has an owner. */
async function judgeAll({ store, standing }: RecoveryDeps, signal: AbortSignal): Promise<Found> {
  // The cluster is read before the database. An epoch that is given in between makes the database seem newer, never older.
  const newestSeen = await standing.newestEpoch(signal);
  const ownerBindings = new Map(
    (await standing.listOwnerBindings(signal)).map((ownerBinding) => [ownerBindingKey(ownerBinding.at), ownerBinding]),
  );
  const instances = await store.fleet.listInstances(signal);
  const units: UnitToRecover[] = [];
  for (;;) {
    const page = await store.recovery.listPlaced({ after: units.at(-1)?.id ?? "", limit: PAGE }, signal);
    units.push(...page);
    if (page.length < PAGE) break;
  }
  const judged = units.map((unit) => ({ unit, judgement: judgeOwner(unit, ownerBindings, instances) }));
  return { lastEpoch: await store.recovery.readLastEpoch(signal), newestSeen, judged, unknown: unknownOwnerBindings(units, ownerBindings) };
}

function describe({ lastEpoch, newestSeen, judged, unknown }: Found): Recovery {
  const units = judged.map(({ unit, judgement: { rule, owner } }) => ({ unit, rule, owner }));
  const place = ({ unit: { namespace, bucket } }: RecoveredUnit): string => `${namespace} ${String(bucket).padStart(6, "0")}`;
  return {
    ...{ lastEpoch, newestSeen, isOlder: isOlder(lastEpoch, newestSeen) },
    units: units.sort((a, b) => (place(a) < place(b) ? -1 : 1)),
    unknown: unknown.map(({ at }) => at),
  };
}

/**
 * The mark of a recovery that has begun to write and has not ended: a member that no process is. It stays when its process dies. It is
 * needed because epochs are new after the first write of a recovery, and owners in rows are right only after the last.
 */
const UNFINISHED = "unfinished-recovery" as MemberId;
const UNFINISHED_ROLE = "unfinished-recovery";
/** A hundred years: until a recovery takes it away. In ms. */
const FOR_GOOD_MS = 100 * 365 * 24 * 3_600_000;

/** Whether a recovery began and has not ended. `live`: living members by role. */
export function isRecovering(live: ReadonlyMap<string, readonly MemberId[]>): boolean {
  return live.has(UNFINISHED_ROLE);
}

/** The living members that are processes. `live`: living members by role. */
export function processesOf(live: ReadonlyMap<string, readonly MemberId[]>): readonly MemberId[] {
  return [...new Set([...live.values()].flat())].filter((id) => id !== UNFINISHED);
}
