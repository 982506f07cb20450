import type { Decision } from "../../../domain/decision.ts";
import { parseDecision } from "../../../domain/parse-decision.ts";
import type { DecisionFilter, DecisionStore } from "../../decision/port.ts";
import type { Transact } from "./tables.ts";

export function createMemoryDecisionStore(transact: Transact): DecisionStore {
  return {
    append: (decisions, signal) => transact(signal, ({ tables }) => void tables.decisions.push(...decisions)),
    list: (filter, limit, signal) =>
      transact(signal, ({ tables }) => {
        const wanted = tables.decisions.filter((decision) => passes(decision, filter));
        // Later entries first; a stable sort keeps those of one moment in the order they were written, backwards.
        return wanted
          .toReversed()
          .sort((a, b) => b.at - a.at)
          .slice(0, limit)
          .map(parseDecision);
      }),
  };
}

function passes({ at, subject, kind, verdict }: Decision, filter: DecisionFilter): boolean {
  const subjects = filter.subject === undefined ? filter.subjects : [filter.subject];
  if (subjects !== undefined && !subjects.includes(subject)) return false;
  if (filter.kind !== undefined && kind !== filter.kind) return false;
  return (filter.verdict === undefined || verdict === filter.verdict) && (filter.since === undefined || at >= filter.since);
}
