import type { Millis } from "../domain/clock.ts";
import type { ObservedComponent, ObservedInstance } from "../domain/engine.ts";
import { type Instance, type InstanceCause, RAISABLE_AMOUNTS, type RaisableAmount, type RaisedResources } from "../domain/instance.ts";
import { isRaiseUnderWay } from "../domain/raised-resources.ts";
import type { InstanceEvent } from "./life-cycle.ts";
import { attemptOffsetMs, DEADLINES_MS, MAX_ATTEMPTS, RAISE_MS, TROUBLED_MS } from "./life-cycle.ts";
import { COMPONENT_NAMES } from "./manifests/names.ts";

/** Whether the instance's manifests can be rendered, and the hash of what they should be. */
export type WantedInstance =
  | { readonly kind: "renderable"; readonly hash: string }
  | { readonly kind: "impossible"; readonly reason: string };

export interface InstanceFacts {
  readonly instance: Instance;
  readonly observed: ObservedInstance;
  readonly wanted: WantedInstance;
  /** How many units the instance holds. */
  readonly units: number;
  readonly now: Millis;
}

export interface ProvisionChange {
  readonly kind: "change";
  readonly event: InstanceEvent;
  readonly reason: string;
  readonly cause?: InstanceCause | undefined;
  readonly attempt: number;
}

/** The next step of an instance. There is always exactly one. */
export type ProvisionStep =
  | ProvisionChange
  /** Write the objects that are not as declared. `then` follows once all of them are written. */
  | { readonly kind: "apply"; readonly then: ProvisionChange | undefined; readonly againAfterMs: number | undefined }
  /** All pods run the requested release: record it. */
  | { readonly kind: "upgraded"; readonly version: string }
  /** Resources that it was given run, or are taken back because its pods do not get ready with them: record it. */
  | { readonly kind: "raised"; readonly raised: RaisedResources; readonly isTakenBack: boolean; readonly reason: string }
  /** The controller was to be stopped, and its pod is gone: record it. */
  | { readonly kind: "halted" }
  /** Nothing but to record what the instance waits for. */
  | { readonly kind: "say"; readonly reason: string; readonly cause: InstanceCause }
  | { readonly kind: "deleteNamespace" }
  | { readonly kind: "wait"; readonly afterMs: number; readonly reason: string }
  | { readonly kind: "rest" };

/** When to observe again something that no event announces, in ms. */
const SOON_MS = 2_000;
const WARMING_MS = 5_000;
const AWAY_MS = 15_000;

/** Decides the next step of an instance, from its row, what was observed and the time. */
export function nextProvisionStep(facts: InstanceFacts): ProvisionStep {
  switch (facts.instance.state) {
    case "REQUESTED":
      return facts.wanted.kind === "impossible"
        ? giveUp(facts, facts.wanted.reason)
        : change(facts, "begin", "its objects are being created");
    case "CREATING":
      return stepOfCreating(facts);
    case "WARMING":
      return stepOfWarming(facts);
    case "ACTIVE":
    case "CORDONED":
      return maintain(facts);
    case "DRAINING":
      if (isStopped(facts)) return { kind: "halted" };
      return facts.units > 0 ? soonAgain(maintain(facts)) : stepOfLeaving(facts);
    case "FAILED":
      return stepOfFailed(facts);
    case "RETIRED":
      // A process that was late wrote it once more. Nobody else will ever delete it.
      return facts.observed.namespace === "ours" && facts.units === 0 ? { kind: "deleteNamespace" } : { kind: "rest" };
  }
}

/** The step after a creation was refused: another attempt, or none. */
export function afterRefusal(facts: Pick<InstanceFacts, "instance">, reason: string, cause?: InstanceCause): ProvisionChange {
  const attempt = facts.instance.attempt + 1;
  if (attempt < MAX_ATTEMPTS)
    return { kind: "change", event: "attemptFailed", reason: `attempt ${attempt} of ${MAX_ATTEMPTS} failed: ${reason}`, cause, attempt };
  return { kind: "change", event: "giveUp", reason: `given up after ${attempt} attempts: ${reason}. ${AFTER_GIVING_UP}`, attempt };
}

