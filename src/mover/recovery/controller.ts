import type { Clock } from "../../domain/clock.ts";
import type { Instance } from "../../domain/instance.ts";
import { sleep } from "../../runtime/clock.ts";
import type { Store } from "../../store/port.ts";
import type { PlacedUnit } from "../../store/recovery/port.ts";
import { epochsAbove, isOlder, judgeOwner, recoveryDecision, registerKey, type Verdict } from "./judge-owner.ts";
import type { Standing } from "./port.ts";
import { FOR_GOOD_MS, UNFINISHED, UNFINISHED_ROLE } from "./unfinished.ts";

export interface RecoveryDeps {
  readonly store: Pick<Store, "recovery" | "fleet" | "members">;
  readonly standing: Standing;
  readonly clock: Clock;
  /** How long whoever lost a right may still have a request under way, in ms. */
  readonly fenceMs: number;
}

/** What becomes of one unit. */
export interface RecoveredUnit {
  readonly unit: PlacedUnit;
  readonly rule: Verdict["rule"];
  readonly owner: Instance["id"];
}

export interface Recovery {
  /** Epochs as the database and as the cluster have them. */
  readonly lastEpoch: number;
  readonly newestSeen: number;
  readonly isOlder: boolean;
  /** Every unit with an owner, sorted by namespace and part. */
  readonly units: readonly RecoveredUnit[];
}

const PAGE = 500;
const MOVE_ENDED = "the database was restored while it was under way, or to a time when it was";

/** What recovering would do; nothing is written. */
export async function planRecovery(deps: RecoveryDeps, signal: AbortSignal): Promise<Recovery> {
  return describe(await look(deps, signal));
}

/**
 * Brings a restored database up to what stands. Epochs leap beyond all that were given, strangers lose the right to write and are waited
 * for, and then each unit gets the owner that its register names and a new epoch, so that everything of it is written anew. Each step is
 * conditional and may be done again: a run that broke off is begun once more, and no control plane starts before one has ended. No control plane may run meanwhile. `tell` hears how far it is.
 */
export async function recover(
  deps: RecoveryDeps,
  tell: (done: number, of: number) => void,
  signal: AbortSignal,
): Promise<Recovery & { readonly recovered: number }> {
  const { store, standing, clock, fenceMs } = deps;
  const found = await look(deps, signal);
  await store.members.heartbeat(UNFINISHED, [UNFINISHED_ROLE], FOR_GOOD_MS, signal);
  await store.recovery.raiseEpochs(epochsAbove(found.lastEpoch, found.newestSeen), signal);
  const strangers = found.judged.flatMap(({ verdict }) => (verdict.rule === "STRANGER" ? (verdict.register ?? []) : []));
  for (const register of strangers) await standing.revoke(register, signal);
  if (strangers.length > 0) await sleep(clock, fenceMs, signal);
  let recovered = 0;
  for (const [index, { unit, verdict }] of found.judged.entries()) {
    const decision = recoveryDecision(unit, verdict, clock.now());
    if (await store.recovery.reseat({ unit, owner: verdict.owner, message: MOVE_ENDED, decision }, signal)) recovered += 1;
    if ((index + 1) % PAGE === 0 || index + 1 === found.judged.length) tell(index + 1, found.judged.length);
  }
  if (recovered === found.judged.length) await store.members.leave(UNFINISHED, signal);
  return { ...describe(found), recovered };
}

interface Found {
  readonly lastEpoch: number;
  readonly newestSeen: number;
  readonly judged: readonly { readonly unit: PlacedUnit; readonly verdict: Verdict }[];
}

async function look({ store, standing }: RecoveryDeps, signal: AbortSignal): Promise<Found> {
  // What stands is read before the database: an epoch that is given in between makes the database look newer, never older.
  const newestSeen = await standing.newestEpoch(signal);
  const registers = new Map((await standing.listRegisters(signal)).map((register) => [registerKey(register.at), register]));
  const instances = await store.fleet.listInstances(signal);
  const units: PlacedUnit[] = [];
  for (;;) {
    const page = await store.recovery.listPlaced({ after: units.at(-1)?.id ?? "", limit: PAGE }, signal);
    units.push(...page);
    if (page.length < PAGE) break;
  }
  const judged = units.map((unit) => ({ unit, verdict: judgeOwner(unit, registers, instances) }));
  return { lastEpoch: await store.recovery.readLastEpoch(signal), newestSeen, judged };
}

function describe({ lastEpoch, newestSeen, judged }: Found): Recovery {
  const units = judged.map(({ unit, verdict: { rule, owner } }) => ({ unit, rule, owner }));
  const place = ({ unit: { namespace, bucket } }: RecoveredUnit): string => `${namespace} ${String(bucket).padStart(6, "0")}`;
  return { lastEpoch, newestSeen, isOlder: isOlder(lastEpoch, newestSeen), units: units.sort((a, b) => (place(a) < place(b) ? -1 : 1)) };
}
