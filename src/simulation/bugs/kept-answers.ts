import type { Clock } from "../../domain/clock.ts";
import type { ManagedCluster } from "../../mover/port.ts";

/** Repeats an answer for so long, as if all questions went over one connection, which leads to one of several API servers. */
export function keptFor(ms: number, clock: Pick<Clock, "monotonicMs">, ask: ManagedCluster["ask"]): ManagedCluster["ask"] {
  const kept = new Map<string, { readonly atMs: number; readonly answers: ReturnType<ManagedCluster["ask"]> }>();
  return (user, namespace, signal) => {
    const key = `${user} ${namespace}`;
    const before = kept.get(key);
    if (before !== undefined && clock.monotonicMs() - before.atMs < ms) return before.answers;
    const answers = ask(user, namespace, signal);
    kept.set(key, { atMs: clock.monotonicMs(), answers });
    return answers;
  };
}
