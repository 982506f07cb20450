/** How many unfinished runs of one application are handled together; those behind move up as these end. */
export const QUEUE_LIMIT = 50;
