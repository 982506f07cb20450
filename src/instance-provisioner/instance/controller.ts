import type { Clock } from "../../domain/clock.ts";
import { InputError, RefusedError } from "../../domain/errors.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import type { FleetStore } from "../../store/fleet/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { changeOf, noteOf } from "../change.ts";
import type { Declaration } from "../declaration.ts";
import { declarationOf } from "../declaration.ts";
import type { Change, InstanceFacts, Step } from "../next-step.ts";
import { afterRefusal, nextStep } from "../next-step.ts";
import type { ObjectWriter } from "../objects/controller.ts";
import { observeInstance } from "../observation/controller.ts";
import type { EngineClusterPort, EngineClusters } from "../port.ts";
import { reasonOf } from "../reason.ts";
import type { SecretKeeper } from "../secrets/controller.ts";

export interface InstanceControllerDeps {
  readonly fleet: FleetStore;
  readonly clusters: EngineClusters;
  readonly writer: ObjectWriter;
  readonly secrets: SecretKeeper;
  readonly systemNamespace: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface InstanceController {
  /** Takes one step of the instance's life, or repairs what is not as it should be. */
  reconcile(id: InstanceId, signal: AbortSignal): Promise<WorkResult | void>;
}

/** One run's view of an instance. */
interface Scene {
  readonly facts: InstanceFacts;
  readonly declaration: Declaration;
  readonly cluster: EngineClusterPort | undefined;
}

const AT_ONCE: WorkResult = { requeueAfterMs: 0 };
/** How soon to look again at a namespace that is being deleted, and at one that may not be. */
const DELETING_MS = 2_000;
const HELD_MS = 30_000;

export function createInstanceController(deps: InstanceControllerDeps): InstanceController {
  const { fleet, writer, secrets, clock, log } = deps;

  const change = async ({ facts, declaration }: Scene, step: Change, signal: AbortSignal): Promise<WorkResult> => {
    const { instance, now } = facts;
    log.info({ instance: instance.name, state: instance.state, event: step.event, reason: step.reason }, "Changing an instance");
    const wantedHash = declaration.kind === "renderable" ? declaration.hash : undefined;
    if (step.event === "retired") await secrets.remove(instance, signal);
    await fleet.changeInstance(changeOf(instance, { ...step, now, wantedHash }), signal);
    return AT_ONCE;
  };

  const note = async (instance: Instance, what: Parameters<typeof noteOf>[1], signal: AbortSignal): Promise<void> => {
    const row = noteOf(instance, what);
    if (row !== undefined) await fleet.changeInstance(row, signal);
  };

  const apply = async (scene: Scene, step: Step & { readonly kind: "apply" }, signal: AbortSignal): Promise<WorkResult | void> => {
    const { facts, declaration, cluster } = scene;
    if (declaration.kind === "impossible" || cluster === undefined) return;
    try {
      await writer.write(facts.instance, declaration, cluster, signal);
    } catch (error) {
      if (step.then === undefined || !(error instanceof RefusedError || error instanceof InputError)) throw error;
      return change(scene, afterRefusal(facts, reasonOf(error)), signal);
    }
    if (step.then !== undefined) return change(scene, step.then, signal);
    await note(facts.instance, { now: facts.now, appliedHash: declaration.hash }, signal);
    return step.againAfterMs === undefined ? undefined : { requeueAfterMs: step.againAfterMs };
  };

  const leave = async ({ facts: { instance }, cluster }: Scene, signal: AbortSignal): Promise<WorkResult> => {
    const outcome = await cluster?.deleteNamespace(instance, signal);
    if (outcome?.kind === "held")
      log.warn(
        { instance: instance.name, applications: outcome.applications },
        "Keeping a namespace that holds Applications with finalizers",
      );
    return { requeueAfterMs: outcome?.kind === "deleting" ? DELETING_MS : HELD_MS };
  };

  const look = async (id: InstanceId, signal: AbortSignal): Promise<Scene | undefined> => {
    const instance = await fleet.readInstance(id, signal);
    if (instance === undefined) return undefined;
    const declaration = declarationOf(instance, (await fleet.readFleet(signal))?.spec, deps.systemNamespace);
    const { cluster, observed } = await observeInstance(deps.clusters, instance, signal);
    const units = instance.state === "DRAINING" ? ((await fleet.countUnits(signal)).get(id) ?? 0) : 0;
    return { declaration, cluster, facts: { instance, observed, wanted: declaration, units, now: clock.now() } };
  };

  return {
    async reconcile(id, signal) {
      const scene = await look(id, signal);
      if (scene === undefined) return;
      const { instance, now } = scene.facts;
      const step = nextStep(scene.facts);
      switch (step.kind) {
        case "change":
          return change(scene, step, signal);
        case "apply":
          return apply(scene, step, signal);
        case "upgraded":
          return note(instance, { now, version: step.version }, signal);
        case "deleteNamespace":
          return leave(scene, signal);
        case "wait":
          log.debug({ instance: instance.name, state: instance.state, reason: step.reason }, "Waiting");
          return { requeueAfterMs: step.afterMs };
        case "rest":
          return;
      }
    },
  };
}
