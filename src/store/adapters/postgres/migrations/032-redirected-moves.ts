import type { Knex } from "knex";

/** A move whose target went after the change of owner ends when a fail-over takes its unit on. */
export const redirectedMoves = {
  name: "032-redirected-moves",
  up: (knex: Knex): Promise<void> =>
    knex.raw(`
alter table move drop constraint move_phase;
alter table move add constraint move_phase check (phase in
  ('WAITING', 'PREPARE', 'FENCE', 'QUIESCE', 'REVOKE', 'COMMIT', 'GRANT', 'ACTIVATE', 'VERIFY', 'CLEANUP', 'ABORT', 'DONE', 'ABORTED', 'REDIRECTED'));
alter table move drop constraint move_check;
alter table move add constraint move_end check ((ended_at is not null) = (phase = 'DONE' or phase = 'ABORTED' or phase = 'REDIRECTED'));
`),
};
