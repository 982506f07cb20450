import { rfc3339 } from "../../domain/clock.ts";
import { countText } from "../../domain/count-text.ts";
import type { StoredPlan } from "../../domain/plan.ts";
import { amountText } from "../amount-text.ts";
import { percent } from "../percent.ts";
import { refusalText } from "../refusal-text.ts";
import { approvalText } from "./plan-names.ts";
import { blockedByText, causeText, describeMetrics } from "./reason-text.ts";
import type { MoveRecord, StayRecord } from "./record.ts";
import type { Balance, PlanDocument } from "./report.ts";

interface Names {
  unit(id: string): string;
  instance(id: string | undefined): string;
}

/** A plan as sentences for a person: what moves and why, what that costs and gains, what blocked it, and which units were considered and left. */
export function describePlan(plan: StoredPlan): readonly string[] {
  const document = plan.report as unknown as PlanDocument;
  const names: Names = {
    unit: (id) => document.names.units[id] ?? id,
    instance: (id) => (id === undefined ? "nowhere" : (document.names.instances[id] ?? id)),
  };
  const records = plan.records as readonly MoveRecord[];
  return [
    `plan ${plan.id}: ${goalText(plan)} in class ${plan.class}, asked for by ${plan.actor} at ${rfc3339(plan.createdAt)}`,
    `  ${carryOut(plan, document)}`,
    `  ${describeMetrics(document.metrics)}`,
    `  mean use ${percent(document.mean)} in ${document.dimension}; too full above ${percent(document.bound)}, sheds to ${percent(document.shedTo)}`,
    `  before: ${balanceText(document.before, names)}; after: ${balanceText(document.after, names)}`,
    ...costLines(plan, document),
    ...section("moves", movesOf(plan, records, document, names)),
    ...section(
      "blocked by",
      document.blockedBy.map((blockedBy) => blockedByText(blockedBy, names.instance)),
    ),
    ...section("no instance has room for", notPlaced(document, names)),
    ...section(
      `considered and left (${document.left.count})`,
      document.left.shown.map((stay) => stayText(stay, names)),
    ),
    ...section(
      "needs more capacity",
      document.needsCapacity.map((id) => `${names.instance(id)} stays too full: ask for more instances of its pool in fleet.yaml`),
    ),
  ];
}

function goalText({ goal, subject }: StoredPlan): string {
  switch (goal) {
    case "rebalance":
      return "evening out";
    case "drain":
      return `emptying ${subject}`;
    case "add":
      return `what one more instance of pool ${subject} would take`;
    case "remove":
      return `what would follow if ${subject} were gone`;
  }
}

function carryOut({ id, goal, moves, expiresAt, appliedAt }: StoredPlan, document: PlanDocument): string {
  if (goal === "add" || goal === "remove") return "about a fleet that is not there: it is never carried out; change fleet.yaml";
  if (moves.length === 0) return "nothing to carry out";
  const approver = document.approval.length === 0 ? "" : `, by an approver (it moves much: ${approvalText(document)})`;
  const done = appliedAt === undefined ? "" : `carried out at ${rfc3339(appliedAt)}; `;
  return `${done}\`argosy apply ${id}\` carries it out until ${rfc3339(expiresAt)}${approver}`;
}

function balanceText({ worst, share, overMean, above }: Balance, names: Names): string {
  if (worst === undefined) return "no instance is ACTIVE";
  const ratio = overMean === 0 ? "" : ` (${Math.round(overMean / 10_000) / 100} × the mean)`;
  return `fullest ${names.instance(worst)} at ${percent(share)}${ratio}, ${above} too full`;
}

function costLines({ moves }: StoredPlan, { moved, lowerBound, shedTo, workspaces, moves: byReason }: PlanDocument): readonly string[] {
  if (moves.length === 0) return ["  moves nothing"];
  const reasons = Object.entries(byReason).flatMap(([reason, count]) => (count === 0 ? [] : [`${count} ${reason}`]));
  return [
    `  ${countText(moves.length, "move")} (${reasons.join(", ")}) of ${percent(moved)} of the load and ${workspaces.moved} of ${workspaces.of} workspaces`,
    `  needed at least: ${countText(lowerBound.moves, "move")} of ${percent(lowerBound.load)} of the load; ${percent(lowerBound.toTarget)} to shed down to ${percent(shedTo)}`,
  ];
}

function movesOf(
  { moves }: StoredPlan,
  records: readonly MoveRecord[],
  { deployed, dimension }: PlanDocument,
  names: Names,
): readonly string[] {
  return moves.flatMap(({ unit, from, to, reason }) => {
    const record = records.find(({ units, answer }) => units.includes(unit) && answer.chosen === to);
    const live = deployed.includes(unit) ? ", takes a live move" : "";
    const head = `${names.unit(unit)}: ${names.instance(from)} → ${names.instance(to)}, ${reason}${live}`;
    if (record === undefined) return [head];
    const refused = record.answer.refusals.map(
      (refusal) => `  refused ${names.instance(refusal.instance)}: ${refusalText(refusal, names.instance)}`,
    );
    return [head, `  ${causeText(record.cause, names.instance)}; moves ${amountText(record.question.load, dimension)}`, ...refused];
  });
}

function notPlaced({ unplaceable, withoutCandidate }: PlanDocument, names: Names): readonly string[] {
  return [...unplaceable, ...withoutCandidate].flatMap(({ units, cause, answer }) => [
    `${units.map(names.unit).join(", ")}: ${causeText(cause, names.instance)}`,
    ...answer.refusals.map((refusal) => `  refused ${names.instance(refusal.instance)}: ${refusalText(refusal, names.instance)}`),
  ]);
}

const STAYS: Readonly<Record<StayRecord["rule"], string>> = {
  MOVING: "it is being moved",
  DO_NOT_MOVE: "it is held",
  COOL_DOWN: "it cools down after a move",
  FAILED_BEFORE: "a move of it failed recently",
};

function stayText({ unit, instance, rule, until }: StayRecord, names: Names): string {
  const end = until === undefined ? "" : ` until ${rfc3339(until)}`;
  return `${names.unit(unit)} stays on ${names.instance(instance)}: ${STAYS[rule]}${end}`;
}

/** A title with its lines below it; nothing where there is none. */
export function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
}
