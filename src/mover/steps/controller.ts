import type { Clock } from "../../domain/clock.ts";
import { StaleError } from "../../domain/errors.ts";
import type { MoveId } from "../../domain/ids.ts";
import type { Grounds } from "../../reconciler/port.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { commitDecision, givingUp, lastWords } from "../decisions.ts";
import { createGroundwork } from "../groundwork/controller.ts";
import type { Look, View } from "../look/controller.ts";
import { PAUSE_MS, seenNext } from "../looks.ts";
import { type MoveMeter, measuredBy } from "../meter/controller.ts";
import { nextStep, type Step } from "../next-step.ts";
import type { Outside } from "../outside/controller.ts";
import type { ManagedCluster } from "../port.ts";
import type { Probe } from "../probe/controller.ts";
import type { Carried, RunMemory } from "../run-memory.ts";
import type { Waits } from "../waits/controller.ts";
import { createWrites } from "../writes/controller.ts";

export interface StepsDeps {
  readonly store: Pick<Store, "moves">;
  readonly look: Look;
  readonly probe: Probe;
  readonly meter: Pick<MoveMeter, "entered">;
  readonly managed: Pick<ManagedCluster, "create" | "patch" | "delete">;
  readonly grounds: Grounds;
  readonly outside: Pick<Outside, "visit">;
  readonly waits: Waits;
  readonly decide?: typeof nextStep;
  readonly clock: Clock;
  readonly log: Log;
}

/** Carries one move on, as far as it goes now. */
export interface Steps {
  carryOn(id: MoveId, signal: AbortSignal): Promise<Carried>;
}

/** More steps in one run than a move has: whoever contests an object all the time is met again after a pause. */
const STEP_LIMIT = 60;

/** What a step comes to: look again at once, or what the run comes to. */
type Onward = "again" | Carried;

interface Run extends RunMemory {
  /** What the next step is decided from where the last one only went into another phase. */
  seen?: View | undefined;
}

export function createSteps(deps: StepsDeps): Steps {
  const { store, look, probe, managed, outside, waits, clock, log, decide = nextStep } = deps;
  const [{ moves }, measured] = [store, measuredBy(deps.meter)];
  const groundwork = createGroundwork(deps.grounds, clock);
  const putAll = createWrites({ moves, managed, probe, grounds: deps.grounds, log });

  const carryOut = async (view: View, run: Run, step: Exclude<Step, { kind: "raise" | "visit" }>, signal: AbortSignal): Promise<Onward> => {
    const { move } = view;
    switch (step.kind) {
      case "write":
        return putAll(view, step.writes, signal).then(() => "again");
      case "advance":
        log.info({ move: move.id, unit: move.unitId, from: move.phase, to: step.to }, "Going on with a move");
        probe.forget(move.id);
        return measured(move, step.to, moves.advance(move.id, { from: move.phase, ...step }, signal), () => {
          run.seen = seenNext(view, step, clock.now());
        });
      case "commit":
        return measured(move, "GRANT", moves.commit(move.id, commitDecision(move, clock.now()), signal));
      case "abort":
        log.warn({ move: move.id, unit: move.unitId, phase: move.phase, why: step.why.text }, "Giving a move up");
        return measured(move, "ABORT", moves.abort(move.id, givingUp(move, step.why, clock.now()), signal));
      case "clear": {
        await groundwork.clear(view, step.side, signal);
        const [from, to] = [move.phase, step.side === "source" ? "DONE" : "ABORTED"] as const;
        return measured(move, to, moves.advance(move.id, { from, to, message: lastWords(move, view.world.isSourceAway) }, signal));
      }
      case "probe":
        await probe.ask(view, step.whom, signal);
        if (step.whom === "target" && probe.known(move.id).answer === "allowed") return "again";
        return waits.forMs(view, probe.askAgainMs(view), step.why, signal);
      case "wait":
        return waits.forChange(view, run, step.why, signal);
      case "late":
        throw new StaleError("writing for a move what a newer epoch was written to", { code: "mover.fenced", context: { move: move.id } });
    }
  };

  const takeStep = async (id: MoveId, run: Run, signal: AbortSignal): Promise<Onward> => {
    const seen = run.seen ?? (await look.at(id, signal));
    run.seen = undefined;
    if (typeof seen === "string") {
      for (const each of [probe, groundwork, waits]) each.forget(id);
      return { isOver: seen === "over" };
    }
    waits.looked(seen);
    const visits = run.visits?.phase === seen.move.phase ? run.visits.ends : seen.visits;
    const view: View = { ...seen, visits };
    const { groundWaits, enteredFreely } = run;
    const step = decide(view.move, { ...view.world, visits, groundWaits, enteredFreely, ...probe.known(id) });
    if (step.kind === "visit") run.visits = { phase: view.move.phase, ends: await outside.visit(view, signal) };
    else if (step.kind === "raise") Object.assign(run, await groundwork.raise(view, signal));
    else return carryOut(view, run, step, signal);
    return "again";
  };

  return {
    async carryOn(id, signal) {
      const run: Run = { groundWaits: groundwork.recall(id) };
      for (let count = 0; count < STEP_LIMIT; count += 1) {
        const onward = await takeStep(id, run, signal);
        if (onward !== "again") return onward;
      }
      return { requeueAfterMs: PAUSE_MS };
    },
  };
}
