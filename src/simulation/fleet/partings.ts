import { RefusedError, UnavailableError } from "../../domain/errors.ts";
import type { WorkspaceId } from "../../domain/ids.ts";
import { loadVector } from "../../domain/load.ts";
import { createMoveRequests } from "../../mover/request-moves.ts";
import { createRingMemo } from "../../scheduler/ring-memo.ts";
import { carryOutParts } from "../../scheduler/split/carry-out-parts.ts";
import type { nextPartsStep } from "../../scheduler/split/next-parts-step.ts";
import type { SplitRow } from "../../store/split/port.ts";
import { silentLog } from "../../telemetry/log.ts";
import { createDrawnIds } from "../world/party.ts";
import type { Fleet } from "./fleet.ts";

const never = new AbortController().signal;
/** The most parts that a workspace is to have. */
const MOST_PARTS = 3;
/** How often somebody changes their mind about the number of parts. */
const CHANGES = 0.2;
/** So little that a unit may not have more than one application: each workspace is dealt to many groups. */
const TARGET = { ...loadVector(() => 0), applications: 4_000 };

/**
 * The scheduler's own steps about parts of workspaces, each at one moment and directly in the rows: one of a random workspace towards a number
 * of parts that is drawn, whatever its load. What is cut here is deployed, and moves are asked for and carried out as any.
 */
export function createPartings(
  { world, database: { rows }, instances }: Fleet,
  nextStep: typeof nextPartsStep,
): { readonly step: () => Promise<void> } {
  const rng = world.rng.fork("partings");
  const clock = {
    now: world.now,
    monotonicMs: world.elapsedMs,
    after: (ms: number, run: () => void) => world.schedule(ms, "partings", run),
  };
  const ids = createDrawnIds(rng.fork("ids"));
  const moving = createMoveRequests({ store: rows, clock, ids });
  const deps = { store: rows, moving, ids, log: silentLog, clock, ringsOf: createRingMemo() };
  const wanted = new Map<WorkspaceId, number>();

  const large = async (): Promise<readonly SplitRow[]> => {
    const classes = [...new Set(instances.map((instance) => instance.class))].sort();
    const found = await Promise.all(
      classes.map((each) =>
        rows.splits.list(
          each,
          loadVector(() => 0),
          never,
        ),
      ),
    );
    return found.flat().filter(({ units }) => units.every(({ owner }) => owner !== undefined));
  };
  const partsWanted = (id: WorkspaceId): number => {
    const known = wanted.get(id);
    const next = known === undefined || rng.next() < CHANGES ? 1 + Math.floor(rng.next() * MOST_PARTS) : known;
    wanted.set(id, next);
    return next;
  };
  const take = async (): Promise<void> => {
    const workspaces = await large();
    const row = workspaces[Math.floor(rng.next() * workspaces.length)];
    if (row === undefined) return;
    const live = new Set((await rows.moves.list({ isLive: true }, 10_000, never)).map(({ unitId }) => unitId));
    const units = row.units.map((unit) => ({ ...unit, isMoving: live.has(unit.id) }));
    const capacity = { now: clock.now(), target: TARGET, candidates: instances.length };
    const step = nextStep({ ...row, units }, partsWanted(row.workspaceId), capacity);
    if (step.kind === "none" || step.kind === "wait") return;
    const facts = { instances: await rows.fleet.listInstances(never) };
    await carryOutParts(deps, { row, step, facts, at: clock.now() }, never);
  };

  return {
    async step() {
      try {
        await take();
      } catch (error) {
        // The database is away, or nobody may be moved there: the next step comes.
        if (!(error instanceof UnavailableError) && !(error instanceof RefusedError)) throw error;
      }
    },
  };
}
