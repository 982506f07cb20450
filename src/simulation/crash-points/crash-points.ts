import type { Breaker } from "../fleet/argosy.ts";
import { type Outcome, runSeed } from "../run.ts";
import { loadScenario } from "../scenarios/load.ts";
import { movesOf } from "../summary.ts";
import type { CallMade, Failpoint } from "../world/failpoints.ts";

/** A moment at which a worker dies: before one of its writes, or after it was carried out and before the answer came. */
export type CrashPoint = Failpoint & { readonly kind: "die-before" | "die-after" };

/** What became of a run in which a worker died at one point. */
export interface Crash {
  readonly point: CrashPoint;
  readonly outcome: Outcome;
  /** It died there: a point that no run comes to shows nothing. */
  readonly isMet: boolean;
}

const SCENARIO = "move-one";
/** A seed in which the one move ends. */
const SEED = 1;
/** Reads, watches, looks at who is alive, and questions that change nothing. */
const NO_WRITE = /\.(GET|WATCH)\.|selfsubjectaccessreviews|^api\.POST\.configmaps$|^store\.(?!moves\.(begin|advance|commit|note|abort))/;

/** Every external write from a move's beginning to its end, before it and after its effect, in the order in which the writes are made. */
export async function listCrashPoints(): Promise<readonly CrashPoint[]> {
  const made: CallMade[] = [];
  let [isUnderWay, isOver] = [false, false];
  const onCall = (call: CallMade): void => {
    isUnderWay ||= call.name === "store.moves.begin";
    if (isUnderWay && !isOver && call.from.startsWith("argosy-") && !NO_WRITE.test(call.name)) made.push(call);
  };
  const onMoved = (phase: string): void => {
    isOver ||= phase === "DONE";
  };
  await runSeed({ scenario: loadScenario(SCENARIO), seed: SEED, onCall, onMoved });
  return made.flatMap(({ name, index }) => (["die-before", "die-after"] as const).map((kind) => ({ name, index, kind })));
}

/** Runs the script with a worker that dies at this point; another life of it finds what it left. `breaker` breaks ports of both. */
export async function crashAt(point: CrashPoint, breaker: Breaker = (ports) => ports): Promise<Crash> {
  const outcome = await runSeed({ scenario: loadScenario(SCENARIO), seed: SEED, failpoints: [point], breaker });
  const isMet = outcome.history.entries().some(({ happening }) => happening.kind === "fault" && happening.verdict === point.kind);
  return { point, outcome, isMet };
}

/** What is wrong with it; nothing when every property held, the move went all the way and somebody had died. */
export function complaintsOf({ point, outcome, isMet }: Crash): readonly string[] {
  const where = `${point.kind} ${point.name} ${point.index}`;
  const ends = movesOf(outcome.history).join(", ");
  return [
    ...(isMet ? [] : [`${where}: no run comes to it`]),
    ...(ends === "1 DONE" ? [] : [`${where}: the move came to ${ends}`]),
    ...outcome.violations.map(({ property, text }) => `${where}: ${property}, ${text}`),
  ];
}
