import { type Millis, rfc3339 } from "../domain/clock.ts";
import { countText } from "../domain/count-text.ts";
import type { Decision } from "../domain/decision.ts";
import { decisionText, type InstanceNaming } from "../domain/decision-text.ts";
import type { Directive, Freeze, Pin, Said } from "../domain/directive.ts";
import { groupsText, type WorkspaceGroups } from "../domain/groups.ts";
import type { Instance } from "../domain/instance.ts";
import type { Move } from "../domain/move.ts";
import { PHASES } from "../domain/move-phases.ts";
import type { StoredPlan } from "../domain/plan.ts";
import type { PlacementUnit } from "../domain/workspace.ts";
import { percent } from "./percent.ts";
import type { Refusal } from "./place-unit.ts";
import { freezeAt } from "./plan/assemble.ts";
import { planNames } from "./plan/plan-names.ts";
import { causeText } from "./plan/reason-text.ts";
import { refusalText } from "./refusal-text.ts";
import { type RecordedMove, type RecordedPlacement, recordedMove, recordedPlacement } from "./schema.ts";

export interface Explained {
  readonly unit: PlacementUnit;
  /** All parts of its workspace; absent: it is the only one. */
  readonly parts?: readonly PlacementUnit[] | undefined;
  readonly namespace: string;
  readonly directive: Directive;
  /** Of its workspace; absent: it is in none. */
  readonly groups?: WorkspaceGroups | undefined;
  /** Decisions about the unit, and what people have ordered about its workspace; newest first. */
  readonly decisions: readonly Decision[];
  /** The instance that owns it. */
  readonly owner: Instance | undefined;
  /** Its live move, if it has one that has not ended. */
  readonly move: Move | undefined;
  /** Plans of its class, newest first. */
  readonly plans: readonly StoredPlan[];
  /** Every freeze there is; absent: none. */
  readonly freezes?: readonly Freeze[];
  readonly instanceName: InstanceNaming;
  readonly now: Millis;
}

/** How many entries of the journal are shown; `argosy journal` shows all of them. */
const REPORTED = 12;

/**
 * The whole story of a unit, as lines for a person: where it lives, what people have ordered, what is under way, what happens next, and
 * what was decided about it, the newest first. The decision that put it where it lives is shown with the facts it rests on.
 */
export function explainUnit(about: Explained): readonly string[] {
  const { unit, namespace, directive, decisions, instanceName } = about;
  const where =
    unit.owner === undefined ? "waits for capacity" : `lives on ${instanceName(unit.owner)} (epoch ${unit.epoch}, ${unit.phase})`;
  const story = decisions.slice(0, REPORTED);
  const last = decisions.find(isAboutItsPlace);
  const reported = last === undefined || story.includes(last) ? story : [...story, last];
  const more = decisions.length - reported.length;
  return [
    `workspace ${namespace} ${where}, class ${unit.class}${unit.wantedClass === undefined ? "" : `, and is to have ${unit.wantedClass}`}`,
    ...explainPart(about),
    ...explainGroups(about),
    ...explainDirective(directive, instanceName),
    ...explainMove(about),
    `  next: ${nextText(about)}`,
    ...(reported.length === 0 ? ["  nothing was decided about it yet"] : []),
    ...reported.flatMap((decision) => [
      `  ${rfc3339(decision.at)} ${decisionText(decision, instanceName)}`,
      ...(decision === last ? basis(decision, about).map((line) => `    ${line}`) : []),
    ]),
    ...(more > 0 ? [`  and ${more} more: \`argosy journal --workspace ${namespace}\``] : []),
  ];
}

/** Whether a decision says where the unit lives; that a move was asked for or given up does not. */
function isAboutItsPlace({ kind, verdict }: Decision): boolean {
  return kind === "placement" && ["CHOSEN", "UNPLACEABLE", "MOVED", "RECOVERED"].includes(verdict);
}

/** Which part it is, and what passes between it and another one. */
function explainPart({ unit, parts = [], instanceName }: Explained): readonly string[] {
  if (parts.length < 2) return [];
  const here = parts.filter(({ id, owner }) => id !== unit.id && owner !== undefined && owner === unit.owner);
  const numberOf = (id: string | undefined): number | undefined => parts.find((part) => part.id === id)?.bucket;
  const instance = unit.owner === undefined ? "" : instanceName(unit.owner);
  const [joined, taker] = [numberOf(unit.joins), here.find(({ tookFrom }) => tookFrom === unit.id)];
  const source = here.find(({ id }) => id === unit.tookFrom);
  return [
    `  part ${unit.bucket} of ${countText(parts.length, "part")}`,
    ...(joined === undefined ? [] : [`  is joined with part ${joined}, which takes its applications over once both are on one instance`]),
    ...(taker === undefined || joined !== undefined
      ? []
      : [`  is to leave ${instance}: part ${taker.bucket} has taken over what stays there`]),
    ...(source === undefined
      ? []
      : [`  has taken applications over from part ${source.bucket}, and stays on ${instance} until that is gone from there`]),
  ];
}

