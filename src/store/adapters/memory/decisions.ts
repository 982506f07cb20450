import type { DecisionStore } from "../../decision/port.ts";
import type { Transact } from "./tables.ts";

export function createDecisionStore(transact: Transact): DecisionStore {
  return {
    append: (decisions, signal) => transact(signal, ({ tables }) => void tables.decisions.push(...decisions)),
    list: ({ subject, kind }, limit, signal) =>
      transact(signal, ({ tables }) => {
        const wanted = tables.decisions.filter(
          (decision) => (subject === undefined || decision.subject === subject) && (kind === undefined || decision.kind === kind),
        );
        // Later entries first; a stable sort keeps those of one moment in the order they were written, backwards.
        return wanted
          .toReversed()
          .sort((a, b) => b.at - a.at)
          .slice(0, limit);
      }),
  };
}
