/** Unfinished runs of one application that are looked at together; those behind move up as these end. */
export const QUEUE_LIMIT = 50;
