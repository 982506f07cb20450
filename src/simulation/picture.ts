import type { Photograph } from "./history.ts";
import type { RunOutcome } from "./run.ts";
import { movesOfRun } from "./summary.ts";

/** Longest bar, in characters. */
const WIDTH = 40;

/** A run for people: the troubles it had, where everything stands in the end, and which properties did not hold. */
export function drawOutcome(outcome: RunOutcome): string {
  const { scenario, seed, traceHash, events, simulatedMs, settledAfterMs, violations, history, last } = outcome;
  const troubles = history
    .entries()
    .flatMap(({ at, happening }) => (happening.kind === "chaos" ? [`  ${seconds(at)}  ${happening.what}`] : []));
  const faults = history.entries().filter(({ happening }) => happening.kind === "fault").length;
  const settled = settledAfterMs === undefined ? "it never agreed" : `it agreed ${seconds(settledAfterMs).trim()} after the last trouble`;
  return [
    `${scenario}, seed ${seed}: ${seconds(simulatedMs).trim()} simulated in ${events} events, trace ${traceHash.slice(0, 16)}`,
    ...troubles,
    ...(movesOfRun(history).length > 0 ? [`  moves: ${movesOfRun(history).join(", ")}`] : []),
    ...(faults > 0 ? [`  ${faults} calls lost, refused or late`] : []),
    "",
    ...drawFleet(last),
    "",
    violations.length === 0 ? `Every property held; ${settled}.` : `Broken, ${settled}:`,
    ...violations.map(({ property, at, text }) => `  ${seconds(at)}  ${property}: ${text}`),
  ].join("\n");
}

/** One line for each instance, with a block for each application, and the workspaces that they belong to. */
function drawFleet({ applications, rows, deployments }: Photograph): readonly string[] {
  const instances = [...new Set([...applications.map(({ instance }) => instance), ...rows.map(({ owner }) => owner ?? "nowhere")])].sort();
  const most = Math.max(1, ...instances.map((name) => applications.filter(({ instance }) => instance === name).length));
  const ready = deployments.filter(({ isReady }) => isReady).length;
  const lines = instances.map((name) => {
    const count = applications.filter(({ instance }) => instance === name).length;
    const owners = rows.filter(({ owner }) => owner === name).map(({ namespace }) => namespace);
    const bar = "█".repeat(Math.ceil((count / most) * Math.min(WIDTH, most)));
    return `  ${name.padEnd(12)} ${bar.padEnd(Math.min(WIDTH, most))} ${String(count).padStart(4)}  ${tally(owners)}`;
  });
  return [...lines, `  ${deployments.length} deployments, ${ready} of them ready`];
}

function tally(names: readonly string[]): string {
  return [...new Set(names)]
    .sort()
    .map((name) => `${name} (${names.filter((each) => each === name).length})`)
    .join(" ");
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1).padStart(7)} s`;
}