/** Who lives with it, and who must not. */
function explainGroups({ groups }: Explained): readonly string[] {
  const text = groupsText(groups);
  return text === "" ? [] : [`  in groups by labels of its namespace: ${text}`];
}

/** What people have ordered about it, one line each. */
function explainDirective({ pin, hold, assigned }: Directive, instanceName: InstanceNaming): readonly string[] {
  const classed = assigned === undefined ? [] : [`assigned to class ${assigned.class}${said(assigned)}`];
  const pinned = pin === undefined ? [] : [`pinned to ${pinText(pin, instanceName)}${said(pin)}`];
  const held = hold === undefined ? [] : [`not moved until ${rfc3339(hold.until)} unless it must be${said(hold)}`];
  return [...classed, ...pinned, ...held].map((line) => `  ${line}`);
}

function pinText(pin: Pin, instanceName: InstanceNaming): string {
  return pin.kind === "pool" ? `pool ${pin.pool}` : instanceName(pin.instance);
}

function said({ actor, reason, at }: Said): string {
  return `, said ${actor} at ${rfc3339(at)}: ${reason}`;
}

/** The move that is under way, or waits for its turn. */
function explainMove({ move, instanceName }: Explained): readonly string[] {
  if (move === undefined) return [];
  const { from, to, phase, phaseSince, actor, plan, isFailOver } = move;
  const what =
    phase === "WAITING"
      ? `waits for its turn to be moved from ${instanceName(from)} to ${instanceName(to)}`
      : `being moved from ${instanceName(from)} to ${instanceName(to)}`;
  const ordered = `asked for by ${actor}${plan === undefined ? "" : `, a step of plan ${plan}`}${isFailOver ? ", a fail-over" : ""}`;
  return [`  ${what}: in ${phase} since ${rfc3339(phaseSince)}, ${ordered}${waiting(move)}`];
}

/** A message that is no wait says how the move ends. */
function waiting({ message, messageCode }: Move): string {
  if (message === "") return "";
  return messageCode === "WAITS" ? `; waits ${message}` : `; ${message}`;
}

/** What happens to it next, and who has to do something for it. */
function nextText(about: Explained): string {
  const { unit, owner, move, directive, instanceName } = about;
  if (move !== undefined) return nextOfMove(move, instanceName);
  if (unit.owner === undefined) return "it is placed as soon as an instance has room";
  if (unit.isRegrouped === true)
    return "its groups were changed: it is handed over if somebody is there from whom it must be apart, as soon as an instance takes it";
  if (unit.wantedClass !== undefined) return nextClassText(unit.wantedClass, about);
  const proposed = proposedFor(about);
  if (proposed !== undefined) return proposed;
  const { pin } = directive;
  if (pin !== undefined && owner !== undefined && !isWherePinned(pin, owner))
    return `it is to go to ${pinText(pin, instanceName)}, as ordered: \`argosy plan\` says how; the scheduler proposes it within two minutes`;
  if (owner === undefined) return "its instance is gone: `argosy plan` says where it goes";
  if (owner.state === "DRAINING") return `it leaves ${owner.name}, which is emptied: \`argosy drain ${owner.name}\` shows how far that is`;
  if (owner.state === "FAILED") return `${owner.name} has failed: \`argosy plan\` says where it could go`;
  return "it stays where it is: nothing asks for a move, and a ring that is computed anew does not move it";
}

/** What keeps a change of class, or that it is tried. */
function nextClassText(wanted: string, { directive: { hold }, freezes = [], now }: Explained): string {
  const freeze = freezeAt(freezes, now);
  const then = `it is handed over to an instance of class ${wanted}, which it is to have`;
  if (hold !== undefined && hold.until > now) return `${then}, once it may be moved: after ${rfc3339(hold.until)}`;
  if (freeze !== undefined) return `${then}, once no freeze holds: after ${rfc3339(freeze.until)} (${freeze.reason})`;
  return `${then}, as soon as one takes it: what was decided last says what keeps it`;
}

