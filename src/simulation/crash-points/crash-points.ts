import type { Breaker } from "../fleet/argosy.ts";
import { type RunOutcome, runSeed } from "../run.ts";
import { loadScenario } from "../scenarios/load.ts";
import { movesOfRun } from "../summary.ts";
import type { CallMade, Failpoint } from "../world/failpoints.ts";

/** A moment at which a worker dies: before one of its writes, or after it was carried out and before the answer came. */
export type CrashPoint = Failpoint & { readonly kind: "die-before" | "die-after" };

/** What became of a run in which a worker died at one point. */
export interface Crash {
  readonly script: CrashScript;
  readonly point: CrashPoint;
  readonly outcome: RunOutcome;
  /** Whether a worker died there: a point that the run never reaches shows nothing. */
  readonly isMet: boolean;
}

/** A scenario with a seed under which all of it happens, and how its moves end there. */
export interface CrashScript {
  readonly scenario: string;
  readonly seed: number;
  readonly ends: string;
}

export const ONE_MOVE: CrashScript = { scenario: "move-one", seed: 1, ends: "1 DONE" };
/** Fail-overs from the target of a move: before the move gave it the right to write, and while the move waits for it to work. */
export const REDIRECTS: readonly CrashScript[] = [25, 82].map((seed) => ({
  scenario: "move-one-redirect",
  seed,
  ends: "1 DONE, 1 REDIRECTED",
}));

/** Calls that change nothing: reads, watches, heartbeats and questions about rights. */
const NO_WRITE = /\.(GET|WATCH)\.|selfsubjectaccessreviews|^api\.POST\.configmaps$|^store\.(?!moves\.(begin|advance|commit|note|abort))/;

/** Two crash points, before it and after its effect, for every external write from the beginning of the first move until one is DONE. */
export async function listCrashPoints({ scenario, seed }: CrashScript): Promise<readonly CrashPoint[]> {
  const made: CallMade[] = [];
  let [isUnderWay, isOver] = [false, false];
  const onCall = (call: CallMade): void => {
    isUnderWay ||= call.name === "store.moves.begin";
    if (isUnderWay && !isOver && call.from.startsWith("argosy-") && !NO_WRITE.test(call.name)) made.push(call);
  };
  const onMoved = (phase: string): void => {
    isOver ||= phase === "DONE";
  };
  await runSeed({ scenario: loadScenario(scenario), seed, onCall, onMoved });
  return made.flatMap(({ name, index }) => (["die-before", "die-after"] as const).map((kind) => ({ name, index, kind })));
}

/** Runs the script with a worker that dies at this point; another life of it finds what it left. `breaker` breaks ports of both. */
export async function crashAt(script: CrashScript, point: CrashPoint, breaker: Breaker = (ports) => ports): Promise<Crash> {
  const outcome = await runSeed({ scenario: loadScenario(script.scenario), seed: script.seed, failpoints: [point], breaker });
  const isMet = outcome.history.entries().some(({ happening }) => happening.kind === "fault" && happening.verdict === point.kind);
  return { script, point, outcome, isMet };
}

/** What is wrong with it; empty if every property held, the moves ended as they should and the worker died. */
export function crashComplaintsOf({ script, point, outcome, isMet }: Crash): readonly string[] {
  const where = `${point.kind} ${point.name} ${point.index}`;
  const ends = movesOfRun(outcome.history).join(", ");
  return [
    ...(isMet ? [] : [`${where}: no run comes to it`]),
    ...(ends === script.ends ? [] : [`${where}: moves came to ${ends}`]),
    ...outcome.violations.map(({ property, text }) => `${where}: ${property}, ${text}`),
  ];
}
