import type { Clock } from "../domain/clock.ts";
import { RefusedError, StaleError } from "../domain/errors.ts";
import type { MoveId } from "../domain/ids.ts";
import type { Move, MovePhase } from "../domain/move.ts";
import type { UnitPrerequisites } from "../reconciler/port.ts";
import type { Destination, OwnNamespaces } from "../shard/application-placement.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { EnvironmentOwnerBindings } from "../workspace/environment/port.ts";
import { createAccess } from "./ask-access.ts";
import { commitDecision, givingUp, isDecisionSaid, lastWords, moveRefusalText } from "./decisions.ts";
import type { MoveMeter } from "./measure-moves.ts";
import { carriedOver, OBSERVED, observeAgainMs, WAKE_MS } from "./next-observation.ts";
import { type MoveStep, nextMoveStep } from "./next-step.ts";
import { createObserveMove, type ObservedMove } from "./observe-move.ts";
import type { SidedWrite } from "./phases/object-step.ts";
import type { Visited } from "./phases/remote-clusters.ts";
import type { ApplicationWatch, ManagedCluster, ObservationSource } from "./port.ts";
import type { UnseenChanges } from "./unseen-changes.ts";
import { createMovePrerequisites, writeObjects, writeToRemoteClusters } from "./write-to-clusters.ts";

export interface MoveWorkerDeps {
  readonly store: Pick<Store, "moves" | "shards" | "intents">;
  readonly observations: ObservationSource;
  readonly watch: Pick<ApplicationWatch, "isHeard">;
  readonly managed: ManagedCluster;
  readonly unitPrerequisites: UnitPrerequisites;
  readonly ownerBindings: EnvironmentOwnerBindings;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
  /** How long refusals in own namespaces are watched, in ms. */
  readonly fenceMs: number;
  readonly unseen: Omit<UnseenChanges, "report">;
  readonly meter: Pick<MoveMeter, "entered">;
  readonly decide?: typeof nextMoveStep;
  readonly clock: Clock;
  readonly log: Log;
}

/** Carries moves out, step by step. */
export interface MoveWorker {
  /** Takes one move as far as it goes now. Any worker may go on with any move: what a step is decided from is in rows and on clusters. */
  carryOn(id: MoveId, signal: AbortSignal): Promise<Carried>;
}

/** What a run comes to: when to go on. Without that there is nothing to do for the move now or, where it is over, at all. */
export interface Carried {
  readonly requeueAfterMs?: number;
  readonly isOver?: boolean;
}

/** What a step comes to: the next step follows at once, or the run has ended. */
type Onward = "again" | Carried;

/** What one run of a move remembers from step to step, so that it looks for prerequisites and goes to remote clusters once in each phase. */
interface Run {
  /** As `MoveWorld` has it. */
  prerequisiteWaits: readonly string[] | undefined;
  /** As `MoveWorld` has it. */
  enteredFreely?: string | undefined;
  visits?: { readonly phase: MovePhase; readonly ends: readonly Visited[] };
  /** What the next step is decided from, where the last step only entered another phase. */
  observed?: ObservedMove | undefined;
}

/** More steps in one run than a move has. Where somebody undoes each step, the run ends and goes on after a pause. */
const STEP_LIMIT = 60;
const PAUSE_MS = 250;

