/** Why a move ended before its turn: the instance it was to go to was cordoned, drained or lost since it was asked for. */
export const TARGET_LEFT = "the instance it was to go to took nothing any more when its turn came";

/** How the message of a move begins that a person gave up. */
export const GIVEN_UP_BY = "given up by ";