/** What an SRE can do about a creation that was given up, and what happens otherwise. */
const AFTER_GIVING_UP = `Mend that: it is tried again every ${(DEADLINES_MS.FAILED ?? 0) / 60_000} minutes, and at once when fleet.yaml changes for it`;

function stepOfCreating(facts: InstanceFacts): ProvisionStep {
  const { instance, observed, wanted, now } = facts;
  if (wanted.kind === "impossible") return giveUp(facts, wanted.reason);
  if (observed.namespace === "foreign") return giveUp(facts, foreignReason(instance, observed.owner), { code: "NAMESPACE_TAKEN" });
  if (isOverdue(facts)) return giveUp(facts, `it could not be created in time: ${whyNotCreated(facts)}. ${AFTER_GIVING_UP}`);
  if (isDeclaredAnew(facts)) return DECLARED_ANEW;
  if (observed.namespace === "unknown") return { kind: "wait", afterMs: AWAY_MS, reason: observed.reason };
  if (observed.namespace === "terminating")
    return { kind: "wait", afterMs: SOON_MS, reason: `namespace ${instance.namespace} is still being deleted` };
  const startsInMs = instance.stateSince + attemptOffsetMs(instance.attempt) - now;
  if (startsInMs > 0) return { kind: "wait", afterMs: startsInMs, reason: instance.reason };
  const then =
    instance.attempt === 0
      ? change(facts, "applied", "waiting for its pods")
      : { ...change(facts, "applied", `waiting for its pods again: ${instance.reason}`), cause: instance.cause };
  return { kind: "apply", then, againAfterMs: undefined };
}

function stepOfWarming(facts: InstanceFacts): ProvisionStep {
  const { instance, observed, wanted } = facts;
  if (wanted.kind === "impossible") return giveUp(facts, wanted.reason);
  if (observed.namespace === "foreign") return giveUp(facts, foreignReason(instance, observed.owner), { code: "NAMESPACE_TAKEN" });
  if (observed.namespace === "absent" || observed.namespace === "terminating")
    return afterRefusal(facts, `namespace ${instance.namespace} was deleted`);
  if (observed.namespace === "ours" && areReady(observed.components)) return change(facts, "ready", "all its pods are ready");
  const missing = observed.namespace === "unknown" ? observed.reason : whyNotReady(observed.components);
  const trouble = troubleOf(observed);
  const cause = trouble === undefined ? undefined : ({ code: "PODS", trouble } as const);
  if (isOverdue(facts) || isHopeless(facts)) return afterRefusal(facts, missing, cause);
  const isSaid = instance.cause?.code === "PODS" && instance.cause.trouble === trouble;
  if (cause !== undefined && !isSaid) return { kind: "say", reason: `waiting for its pods: ${cause.trouble}`, cause };
  return observed.namespace === "unknown"
    ? { kind: "wait", afterMs: AWAY_MS, reason: missing }
    : { kind: "apply", then: undefined, againAfterMs: WARMING_MS };
}

/** Keeps an instance that serves units as declared. A deleted namespace is created again. */
function maintain({ instance, observed, wanted, now }: InstanceFacts): ProvisionStep {
  if (observed.namespace === "unknown") return { kind: "wait", afterMs: AWAY_MS, reason: observed.reason };
  if (observed.namespace === "foreign") return { kind: "wait", afterMs: AWAY_MS, reason: foreignReason(instance, observed.owner) };
  if (observed.namespace === "terminating")
    return { kind: "wait", afterMs: SOON_MS, reason: `namespace ${instance.namespace} is being deleted` };
  // Without a declaration it stays as it is: a pool that fleet.yaml leaves out is not to be changed.
  if (wanted.kind === "impossible") return settledUndeclared(instance) ?? { kind: "rest" };
  const isChanging = instance.version !== instance.desiredVersion;
  const runsWhatIsWritten = observed.namespace === "ours" && instance.appliedHash === wanted.hash && areReady(observed.components);
  if (isChanging && runsWhatIsWritten) return { kind: "upgraded", version: instance.desiredVersion };
  const raised = isChanging ? undefined : nextRaised({ instance, observed, now }, runsWhatIsWritten);
  if (raised !== undefined) return raised;
  const againAfterMs = instance.halt === "wanted" ? SOON_MS : isChanging || isRaiseUnderWay(instance) ? WARMING_MS : undefined;
  return { kind: "apply", then: undefined, againAfterMs };
}

