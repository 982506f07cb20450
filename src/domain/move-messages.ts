import type { Move } from "./move.ts";

/** What is said of a move: a text for people, and what it means. */
export type MoveMessage = Pick<Move, "message" | "messageCode">;

/** Why a move ended before its turn: the instance it was to go to was cordoned, drained or lost since it was asked for. */
export const TARGET_LEFT = "the instance it was to go to took nothing any more when its turn came";

/** What is said of a move that goes on although something is worse than before, and that is to be taken back. */
export function worse(waitsFor: string): MoveMessage {
  return { message: `VERIFY failed, waiting ${waitsFor}`, messageCode: "WORSE" };
}

/** What a move ends with whose source nobody went to, or got to when it was to be emptied. */
export const LEFT_BEHIND = "what stands on its former instance goes once that can be reached";

/** What a move ends with whose unit is taken on from its target, which nobody reaches. */
export const TAKEN_ON = "what it went to cannot be reached: a fail-over takes the workspace on from there";

/** What is said of a move that a person gave up. */
export function givenUpBy(actor: string): MoveMessage {
  return { message: `given up by ${actor}`, messageCode: "GIVEN_UP" };
}
