import type { Millis } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import type { Move } from "../domain/move.ts";
import { LEFT_BEHIND, type MoveMessage } from "../domain/move-messages.ts";
import type { AbortReason } from "./phases/object-step.ts";

/** The journal's entry of a move that is asked for. */
export function requestDecision(
  request: Pick<Move, "id" | "unitId" | "to" | "kind" | "reason" | "plan" | "actor" | "reverses" | "isFailOver"> & {
    readonly words?: string | undefined;
  },
  at: Millis,
): Decision {
  const { id, unitId, to, kind, reason, plan, actor, reverses, isFailOver, words } = request;
  return {
    at,
    subject: unitId,
    kind: "placement",
    verdict: "MOVE_REQUESTED",
    rule: plan === undefined ? "COMMAND" : reason,
    details: {
      ...{ move: id, to, moveKind: kind, actor },
      ...(plan === undefined ? {} : { plan }),
      ...(reverses === undefined ? {} : { reverses }),
      ...(isFailOver ? { isFailOver } : {}),
      ...(words === undefined ? {} : { reason: words }),
    },
  };
}

/** The journal's entry of a change of owner. */
export function commitDecision(move: Move, at: Millis): Decision {
  return decisionOf(move, at, { verdict: "MOVED", rule: move.reason });
}

/** The journal's entry of a move that is given up; its rule says why. */
export function abortDecision(move: Move, at: Millis, why: Pick<AbortReason, "text"> & { readonly code: string }): Decision {
  return decisionOf(move, at, { verdict: "MOVE_ABORTED", rule: why.code, text: why.text });
}

/** What a move is given up with: the message on its row and the journal's entry. */
export function givingUp(move: Move, why: AbortReason, at: Millis): { readonly message: string; readonly decision: Decision } {
  return { message: why.text, decision: abortDecision(move, at, why) };
}

/** Whether a move's message already says how it ends. What it waits for until then does not replace such a message. */
export function isDecisionSaid({ phase, messageCode }: Pick<Move, "phase" | "messageCode">): boolean {
  return phase === "ABORT" || (phase === "CLEANUP" && messageCode === "WORSE");
}

/** What is said of a move that ends. */
export function lastWords(move: MoveMessage & Pick<Move, "phase">, isSourceAway: boolean): MoveMessage {
  const said = isDecisionSaid(move);
  const words = [...(said ? [move.message] : []), ...(move.phase === "CLEANUP" && isSourceAway ? [LEFT_BEHIND] : [])];
  return { message: words.join("; "), messageCode: said ? move.messageCode : undefined };
}

const LONGEST_REASON = 300;

/** What a move waits for while an API server refuses a write of it, in that server's words. */
export function moveRefusalText({ message, cause }: Pick<Error, "message" | "cause">): string {
  return `for a write that is refused: ${(cause instanceof Error ? cause.message : message).slice(0, LONGEST_REASON)}`;
}

interface Saying {
  readonly verdict: string;
  readonly rule: string;
  readonly text?: string;
}

function decisionOf(move: Move, at: Millis, { verdict, rule, text }: Saying): Decision {
  const { id, unitId, from, to, fromEpoch, toEpoch, kind, actor, phase, isFailOver } = move;
  const details = {
    move: id,
    from,
    to,
    fromEpoch,
    toEpoch,
    moveKind: kind,
    actor,
    phase,
    ...(move.plan === undefined ? {} : { plan: move.plan }),
    ...(isFailOver ? { isFailOver } : {}),
  };
  return {
    at,
    subject: unitId,
    kind: "placement",
    verdict,
    rule,
    details: { ...details, ...(text === undefined ? {} : { reason: text }) },
  };
}
