/** Why a move ended before its turn: the instance it was to go to was cordoned, drained or lost since it was asked for. */
export const TARGET_LEFT = "the instance it was to go to took nothing any more when its turn came";

/** How the message of a move begins that ended with something worse than before, and that is to be taken back. */
export const WORSE = "VERIFY failed, waiting ";

/** What a move ends with whose source nobody went to, or got to when it was to be emptied. */
export const LEFT_BEHIND = "what stands on its former instance goes once that can be reached";

/** What a move ends with whose unit is taken on from its target, which nobody reaches. */
export const TAKEN_ON = "what it went to cannot be reached: a fail-over takes the workspace on from there";

/** How the message of a move begins that a person gave up. */
export const GIVEN_UP_BY = "given up by ";