function nextOfMove({ id, phase, from, to }: Move, instanceName: InstanceNaming): string {
  if (phase === "ABORT") return `it stays on ${instanceName(from)}, once ${instanceName(to)} is empty of it`;
  if (PHASES[phase].isRevocable) return `${instanceName(to)} takes over; \`argosy move abort ${id}\` leaves it where it is`;
  return `${instanceName(to)} has taken over; what is left on ${instanceName(from)} is removed`;
}

/** A plan that may still be carried out and moves it from where it is. */
function proposedFor({ unit, plans, instanceName, now }: Explained): string | undefined {
  for (const plan of plans) {
    if (plan.expiresAt <= now || plan.appliedAt !== undefined || plan.goal === "add" || plan.goal === "remove") continue;
    const step = plan.moves.find((each) => each.unit === unit.id && each.epoch === unit.epoch && each.to !== unit.owner);
    if (step === undefined) continue;
    const { approval } = planNames(plan);
    const approver = approval.length === 0 ? "" : `; it needs an approver (it moves much: ${approval.join(", ").toLowerCase()})`;
    return `\`argosy apply ${plan.id}\` moves it to ${instanceName(step.to)} (${step.reason}, proposed by ${plan.actor}, until ${rfc3339(plan.expiresAt)})${approver}`;
  }
  return undefined;
}

function isWherePinned(pin: Pin, owner: Instance): boolean {
  return pin.kind === "pool" ? owner.pool === pin.pool : owner.id === pin.instance;
}

/** What the decision about its place rests on, as far as it was recorded. */
function basis(decision: Decision, { plans, instanceName }: Explained): readonly string[] {
  if (decision.verdict === "MOVED") return basisOfMove(recordOf(decision, plans), instanceName);
  const { data } = recordedPlacement.safeParse(decision.details);
  return data === undefined ? [] : basisOfPlacement(decision.rule, data, instanceName);
}

/** What a plan's choice was recorded with: in the entry itself, or in the plan whose step the live move was. */
function recordOf({ subject, details }: Decision, plans: readonly StoredPlan[]): RecordedMove | undefined {
  const own = recordedMove.safeParse(details["record"]);
  if (own.success) return own.data;
  const records = plans.find(({ id }) => id === details.plan)?.records ?? [];
  return records
    .flatMap((record) => recordedMove.safeParse(record).data ?? [])
    .find(({ units, answer }) => units.includes(subject) && answer.chosen === details.to);
}

function basisOfMove(record: RecordedMove | undefined, instanceName: InstanceNaming): readonly string[] {
  if (record === undefined) return [];
  return [`because ${causeText(record.cause, instanceName)}`, ...refused(record.answer.refusals, instanceName)];
}

function basisOfPlacement(rule: string, facts: RecordedPlacement, instanceName: InstanceNaming): readonly string[] {
  const preferred =
    facts.preferred === undefined ? "there was no instance in its class" : `the ring prefers ${instanceName(facts.preferred)}`;
  const chosen =
    facts.chosen === null
      ? `no instance had room under ${percent(facts.bound)}`
      : `${instanceName(facts.chosen)} was chosen: ${chosenBecause(rule, facts)}`;
  return [`${preferred}; ${chosen}`, ...refused(facts.refusals, instanceName), ...leftOut(facts)];
}

function refused(refusals: readonly Refusal[], instanceName: InstanceNaming): readonly string[] {
  return refusals.map((refusal) => `refused: ${instanceName(refusal.instance)}, ${refusalText(refusal, instanceName)}`);
}

/** Where nothing fitted and not every instance is listed: how many more there were, by state. */
function leftOut({ chosen, refusals, class: summary }: RecordedPlacement): readonly string[] {
  if (chosen !== null || summary === undefined || summary.instances <= refusals.length) return [];
  const states = Object.entries(summary.byState).map(([state, count]) => `${count} ${state}`);
  return [`refused: ${summary.instances - refusals.length} more of the ${summary.instances} instances (${states.join(", ")})`];
}

function chosenBecause(rule: string, facts: RecordedPlacement): string {
  const under = `stays under ${percent(facts.bound)} (fleet mean ${percent(facts.mean)})`;
  if (rule === "PREFERRED") return `it is preferred and ${under}`;
  if (rule === "SPILL") return `the first candidate that ${under}`;
  return `no candidate of the ring ${under.replace("stays", "stayed")}, it was the least loaded that did`;
}