/**
 * What has become of resources that it was given beyond its pool's: they run, or its pods have not got ready with them in time, for example because no
 * node has room, and it goes back to what it had. `undefined`: nothing is under way, or nobody knows yet.
 */
function nextRaised(
  { instance: { raised }, observed, now }: Pick<InstanceFacts, "instance" | "observed" | "now">,
  runsWhatIsWritten: boolean,
): ProvisionStep | undefined {
  if (raised?.before === undefined) return undefined;
  const { before, ...settled } = raised;
  if (runsWhatIsWritten)
    return { kind: "raised", raised: settled, isTakenBack: false, reason: "all its pods are ready with what it was given" };
  if (now - raised.at < RAISE_MS || observed.namespace !== "ours") return undefined;
  const amount = RAISABLE_AMOUNTS.find((each) => raised.amounts[each] !== before[each]);
  const reason = `its pods did not get ready with ${amountText(amount, raised)}: ${whyNotReady(observed.components) || "it could not be written"}`;
  const refused = amount === undefined ? {} : { refused: { amount, at: now } };
  return { kind: "raised", raised: { amounts: before, at: now, ...refused }, isTakenBack: true, reason };
}

/** Without a declaration nothing is written any more: what was under way ends, so that others of its class need not wait for it. */
function settledUndeclared({ raised }: Instance): ProvisionStep | undefined {
  if (raised?.before === undefined) return undefined;
  const { before: _before, ...settled } = raised;
  return { kind: "raised", raised: settled, isTakenBack: false, reason: "its pool or its release is not declared any more" };
}

function amountText(amount: RaisableAmount | undefined, { amounts }: RaisedResources): string {
  return amount === undefined ? "what it was given" : `${amount} ${amounts[amount]}`;
}

/**
 * The observed workloads of an instance that is being upgraded: it is written in stages. `undefined`: it is not being
 * upgraded, and is written all at once.
 */
export function upgradedComponents({
  instance,
  observed,
}: Pick<InstanceFacts, "instance" | "observed">): readonly ObservedComponent[] | undefined {
  const isServing = instance.state === "ACTIVE" || instance.state === "CORDONED";
  const isUpgrading = isServing && instance.version !== instance.desiredVersion && observed.namespace === "ours";
  return isUpgrading ? observed.components : undefined;
}

/**
 * Whether its controller is stopped on purpose: that was requested, it is written, and no pod is left. Otherwise a
 * missing pod comes again.
 */
function isStopped({ instance, observed, wanted }: InstanceFacts): boolean {
  if (instance.halt !== "wanted" || observed.namespace !== "ours" || observed.isHalted !== true) return false;
  return wanted.kind === "renderable" && instance.appliedHash === wanted.hash;
}

/** No event announces that the last unit has left, so a rest becomes a wait. */
function soonAgain(step: ProvisionStep): ProvisionStep {
  if (step.kind === "rest") return { kind: "wait", afterMs: WARMING_MS, reason: "it holds units" };
  return step.kind === "apply" ? { ...step, againAfterMs: step.againAfterMs ?? WARMING_MS } : step;
}

function stepOfLeaving(facts: InstanceFacts): ProvisionStep {
  const { instance, observed } = facts;
  switch (observed.namespace) {
    case "absent":
      return change(facts, "retired", "its namespace is gone");
    case "foreign":
      return change(facts, "retired", `namespace ${instance.namespace} is not its own and was left alone`);
    case "ours":
      return { kind: "deleteNamespace" };
    case "terminating":
      return { kind: "wait", afterMs: SOON_MS, reason: `namespace ${instance.namespace} is being deleted` };
    case "unknown":
      return { kind: "wait", afterMs: AWAY_MS, reason: observed.reason };
  }
}

