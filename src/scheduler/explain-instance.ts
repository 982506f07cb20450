import { type Millis, rfc3339 } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import { decisionText } from "../domain/decision-text.ts";
import type { Instance } from "../domain/instance.ts";
import { LOAD_DIMENSIONS, type LoadVector } from "../domain/load.ts";
import { amountText } from "./amount-text.ts";
import { percent } from "./percent.ts";
import { shareOf } from "./utilisation.ts";

export interface ExplainedInstance {
  readonly instance: Instance;
  /** Planning load of its units, and how many there are. */
  readonly load: LoadVector;
  readonly units: number;
  readonly measured: { readonly at: Millis; readonly total: LoadVector } | undefined;
  readonly aboveSince: Millis | undefined;
  readonly overloadedSince: Millis | undefined;
  /** Decisions about it, newest first. */
  readonly decisions: readonly Decision[];
}

const DECISIONS_SHOWN = 10;

/** Why an instance is as it is, as lines for a person: its state, how full it is, since when too full, and what was decided about it. */
export function explainInstance({
  instance,
  load,
  units,
  measured,
  aboveSince,
  overloadedSince,
  decisions,
}: ExplainedInstance): readonly string[] {
  const { name, state, stateSince, reason, pool, version, capacity } = instance;
  const used = LOAD_DIMENSIONS.map((dimension) => {
    const share = shareOf(load[dimension], capacity[dimension]);
    return `  ${amountText(load, dimension)} of ${amountText(capacity, dimension).split(" ")[0]}, ${percent(share)}`;
  });
  return [
    `instance ${name} is ${state} since ${rfc3339(stateSince)}${reason === "" ? "" : `: ${reason}`}`,
    `  pool ${pool}, class ${instance.class}, Argo CD ${version}, ${units} placement units`,
    ...used,
    measured === undefined ? "  it was never measured" : `  it was measured at ${rfc3339(measured.at)}`,
    ...(aboveSince === undefined
      ? []
      : [`  too full since ${rfc3339(aboveSince)}: plans move units away once that has lasted half a day, or an hour beyond 90 %`]),
    ...(overloadedSince === undefined ? [] : [`  overloaded since ${rfc3339(overloadedSince)}: plans move units away at once`]),
    ...decisions.slice(0, DECISIONS_SHOWN).map(lineOf),
  ];
}

function lineOf(decision: Decision): string {
  const { at, verdict, rule } = decision;
  const text = decisionText(decision, (id) => id);
  return `  ${rfc3339(at)} ${verdict} (${rule})${text.startsWith(verdict) ? "" : `: ${text}`}`;
}
