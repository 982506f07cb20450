/** What an operation says when it ended otherwise than by the instance's answer, for people. */
export const SUPERSEDED_BY_DELETION = "Superseded: the application was deleted";
/** What a waiting operation says while its unit has no instance. */
export const WAITING_FOR_ROOM = "Waiting: no instance has room";
