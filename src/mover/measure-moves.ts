import type { Clock } from "../domain/clock.ts";
import type { Move, MovePhase } from "../domain/move.ts";
import { PHASES } from "../domain/move-phases.ts";
import { gapMs, tookMs } from "../domain/move-times.ts";
import type { Metrics } from "../telemetry/metrics.ts";

/** The metrics of live moves. A phase is measured by the process that ended it. */
export interface MoveMeter {
  /** A move has just left its phase for another one. */
  entered(move: Move, to: MovePhase): void;
  /** The moves of this process that have not ended. */
  live(moves: readonly Pick<Move, "kind" | "phase">[]): void;
}

const SECONDS = [0.1, 0.25, 0.5, 1, 2, 3, 4.5, 7, 10, 15, 30, 60, 120, 300];

export function createMoveMeter({ metrics, clock }: { readonly metrics: Metrics; readonly clock: Clock }): MoveMeter {
  const phases = metrics.histogram("argosy_mover_phase_seconds", "Time a live move spent in a phase.", SECONDS, ["phase"]);
  const gaps = metrics.histogram("argosy_mover_gap_seconds", "Time for which nobody was the owner, of moves that ended.", SECONDS, [
    "kind",
  ]);
  const whole = metrics.histogram("argosy_mover_move_seconds", "Time from its turn to its end, of moves that ended.", SECONDS, ["kind"]);
  const ended = metrics.counter("argosy_mover_moves_ended_total", "Live moves that ended, by kind and outcome.", ["kind", "outcome"]);
  const gauge = metrics.gauge("argosy_mover_moves", "Live moves that have not ended, by kind: waiting for their turn, or under way.", [
    "kind",
    "state",
  ]);
  let present: readonly Pick<Move, "kind" | "phase">[] = [];
  gauge.collect(() => samplesOf(present));
  return {
    entered(move, to) {
      const now = clock.now();
      const { kind, phase, phaseSince } = move;
      phases.observe((now - phaseSince) / 1000, { phase });
      if (PHASES[to].isLive) return;
      ended.add(1, { kind, outcome: to === "DONE" ? "done" : "aborted" });
      const [gap, took] = [gapMs(move, now), tookMs(move, now)];
      if (gap !== undefined) gaps.observe(gap / 1000, { kind });
      if (took !== undefined) whole.observe(took / 1000, { kind });
    },
    live(moves) {
      present = moves;
    },
  };
}

function samplesOf(present: readonly Pick<Move, "kind" | "phase">[]) {
  const groups = Map.groupBy(present, ({ kind, phase }) => `${kind} ${PHASES[phase].isUnderWay ? "under-way" : "waiting"}`);
  return [...groups].map(([group, moves]) => {
    const [kind = "", state = ""] = group.split(" ");
    return { value: moves.length, labels: { kind, state } };
  });
}
