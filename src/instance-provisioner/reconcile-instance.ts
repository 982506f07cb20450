import { InputError, RefusedError, UnavailableError } from "../domain/errors.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { WorkResult } from "../runtime/keyed-queue.ts";
import type { Log } from "../telemetry/log.ts";
import { changeReasonOf, instanceChangeOf, noteOf, raiseChangeOf } from "./change.ts";
import type { AtRest } from "./keep-at-rest.ts";
import type { SecretKeeper } from "./keep-secrets.ts";
import type { ProvisionChange, ProvisionStep } from "./next-step.ts";
import { afterRefusal, heldReason, nextProvisionStep, upgradedComponents } from "./next-step.ts";
import { readScene, type Scene, type SceneDeps } from "./observe-instance.ts";
import type { InstanceObjectWriter, Written } from "./write-objects.ts";

export interface InstanceDeps extends SceneDeps {
  readonly writer: InstanceObjectWriter;
  readonly secrets: SecretKeeper;
  readonly atRest: Pick<AtRest, "remember" | "forget">;
  readonly log: Log;
}

/** Takes the next step of the instance's life, or repairs what differs from its declaration. */
export type ReconcileInstance = (id: InstanceId, signal: AbortSignal) => Promise<WorkResult | void>;

type Apply = ProvisionStep & { readonly kind: "apply" };

const AT_ONCE: WorkResult = { requeueAfterMs: 0 };
/** When to observe again a namespace that is being deleted, and one that must not be deleted yet, in ms. */
const DELETING_MS = 2_000;
const HELD_MS = 30_000;
/** When to observe again whether the stage of an upgrade that was just written runs, in ms. */
const STAGE_MS = 2_000;

export function createReconcileInstance(deps: InstanceDeps): ReconcileInstance {
  const { fleet, writer, secrets, atRest, log } = deps;

  const change = async ({ facts, declaration }: Scene, step: ProvisionChange, signal: AbortSignal): Promise<WorkResult> => {
    const { instance, now } = facts;
    log.info({ instance: instance.name, state: instance.state, event: step.event, reason: step.reason }, "Changing an instance");
    const wantedHash = declaration.kind === "renderable" ? declaration.hash : undefined;
    if (step.event === "retired") await secrets.remove(instance, signal);
    await fleet.changeInstance(instanceChangeOf(instance, { ...step, now, wantedHash }), signal);
    return AT_ONCE;
  };

  /** Returns whether there was anything to record. */
  const note = async (instance: Instance, what: Parameters<typeof noteOf>[1], signal: AbortSignal): Promise<boolean> => {
    const row = noteOf(instance, what);
    if (row !== undefined) await fleet.changeInstance(row, signal);
    return row !== undefined;
  };

  const settleRaise = async (instance: Instance, what: Parameters<typeof raiseChangeOf>[1], signal: AbortSignal): Promise<WorkResult> => {
    const { isTakenBack, reason } = what;
    if (isTakenBack) log.warn({ instance: instance.name, reason }, "Taking back resources of an instance");
    else log.info({ instance: instance.name }, "An instance runs with the resources that it was given");
    await fleet.changeInstance(raiseChangeOf(instance, what), signal);
    return AT_ONCE;
  };

  /**
   * While an instance is created, a refusal counts as an attempt, and its reason goes into the row. So does the reason
   * of a server that does not answer, which the queue tries again. Any other error is left to the queue.
   */
  const fail = async (scene: Scene, step: Apply, error: unknown, signal: AbortSignal): Promise<WorkResult> => {
    const { facts } = scene;
    if (step.then === undefined) throw error;
    if (error instanceof RefusedError || error instanceof InputError)
      return change(scene, afterRefusal(facts, changeReasonOf(error)), signal);
    if (error instanceof UnavailableError) await note(facts.instance, { now: facts.now, reason: changeReasonOf(error) }, signal);
    throw error;
  };

  /** Records what was written, and how it was left. */
  const settle = async (
    scene: Scene,
    step: Apply,
    { isWhole, left, appliedHash }: Written & { readonly appliedHash: string },
    signal: AbortSignal,
  ): Promise<WorkResult | void> => {
    const { instance, now } = scene.facts;
    // No event announces that the last stage written runs, so an unfinished upgrade is observed again soon.
    if (!isWhole) return { requeueAfterMs: STAGE_MS };
    if (step.then !== undefined) return change(scene, step.then, signal);
    if (left !== undefined && left !== instance.leftHash) await fleet.noteLeft(instance.id, left, signal);
    const isNew = await note(instance, { now, appliedHash }, signal);
    if (step.againAfterMs !== undefined) return { requeueAfterMs: step.againAfterMs };
    if (!isNew) atRest.remember(scene);
  };

  const apply = async (scene: Scene, step: Apply, signal: AbortSignal): Promise<WorkResult | void> => {
    const { facts, declaration, cluster } = scene;
    if (declaration.kind === "impossible" || cluster === undefined) return;
    const { instance, observed } = facts;
    const quota = observed.namespace === "ours" ? observed.quota : undefined;
    let written: Written;
    try {
      written = await writer.write({ instance, declaration, stages: upgradedComponents(facts), quota }, cluster, signal);
    } catch (error) {
      return fail(scene, step, error, signal);
    }
    return settle(scene, step, { ...written, appliedHash: declaration.hash }, signal);
  };

  const leave = async ({ facts: { instance, now }, cluster }: Scene, signal: AbortSignal): Promise<WorkResult> => {
    const outcome = await cluster?.deleteNamespace(instance, signal);
    if (outcome?.kind === "held") await note(instance, { now, reason: heldReason(instance, outcome.applications) }, signal);
    return { requeueAfterMs: outcome?.kind === "deleting" ? DELETING_MS : HELD_MS };
  };

  return async (id, signal) => {
    const scene = await readScene(deps, id, signal);
    if (scene === undefined) return;
    const { instance, now } = scene.facts;
    const step = nextProvisionStep(scene.facts);
    atRest.forget(id);
    switch (step.kind) {
      case "change":
        return change(scene, step, signal);
      case "apply":
        return apply(scene, step, signal);
      case "upgraded":
        await note(instance, { now, version: step.version }, signal);
        return;
      case "raised":
        return settleRaise(instance, { ...step, now }, signal);
      case "halted":
        await note(instance, { now, halt: "seen" }, signal);
        return;
      case "say":
        await note(instance, { now, reason: step.reason, cause: step.cause }, signal);
        return;
      case "deleteNamespace":
        return leave(scene, signal);
      case "wait":
        log.debug({ instance: instance.name, state: instance.state, reason: step.reason }, "Waiting");
        return { requeueAfterMs: step.afterMs };
      case "rest":
        return;
    }
  };
}
