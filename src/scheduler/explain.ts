import { rfc3339 } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import type { Directive, Said } from "../domain/directive.ts";
import type { PlacementUnit } from "../domain/workspace.ts";
import { percent } from "./percent.ts";
import type { PlacementFacts } from "./place-unit.ts";
import type { SeatSummary } from "./placement-decision.ts";
import { causeText } from "./plan/cause-text.ts";
import type { MoveRecord } from "./plan/record.ts";
import { refusalText } from "./refusal-text.ts";
import type { SplitFacts } from "./split/split-decision.ts";

export interface Explained {
  readonly unit: PlacementUnit;
  readonly namespace: string;
  readonly directive: Directive;
  /** Newest first. */
  readonly decisions: readonly Decision[];
  readonly instanceName: (id: string) => string;
}

/** Why a unit lives where it does, as lines for a person: owner, the decision that put it there, who was refused and why. */
export function explainUnit({ unit, namespace, directive, decisions, instanceName }: Explained): readonly string[] {
  const where =
    unit.owner === undefined ? "waits for capacity" : `lives on ${instanceName(unit.owner)} (epoch ${unit.epoch}, ${unit.phase})`;
  const last = decisions.find(({ kind, verdict }) => kind === "placement" && !isAboutParts(verdict));
  const parts = decisions.find(({ verdict }) => isAboutParts(verdict));
  const repaired = decisions.find(({ kind }) => kind === "register");
  const head = [
    `workspace ${namespace} ${where}, class ${unit.class}`,
    ...explainDirective(directive, instanceName),
    ...explainParts(parts),
    ...(repaired === undefined ? [] : explainRepair(repaired)),
  ];
  if (last === undefined) return [...head, "  nothing was decided about it yet"];
  return [...head, ...(last.verdict === "MOVED" ? explainMove : explainPlacement)(last, instanceName)];
}

function isAboutParts(verdict: string): boolean {
  return verdict === "SPLIT" || verdict === "MERGED";
}

/** Into how many parts its workspace was cut last, and why. */
function explainParts(decision: Decision | undefined): readonly string[] {
  if (decision === undefined) return [];
  const { before, after, held } = decision.details as unknown as SplitFacts;
  const why =
    decision.verdict === "SPLIT"
      ? "together it takes more than a quarter of what the smallest instance should carry"
      : "fewer have done with 40 % to spare for seven days";
  const waits = held === 0 ? "" : `; ${held} buckets stay where they are, which takes live moves`;
  return [`  ${rfc3339(decision.at)} its workspace has ${after} parts instead of ${before}: ${why}${waits}`];
}

/** What people have ordered about it, one line each. */
function explainDirective({ pin, hold }: Directive, instanceName: (id: string) => string): readonly string[] {
  const pinned =
    pin === undefined ? [] : [`pinned to ${pin.kind === "pool" ? `pool ${pin.pool}` : instanceName(pin.instance)}${said(pin)}`];
  const held = hold === undefined ? [] : [`not moved until ${rfc3339(hold.until)} unless it must be${said(hold)}`];
  return [...pinned, ...held].map((line) => `  ${line}`);
}

/** That somebody else changed what gives the owner its right to write, and that it was put back. */
function explainRepair({ at, details }: Decision): readonly string[] {
  return typeof details["reason"] === "string" ? [`  ${rfc3339(at)} ${details["reason"]}`] : [];
}

function said({ actor, reason, at }: Said): string {
  return `, said ${actor} at ${rfc3339(at)}: ${reason}`;
}

/** The last move, with its cause and the instances that were passed over. */
function explainMove({ at, rule, details }: Decision, instanceName: (id: string) => string): readonly string[] {
  const { from, to, plan, actor, record } = details as unknown as MoveDetails;
  const head = `  ${rfc3339(at)} moved from ${from === null ? "nowhere" : instanceName(from)} to ${instanceName(to)}, ${rule}: plan ${plan}, carried out by ${actor}`;
  const refusals = record?.answer.refusals ?? [];
  const why = record === null ? [] : [`  because ${causeText(record.cause, instanceName)}`];
  return [
    head,
    ...why,
    ...refusals.map((refusal) => `  refused: ${instanceName(refusal.instance)}, ${refusalText(refusal, instanceName)}`),
  ];
}

interface MoveDetails {
  readonly from: string | null;
  readonly to: string;
  readonly plan: string;
  readonly actor: string;
  readonly record: MoveRecord | null;
}

function explainPlacement(decision: Decision, instanceName: (id: string) => string): readonly string[] {
  const facts = decision.details as unknown as PlacementFacts & { readonly chosen: string | null; readonly class?: SeatSummary };
  const at = rfc3339(decision.at);
  const preferred =
    facts.preferred === undefined ? "there was no instance in its class" : `the ring prefers ${instanceName(facts.preferred)}`;
  const chosen =
    facts.chosen === null
      ? `no instance had room under ${percent(facts.bound)}`
      : `${instanceName(facts.chosen)} was chosen: ${because(decision.rule, facts)}`;
  const refusals = facts.refusals.map((refusal) => `  refused: ${instanceName(refusal.instance)}, ${refusalText(refusal, instanceName)}`);
  return [`  ${at} ${preferred}; ${chosen}`, ...refusals, ...leftOut(facts), `  ${wouldMove(facts)}`];
}

/** Where nothing fitted and not every instance is named: what there was. */
function leftOut({ chosen, refusals, class: summary }: PlacementFacts & { readonly chosen: string | null; readonly class?: SeatSummary }) {
  if (chosen !== null || summary === undefined || summary.instances <= refusals.length) return [];
  const states = Object.entries(summary.byState).map(([state, count]) => `${count} ${state}`);
  return [`  refused: ${summary.instances - refusals.length} more of the ${summary.instances} instances (${states.join(", ")})`];
}

function because(rule: string, facts: PlacementFacts): string {
  const under = `stays under ${percent(facts.bound)} (fleet mean ${percent(facts.mean)})`;
  if (rule === "PREFERRED") return `it is preferred and ${under}`;
  if (rule === "SPILL") return `the first candidate that ${under}`;
  return `no candidate of the ring ${under.replace("stays", "stayed")}, it was the least loaded that did`;
}

function wouldMove(facts: PlacementFacts & { readonly chosen: string | null }): string {
  return facts.chosen === null ? "it is placed as soon as an instance has room" : "a ring that is computed anew does not move it";
}