export function createMoveWorker(deps: MoveWorkerDeps): MoveWorker {
  const { ownerBindings, watch, unseen, meter, clock, log, decide = nextMoveStep } = deps;
  const { moves } = deps.store;
  const observe = createObserveMove(deps);
  const access = createAccess(deps);
  const prerequisites = createMovePrerequisites(deps.unitPrerequisites, { clock, log });

  const takeStep = async (id: MoveId, run: Run, signal: AbortSignal): Promise<Onward> => {
    const found = run.observed ?? (await observe(id, signal));
    run.observed = undefined;
    if (typeof found === "string") {
      for (const each of [access, prerequisites, unseen]) each.forget(id);
      return { isOver: found === "over" };
    }
    const { move, world } = found;
    unseen.observed(move, [...world.onSource, ...world.onTarget]);
    const visits = run.visits?.phase === move.phase ? run.visits.ends : found.visits;
    const observed: ObservedMove = { ...found, visits };
    const { prerequisiteWaits, enteredFreely } = run;
    const step = decide(move, { ...world, visits, prerequisiteWaits, enteredFreely, ...access.known(id) });
    return carryOut(observed, run, step, signal);
  };

  const carryOut = async (observed: ObservedMove, run: Run, step: MoveStep, signal: AbortSignal): Promise<Onward> => {
    const { move, world } = observed;
    switch (step.kind) {
      case "visit":
        run.visits = { phase: move.phase, ends: await writeToRemoteClusters(ownerBindings, observed, signal) };
        // Before the target works with it: what it could not read so far it would neither prune nor cascade.
        if (move.phase === "GRANT") await prerequisites.renewEntries(observed, signal);
        return "again";
      case "raise":
        Object.assign(run, await prerequisites.make(observed, signal));
        return "again";
      case "write":
        await write(observed, step.writes, signal);
        return "again";
      case "probe":
        await access.ask(observed, step.whom, signal);
        if (step.whom === "target" && access.known(move.id).answer === "allowed") return "again";
        return waitFor(move, step.why, access.askAgainMs(observed), signal);
      case "wait":
        return waitForChange(observed, run, step.why, signal);
      case "late":
        throw new StaleError("writing for a move what a newer epoch was written to", { code: "mover.fenced", context: { move: move.id } });
      case "advance":
        log.info({ move: move.id, unit: move.unitId, from: move.phase, to: step.to }, "Going on with a move");
        access.forget(move.id);
        if (await enter(move, step.to, moves.advance(move.id, { from: move.phase, ...step }, signal)))
          run.observed = carriedOver(observed, step, clock.now());
        return "again";
      case "commit":
        await enter(move, "GRANT", moves.commit(move.id, commitDecision(move, clock.now()), signal));
        return "again";
      case "abort":
        log.warn({ move: move.id, unit: move.unitId, phase: move.phase, why: step.why.text }, "Giving a move up");
        await enter(move, "ABORT", moves.abort(move.id, givingUp(move, step.why, clock.now()), signal));
        return "again";
      case "clear": {
        await prerequisites.remove(observed, step.side, signal);
        const [from, to] = [move.phase, step.side === "source" ? "DONE" : "ABORTED"] as const;
        await enter(move, to, moves.advance(move.id, { from, to, ...lastWords(move, world.isSourceAway) }, signal));
        return "again";
      }
    }
  };

  /** Waits for the write of the next phase. Of several workers the one whose write it was measures the phase that ended. */
  const enter = async (move: Move, to: MovePhase, isEntered: Promise<boolean>): Promise<boolean> => {
    if (!(await isEntered)) return false;
    meter.entered(move, to);
    return true;
  };

  const write = async (observed: ObservedMove, writes: readonly SidedWrite[], signal: AbortSignal): Promise<void> => {
    const { id, phase } = observed.move;
    // For how long another owner binding was refused says nothing of the new one.
    if (writes.some(({ side }) => side === "ownerBinding")) access.forget(id);
    try {
      await writeObjects(deps, observed, writes, signal);
    } catch (error) {
      // An API server that refuses a write once will refuse it again: people read on the move why it does not go on.
      if (error instanceof RefusedError) await moves.note(id, phase, moveRefusalText(error), signal);
      throw error;
    }
  };

  /** Waits for so long, and says on the row what for. */
  const waitFor = async (move: Move, why: string, requeueAfterMs: number, signal: AbortSignal): Promise<Carried> => {
    await say(move, why, signal);
    return { requeueAfterMs };
  };

  const say = async (move: Move, why: string, signal: AbortSignal): Promise<void> => {
    if (why !== move.message && !isDecisionSaid(move)) await moves.note(move.id, move.phase, why, signal);
  };

  /** Waits for a change of what is observed. The move sleeps, unless something has changed since it was observed. */
  const waitForChange = async (observed: ObservedMove, run: Run, why: string, signal: AbortSignal): Promise<Carried> => {
    const { move, world } = observed;
    await say(move, why, signal);
    if (!unseen.fallAsleep(move.unitId)) return { requeueAfterMs: WAKE_MS };
    return { requeueAfterMs: observeAgainMs(move.phase, world.now - move.phaseSince, isWatched(observed, run)) };
  };

  /** Whether what the move waits for are Applications on instances whose watches report changes. */
  const isWatched = ({ move, remoteClusters, source, target }: ObservedMove, { prerequisiteWaits = [] }: Run): boolean =>
    OBSERVED[move.phase].applications &&
    prerequisiteWaits.length === 0 &&
    remoteClusters.length === 0 &&
    // Both are asked, whatever the first says: asking is what has each of them watched.
    [source, target].map((instance) => watch.isHeard(instance)).every((isHeard) => isHeard);

  return {
    async carryOn(id, signal) {
      const run: Run = { prerequisiteWaits: prerequisites.recall(id) };
      for (let count = 0; count < STEP_LIMIT; count += 1) {
        const onward = await takeStep(id, run, signal);
        if (onward !== "again") return onward;
      }
      return { requeueAfterMs: PAUSE_MS };
    },
  };
}
