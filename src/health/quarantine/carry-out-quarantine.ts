import { type Clock, millis } from "../../domain/clock.ts";
import type { UnitId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { freezeOfRollout } from "../../domain/rollout.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { DAY_MS, type Remedy } from "../next-remedy.ts";
import type { OpenNamespace, QuarantineRequests } from "../port.ts";
import type { Quarantine } from "./entries.ts";
import * as entries from "./entries.ts";
import { giveUp, nextQuarantine, type OpenFacts, type QuarantineEnding, type QuarantineStep } from "./next-quarantine.ts";
import { likeIt, planQuarantine, remedyOf } from "./plan-quarantine.ts";
import type { Filled } from "./schema.ts";

export interface QuarantineDeps {
  readonly store: Pick<Store, "fleet" | "health" | "decisions" | "directives" | "placements" | "moves" | "rollouts">;
  readonly requests: QuarantineRequests;
  readonly openNamespace: OpenNamespace;
  /** Largest number of instances of one pool that are kept for one workspace each. */
  readonly most: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** The unit that is to leave its instance, and whether that was measured. */
export interface Leaving {
  readonly unitId: UnitId;
  readonly isMeasured: boolean;
}

export interface Quarantines {
  /**
   * Turns the step QUARANTINE into advice that says why it is only that, or into a quarantine, which begins with its
   * journal entry.
   */
  plan(
    about: {
      readonly instance: Instance;
      readonly remedy: Remedy;
      readonly leaving: Leaving | undefined;
      readonly filled?: Filled | undefined;
    },
    signal: AbortSignal,
  ): Promise<Remedy>;
  /** Quarantines that have begun and not ended. */
  listOpen(signal: AbortSignal): Promise<readonly Quarantine[]>;
  /** Carries a quarantine on. It rests on rows alone, so any process can go on where another one has died. */
  carryOn(quarantine: Quarantine, signal: AbortSignal): Promise<void>;
}

const MANY = 1_000;
/** Pinning and requesting the move are done at once: until both are done, other units may come to the target. */
const STEPS_AT_ONCE = 2;

const ofClass = (instances: readonly Instance[], name: string): readonly Instance[] => instances.filter((one) => one.class === name);

/**
 * Gives workspaces an instance of their own. `plan` begins a quarantine. `carryOn` takes its next step, once with
 * each probe of the instance: it reads rows, `nextQuarantine` decides, and the step is written.
 */
export function createQuarantines(deps: QuarantineDeps): Quarantines {
  const { store, requests, most, clock } = deps;
  const { fleet, health, decisions, directives, placements, moves, rollouts } = store;
  const takeStep = createSteps(deps);

  const listOpen: Quarantines["listOpen"] = async (signal) => {
    const since = millis(clock.now() - DAY_MS);
    return entries.openQuarantines(await decisions.list({ kind: "health", verdict: "QUARANTINE", since }, MANY, signal));
  };
  /**
   * A rollout over instances of the class counts as a freeze: the effect of a move during its bake would be taken for
   * the release's.
   */
  const readFreeze = async (instances: readonly Instance[], signal: AbortSignal) => {
    const frozen = [...(await directives.listFreezes(signal)), ...freezeOfRollout(await rollouts.readLive(signal), instances)];
    return requests.freezeAt(frozen, clock.now())?.reason;
  };
  const readHeld = async (id: UnitId, signal: AbortSignal) => {
    const found = await placements.readUnit(id, signal);
    return found && { ...found, parts: (await placements.readUnitsOf(found.workspace.id, signal)).length };
  };
  const readFacts = async (quarantine: Quarantine, signal: AbortSignal): Promise<OpenFacts> => {
    const { source, unitId, at } = quarantine;
    // Moves are read before the unit, so that of a move read as ended the unit is already on the target.
    const asked = await moves.list({ unitId }, MANY, signal);
    const held = await readHeld(unitId, signal);
    const instances = await fleet.listInstances(signal);
    const target = instances.find(({ name }) => name === quarantine.target);
    const first = (await listOpen(signal)).find((one) => one.class === quarantine.class);
    return {
      now: clock.now(),
      quarantine,
      held,
      target,
      isFirst: first === undefined || first.source === source,
      verdict: (await health.readWindow(source, clock.now(), signal)).verdict?.state,
      freeze: await readFreeze(ofClass(instances, quarantine.class), signal),
      targetUnits: (target && (await fleet.countUnits(signal)).get(target.id)) ?? 0,
      refusal: held && target && (await requests.whyNot(held.unit, target, signal)),
      move: asked.find((one) => one.actor === entries.HEALTH && one.to === target?.id && one.createdAt >= at),
    };
  };

  return {
    listOpen,
    async plan({ instance: source, remedy, leaving, filled }, signal) {
      const held = leaving && (await readHeld(leaving.unitId, signal));
      const instances = await fleet.listInstances(signal);
      const verdicts = (await health.listVerdicts(signal)).map(({ instanceId, state }) => [instanceId, state] as const);
      const planned = planQuarantine({
        now: clock.now(),
        most,
        source,
        verdicts: new Map(verdicts),
        fits: requests.fits,
        noisiest: held && { ...held, namespace: held.workspace.namespace, isMeasured: leaving.isMeasured },
        filled,
        freeze: await readFreeze(ofClass(instances, source.class), signal),
        open: await listOpen(signal),
        instances,
        units: await fleet.countUnits(signal),
        refusal: held && (await requests.whyNot(held.unit, likeIt(source), signal)),
        next: await requests.nextOf(source.pool, signal),
      });
      return remedyOf(remedy, planned);
    },
    async carryOn(quarantine, signal) {
      for (let count = 0; count < STEPS_AT_ONCE; count += 1) {
        const facts = await readFacts(quarantine, signal);
        if (!(await takeStep(nextQuarantine(facts), facts, signal))) return;
      }
    },
  };
}

/** Takes one step of a quarantine. Returns whether the next one may be taken at once. */
type TakeStep = (step: QuarantineStep, facts: OpenFacts, signal: AbortSignal) => Promise<boolean>;

/**
 * Takes steps of quarantines. Each change is written together with its journal entry, and only to rows that are
 * unchanged since they were read.
 */
function createSteps({ store: { fleet, decisions, directives }, requests, openNamespace, clock, log }: QuarantineDeps): TakeStep {
  const pin = async (quarantine: Quarantine, target: Instance, signal: AbortSignal): Promise<void> => {
    const order = entries.pinOf(quarantine, target, clock.now());
    const decision = entries.pinDecision(quarantine, "PINNED", order.reason, clock.now());
    await directives.direct({ workspaceId: quarantine.workspaceId, change: { pin: order }, decision }, signal);
  };
  const unpin = async (quarantine: Quarantine, reason: string, signal: AbortSignal): Promise<void> => {
    const decision = entries.pinDecision(quarantine, "UNPINNED", reason, clock.now());
    await directives.direct({ workspaceId: quarantine.workspaceId, change: { pin: undefined }, decision }, signal);
  };
  const setState = async (
    target: Instance,
    state: "CORDONED" | "ACTIVE",
    because: Pick<Instance, "reason" | "cause">,
    signal: AbortSignal,
  ): Promise<void> => {
    const { id, revision, attempt } = target;
    const decision = entries.cordonDecision(target, state, because.reason, clock.now());
    await fleet.changeInstance({ id, revision, state, ...because, attempt, decision }, signal);
  };
  /**
   * Replaces the repo-servers of the source, which were killed again and again for what has left. Kubernetes holds such a one back for up to
   * five minutes, and a Git that was killed in a checkout leaves a lock there (`index.lock`), with which Argo CD fails for as long as the pod
   * lives, whoever's repository it is. Where it cannot be done, nothing waits for it.
   */
  const replaceRepoServers = async ({ source, sourceName }: Quarantine, signal: AbortSignal): Promise<void> => {
    try {
      const instance = await fleet.readInstance(source, signal);
      const namespace = instance && (await openNamespace(instance, signal));
      for (const { component, name } of (await namespace?.listPods(signal)) ?? [])
        if (component === "repo-server") await namespace?.deletePod(name, signal);
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ error, instance: sourceName }, "Replacing repo-servers that were killed for what has left");
    }
  };
  const end = async ({ quarantine }: OpenFacts, { undo, outcome, text }: QuarantineEnding, signal: AbortSignal): Promise<void> => {
    if (undo.abort !== undefined) await requests.giveUp(undo.abort, signal);
    if (undo.uncordon !== undefined) await setState(undo.uncordon, "ACTIVE", { reason: text, cause: undefined }, signal);
    if (undo.unpin) await unpin(quarantine, text, signal);
    if (outcome === "done" && quarantine.filled === "memory") await replaceRepoServers(quarantine, signal);
    // Last: until this entry is there, the next process that carries the quarantine on undoes whatever is not undone yet.
    await decisions.append([entries.endDecision(quarantine, outcome, text, clock.now())], signal);
    log.warn({ instance: quarantine.sourceName, workspace: quarantine.namespace, outcome, text }, "Ending a quarantine");
  };
  return async (step, facts, signal) => {
    const { quarantine } = facts;
    switch (step.kind) {
      case "wait":
        return false;
      case "create": {
        const why = await requests.create(quarantine.target, signal);
        if (why !== undefined) await end(facts, giveUp(facts, why), signal);
        return false;
      }
      case "pin":
        await pin(quarantine, step.target, signal);
        return true;
      case "move": {
        const why = await requests.move(step.unit, step.target, signal);
        if (why !== undefined) await end(facts, giveUp(facts, why), signal);
        return false;
      }
      case "cordon":
        await setState(step.target, "CORDONED", entries.quarantined(quarantine), signal);
        return true;
      case "end":
        await end(facts, step, signal);
        return false;
      default:
        return step satisfies never;
    }
  };
}
