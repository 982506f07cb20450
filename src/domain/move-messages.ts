/** Why a move ended before its turn: the instance it was to go to was cordoned, drained or lost since it was asked for. */
export const TARGET_LEFT = "the instance it was to go to took nothing any more when its turn came";

/** What a move ends with that did not go to its source. */
export const LEFT_BEHIND = "what stands on its former instance goes once that can be reached";

/** How the message of a move begins that a person gave up. */
export const GIVEN_UP_BY = "given up by ";
