/**
 * For so long after a cascade has ended, and its row is gone, nobody makes a row for its resource anew, in ms: who hung meanwhile still takes
 * the resource for there. Longer than anybody hangs unnoticed, and short enough for a cluster that was restored from a backup, where
 * what was deleted is there again.
 */
export const ECHO_MS = 10 * 60_000;
