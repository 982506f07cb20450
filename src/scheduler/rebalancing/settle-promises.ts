import { type Millis, rfc3339 } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import { fallsBackUntil, type MeanLoads, type MeasuredPromise, type ReliefPromise, TRUST } from "../../domain/rebalancing.ts";
import { percent } from "../percent.ts";
import { judgePromise, type PromiseFacts, type PromiseOutcome, together } from "./relief-promise.ts";

/** What is remembered of a class's promises from one plan to the next. */
export interface PromiseState {
  readonly meanLoads?: MeanLoads | undefined;
  /** Those that were not measured yet: one of an instance at most. */
  readonly promises?: readonly ReliefPromise[] | undefined;
  /** The last ones that were, newest first. */
  readonly measured?: readonly MeasuredPromise[] | undefined;
}

/** Measures the promises that can be measured now. Returns what is remembered from now on, and an entry for the journal of each that has ended. */
export function settlePromises<State extends PromiseState>(
  state: State,
  facts: PromiseFacts & { readonly class: string },
  at: Millis,
): { readonly state: State; readonly decisions: readonly Decision[] } {
  const { promises = [], meanLoads: means = {} } = state;
  if (promises.length === 0) return { state, decisions: [] };
  const ends = promises.map((promise) => ({ promise, outcome: judgePromise(promise, facts, { means, at }) }));
  const open = ends.filter(({ outcome }) => outcome.kind === "open").map(({ promise }) => promise);
  let { measured = [] } = state;
  const decisions = ends.flatMap(({ promise, outcome }) => {
    if (outcome.kind === "open") return [];
    if (outcome.kind === "measured") measured = [{ at, isKept: outcome.isKept }, ...measured].slice(0, TRUST.ofLast);
    return [decisionOf(promise, outcome, { at, className: facts.class, measured })];
  });
  return { state: { ...state, promises: open, measured }, decisions };
}

/** Adds new promises to those that are open. */
export function withPromises<State extends PromiseState>(state: State, fresh: readonly ReliefPromise[]): State {
  const { promises = [] } = state;
  const others = promises.filter(({ instance }) => fresh.every((each) => each.instance !== instance));
  const added = fresh.map((each) => {
    const known = promises.find(({ instance }) => instance === each.instance);
    return known === undefined || known.dimension !== each.dimension ? each : together(known, each);
  });
  return { ...state, promises: [...others, ...added] };
}

function decisionOf(
  { plan, instance, dimension, since, before }: ReliefPromise,
  outcome: Exclude<PromiseOutcome, { readonly kind: "open" }>,
  { at, className, measured }: { readonly at: Millis; readonly className: string; readonly measured: readonly MeasuredPromise[] },
): Decision {
  const about = { class: className, plan, from: instance, dimension, since };
  const entry = { at, subject: plan, kind: "plan" } as const;
  if (outcome.kind === "void")
    return { ...entry, verdict: "NOT_MEASURED", rule: outcome.rule, details: { ...about, reason: VOID[outcome.rule] } };
  const { expected, real, after, moves } = outcome;
  const reason = `${percent(expected)} of the load of the class were to leave, ${percent(real)} did`;
  const until = outcome.isKept ? undefined : fallsBackUntil(measured);
  const details = {
    ...{ ...about, before, after, expected, real, moves, reason },
    ...(until === undefined ? {} : { fallsBackUntil: rfc3339(until) }),
  };
  return { ...entry, verdict: outcome.isKept ? "KEPT" : "BROKEN", rule: "PROMISE", details };
}

const VOID = {
  NOTHING_MOVED: "nothing of it was moved in the end",
  NOT_MEASURED: "for hours it could not be measured",
} as const;