function stepOfFailed(facts: InstanceFacts): ProvisionStep {
  const { instance, observed, wanted, now } = facts;
  if (wanted.kind === "impossible") return { kind: "rest" };
  if (isDeclaredAnew(facts)) return DECLARED_ANEW;
  const wasTaken = instance.cause?.code === "NAMESPACE_TAKEN";
  if (wasTaken && (observed.namespace === "absent" || observed.namespace === "ours"))
    return { kind: "change", event: "retry", reason: `namespace ${instance.namespace} is free now`, attempt: 0 };
  if (isOverdue(facts)) return { kind: "change", event: "retry", reason: `tried again after: ${instance.reason}`, attempt: 0 };
  return { kind: "wait", afterMs: instance.stateSince + (DEADLINES_MS.FAILED ?? 0) - now, reason: instance.reason };
}

function change({ instance }: InstanceFacts, event: InstanceEvent, reason: string): ProvisionChange {
  return { kind: "change", event, reason, attempt: event === "ready" || event === "retired" ? 0 : instance.attempt };
}

function giveUp({ instance }: InstanceFacts, reason: string, cause?: InstanceCause): ProvisionChange {
  return { kind: "change", event: "giveUp", reason, cause, attempt: instance.attempt };
}

const DECLARED_ANEW: ProvisionChange = { kind: "change", event: "retry", reason: "its declaration has changed", attempt: 0 };

/**
 * Whether the declaration has changed since the attempt that failed. From the first failed attempt on, the row holds
 * the hash that was tried.
 */
function isDeclaredAnew({ instance, wanted }: InstanceFacts): boolean {
  if (wanted.kind === "impossible" || wanted.hash === instance.appliedHash) return false;
  return instance.state === "FAILED" || instance.attempt > 0;
}

/** Whether its pods have reported for long enough that they cannot start. */
function isHopeless({ instance, observed, now }: InstanceFacts): boolean {
  return troubleOf(observed) !== undefined && now - instance.stateSince >= TROUBLED_MS;
}

function troubleOf(observed: ObservedInstance): string | undefined {
  const components = observed.namespace === "ours" ? observed.components : [];
  const reported = components.flatMap(({ name, trouble }) => (trouble === undefined ? [] : [`${name}: ${trouble}`]));
  return reported.length === 0 ? undefined : reported.join("; ");
}

function isOverdue({ instance, now }: InstanceFacts): boolean {
  const deadlineMs = DEADLINES_MS[instance.state];
  return deadlineMs !== undefined && now - instance.stateSince >= deadlineMs;
}

function areReady(components: readonly ObservedComponent[]): boolean {
  return COMPONENT_NAMES.every((name) => components.some((component) => component.name === name && component.isReady));
}

function whyNotReady(components: readonly ObservedComponent[]): string {
  const details = COMPONENT_NAMES.flatMap((name) => {
    const found = components.find((component) => component.name === name);
    return found?.isReady === true ? [] : [`${name}: ${found?.trouble ?? found?.detail ?? "is not there"}`];
  });
  return details.join("; ");
}

function whyNotCreated({ instance, observed }: InstanceFacts): string {
  if (observed.namespace === "unknown") return observed.reason;
  return observed.namespace === "terminating" ? `namespace ${instance.namespace} is still being deleted` : instance.reason;
}

function foreignReason({ namespace }: Instance, owner: string | undefined): string {
  const whose = owner === undefined ? "was not made by Argosy" : `belongs to instance ${owner}`;
  return `namespace ${namespace} is there already and ${whose}: delete it, or rename the pool. It is created as soon as the name is free`;
}

/** Why a namespace is not deleted although the instance holds no unit. */
export function heldReason({ namespace }: Instance, applications: number): string {
  const some = applications === 1 ? "1 Application" : `${applications} Applications`;
  return `namespace ${namespace} still holds ${some} with a finalizer: delete what is left there while its controller runs`;
}
