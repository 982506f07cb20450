import type { Knex } from "knex";
import { fleet } from "./001-fleet.ts";
import { tenancy } from "./002-tenancy.ts";
import { processes } from "./003-processes.ts";
import { pools } from "./004-pools.ts";
import { ends } from "./005-ends.ts";
import { syncRuns } from "./006-sync-runs.ts";
import { environments } from "./007-environments.ts";
import { repositoryCredentials } from "./008-repository-credentials.ts";
import { hotStatuses } from "./009-hot-statuses.ts";
import { directives } from "./012-directives.ts";
import { loads } from "./013-loads.ts";
import { plans } from "./014-plans.ts";
import { repairs } from "./015-repairs.ts";
import { splits } from "./020-splits.ts";
import { moves } from "./021-moves.ts";
import { planSteps } from "./022-plan-steps.ts";
import { ownership } from "./023-ownership.ts";
import { statusVersions } from "./024-status-versions.ts";
import { environmentReach } from "./025-environment-reach.ts";
import { halts } from "./026-halts.ts";
import { failOvers } from "./027-fail-overs.ts";
import { health } from "./028-health.ts";
import { endedApplications } from "./029-ended-applications.ts";
import { rollouts } from "./030-rollouts.ts";
import { reservedServers } from "./031-reserved-servers.ts";
import { redirectedMoves } from "./032-redirected-moves.ts";
import { keptNames } from "./033-kept-names.ts";
import { endedUids } from "./034-ended-uids.ts";
import { repositoriesByHash } from "./035-repositories-by-hash.ts";

/** One step of the schema's history. Steps are only ever added at the end, and never changed once they were released. */
export interface Migration {
  /** Recorded in the database: without a file's extension, so that sources and bundles are the same history. */
  readonly name: string;
  readonly up: (knex: Knex) => Promise<void>;
}

export const MIGRATIONS: readonly Migration[] = [
  fleet,
  tenancy,
  processes,
  pools,
  ends,
  syncRuns,
  environments,
  repositoryCredentials,
  hotStatuses,
  directives,
  loads,
  plans,
  repairs,
  splits,
  moves,
  planSteps,
  ownership,
  statusVersions,
  environmentReach,
  halts,
  failOvers,
  health,
  endedApplications,
  rollouts,
  reservedServers,
  redirectedMoves,
  keptNames,
  endedUids,
  repositoriesByHash,
];

/** How long a step waits for what others hold before it gives up, and with it the start; others queue behind it meanwhile. */
const LOCK_TIMEOUT = "10s";

/** The history as knex reads it. Forward only: a step is taken back by another step. */
export function migrationSource(migrations: readonly Migration[]): Knex.MigrationSource<Migration> {
  return {
    getMigrations: async () => [...migrations],
    getMigrationName: (migration) => migration.name,
    getMigration: async (migration) => ({
      async up(knex) {
        await knex.raw(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
        await migration.up(knex);
      },
      async down() {
        throw new Error(`${migration.name} is not taken back; add a migration that does`);
      },
    }),
  };
}
