import type { Clock } from "../../../domain/clock.ts";
import type { Instance } from "../../../domain/instance.ts";
import type { Store } from "../../../store/port.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { QuarantineDesk } from "../../port.ts";
import * as entries from "../entries.ts";
import { giveUp, type OpenFacts, type QuarantineEnding, type QuarantineStep } from "../next-quarantine.ts";

export interface StepDeps {
  readonly store: Pick<Store, "fleet" | "decisions" | "directives">;
  readonly desk: QuarantineDesk;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Steps {
  /** Returns whether the next step may be taken at once. */
  take(step: QuarantineStep, facts: OpenFacts, signal: AbortSignal): Promise<boolean>;
}

/** Takes steps of quarantines. What is written is written with its entry in the journal, and on rows as they were read. */
export function createSteps({ store: { fleet, decisions, directives }, desk, clock, log }: StepDeps): Steps {
  const pin = async (quarantine: entries.Quarantine, target: Instance, signal: AbortSignal): Promise<void> => {
    const order = entries.pinOf(quarantine, target, clock.now());
    const decision = entries.pinDecision(quarantine, "PINNED", order.reason, clock.now());
    await directives.direct({ workspaceId: quarantine.workspaceId, change: { pin: order }, decision }, signal);
  };
  const unpin = async (quarantine: entries.Quarantine, reason: string, signal: AbortSignal): Promise<void> => {
    const decision = entries.pinDecision(quarantine, "UNPINNED", reason, clock.now());
    await directives.direct({ workspaceId: quarantine.workspaceId, change: { pin: undefined }, decision }, signal);
  };
  const setState = async (target: Instance, state: "CORDONED" | "ACTIVE", reason: string, signal: AbortSignal): Promise<void> => {
    const { id, revision, attempt } = target;
    const decision = entries.cordonDecision(target, state, reason, clock.now());
    await fleet.changeInstance({ id, revision, state, reason, attempt, decision }, signal);
  };
  const end = async ({ quarantine }: OpenFacts, { undo, outcome, text }: QuarantineEnding, signal: AbortSignal): Promise<void> => {
    if (undo.abort !== undefined) await desk.giveUp(undo.abort, signal);
    if (undo.uncordon !== undefined) await setState(undo.uncordon, "ACTIVE", text, signal);
    if (undo.unpin) await unpin(quarantine, text, signal);
    // Last: until it is there, whoever comes next undoes what is not undone yet.
    await decisions.append([entries.endDecision(quarantine, outcome, text, clock.now())], signal);
    log.warn({ instance: quarantine.sourceName, workspace: quarantine.namespace, outcome, text }, "Ending a quarantine");
  };
  return {
    async take(step, facts, signal) {
      const { quarantine } = facts;
      switch (step.kind) {
        case "wait":
          return false;
        case "create": {
          const why = await desk.create(quarantine.target, signal);
          if (why !== undefined) await end(facts, giveUp(facts, why), signal);
          return false;
        }
        case "pin":
          await pin(quarantine, step.target, signal);
          return true;
        case "move": {
          const why = await desk.move(step.unit, step.target, signal);
          if (why !== undefined) await end(facts, giveUp(facts, why), signal);
          return false;
        }
        case "cordon":
          await setState(step.target, "CORDONED", entries.quarantineReason(quarantine), signal);
          return true;
        case "end":
          await end(facts, step, signal);
          return false;
        default:
          return step satisfies never;
      }
    },
  };
}
