import type { Entry, History } from "./history.ts";
import type { RunOutcome } from "./run.ts";

/** What came of a run, without what every change of the code would change: how many calls it took, and when. */
export function summarize({ scenario, seed, history, last, settledAfterMs, violations }: RunOutcome): readonly string[] {
  const acts = counted(history.entries(), ({ happening }) =>
    happening.kind === "user" ? happening.act : happening.kind === "push" ? "push" : undefined,
  );
  const troubles = history.entries().filter(({ happening }) => happening.kind === "chaos").length;
  const ends = movesOfRun(history);
  const parts = counted(history.entries(), ({ happening }) => (happening.kind === "parts" ? happening.act : undefined));
  return [
    `${scenario}, seed ${seed}`,
    `  users: ${acts.join(", ") || "nobody"}; troubles: ${troubles}`,
    ...(ends.length === 0 ? [] : [`  moves: ${ends.join(", ")}`]),
    ...(parts.length === 0 ? [] : [`  parts: ${parts.join(", ")}`]),
    `  stand: ${last.deployments.length} deployments, ${last.rows.length} rows, ${last.applications.length} applications, ${last.objects.length} objects, ${last.ownerBindings.length} owner bindings`,
    `  ${settledAfterMs === undefined ? "never settled" : "settled in time"}; ${violations.length} properties broken`,
  ];
}

/** How many live moves are in which phase at the end. */
export function movesOfRun(history: History): readonly string[] {
  const phases = new Map<string, string>();
  for (const { happening } of history.entries()) if (happening.kind === "move") phases.set(happening.id, happening.phase);
  const counts = Map.groupBy(phases.values(), (phase) => phase);
  return [...counts].map(([phase, all]) => `${all.length} ${phase}`).sort();
}

function counted(entries: readonly Entry[], nameOf: (entry: Entry) => string | undefined): readonly string[] {
  const counts = new Map<string, number>();
  for (const entry of entries) {
    const name = nameOf(entry);
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${count} ${name}`);
}
