import type { Millis } from "../../domain/clock.ts";
import type { Ids } from "../../domain/ids.ts";
import { addLoad, ZERO_LOAD } from "../../domain/load.ts";
import type { Store } from "../../store/port.ts";
import type { SplitRow } from "../../store/split/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { PlanningFacts } from "../plan/assemble.ts";
import { differsFromRecorded, largestUnit, planSplit, type Splitting, splitCapacity } from "./plan-split.ts";
import { splitDecision } from "./split-decision.ts";

export interface SplittingDeps {
  readonly store: Pick<Store, "splits">;
  readonly ids: Ids;
  readonly log: Log;
}

/** Decides for each large workspace of a class into which parts it is split, and records that. One that changed meanwhile waits for the next cycle. */
export async function splitLarge({ store, ids, log }: SplittingDeps, facts: PlanningFacts, at: Millis, signal: AbortSignal): Promise<void> {
  const capacity = splitCapacity(facts, at);
  if (capacity === undefined) return;
  for (const row of await store.splits.list(facts.class, largestUnit(capacity), signal)) {
    const before = splittingOf(row);
    const plan = planSplit(before, capacity);
    const first = row.units[0];
    if (plan === undefined || first === undefined || !differsFromRecorded(plan, before)) continue;
    const load = row.units.reduce((sum, unit) => addLoad(sum, unit.load), ZERO_LOAD);
    const decision = splitDecision({ subject: first.id, before, plan, load, capacity });
    const { parts, openPart, roomySince, deal } = plan;
    const missing = Array.from({ length: parts }, (_, part) => part).filter((part) => !row.units.some(({ bucket }) => bucket === part));
    const newUnits = missing.map((part) => ({ id: ids.next<typeof first.id>(), part }));
    const seen = row.units.map(({ id, rowVersion }) => ({ id, rowVersion }));
    const change = { workspaceId: row.workspaceId, seen, parts, openPart, roomySince, deal, newUnits, decision };
    const isDone = await store.splits.commit(change, signal);
    if (isDone && decision !== undefined) log.info({ workspace: row.workspaceId, parts, before: before.parts }, "Splitting a workspace");
  }
}

function splittingOf({ parts, openPart, roomySince, deal, units, applications }: SplitRow): Splitting {
  const states = units.map(({ bucket: part, epoch, load }) => ({ part, isPlaced: epoch > 0, load }));
  return { parts, openPart, roomySince, deal, units: states, applications };
}
