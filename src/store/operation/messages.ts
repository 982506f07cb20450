/** What an operation says when it ended otherwise than by the instance's answer, for people. */
export const SUPERSEDED_BY_DELETION = "Superseded: the application was deleted";
/** What a new operation says while its unit has no instance, and the scheduler has not tried to place it. */
export const WAITING_FOR_PLACE = "Waiting: for an instance";
/** What an operation says until its instance was tried. */
export const WAITING_FOR_INSTANCE = "Waiting: for its instance to take it";
/** What a waiting operation says when no instance was found for its unit. */
export const WAITING_FOR_CAPACITY = "Waiting: no instance has room";
