import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AUDIT_OUTCOMES, AUDIT_VIAS } from "../../../domain/audit.ts";
import { DECISION_KINDS } from "../../../domain/decision.ts";
import { ENVIRONMENT_STATES } from "../../../domain/environment.ts";
import { PROPOSAL_ENDS } from "../../../domain/fleet-approval.ts";
import { VERDICT_STATES } from "../../../domain/health.ts";
import { ENTRIES, HALTS, INSTANCE_STATES } from "../../../domain/instance.ts";
import { MOVE_KINDS, MOVE_MESSAGE_CODES, MOVE_PHASES } from "../../../domain/move.ts";
import { OPERATION_KINDS, OPERATION_STATES } from "../../../domain/operation.ts";
import { MOVE_REASONS, PLAN_GOALS, STEP_OUTCOMES } from "../../../domain/plan.ts";
import { RELEASE_PARTS } from "../../../domain/release.ts";
import { ACCESS_STATES } from "../../../domain/repository-access.ts";
import { ROLLOUT_STATES } from "../../../domain/rollout.ts";
import { SHARD_KINDS } from "../../../domain/shard-object.ts";
import { HEALTH_STATES, SYNC_STATES } from "../../../domain/status.ts";
import { RUN_PHASES } from "../../../domain/sync-run.ts";
import { USERS } from "../../../domain/usage.ts";
import { DELETIONS, UNIT_PHASES } from "../../../domain/workspace.ts";
import { startTestServer, type TestDatabase, type TestServer } from "../../testing/test-server.ts";
import { TOKEN_ROLES } from "../../token/port.ts";

let server: TestServer;
let database: TestDatabase;
beforeAll(async () => {
  server = await startTestServer();
  database = await server.createMigrated();
});
afterAll(() => server.stop());

/** Every constraint that lists values, with the values its type has. */
const LISTS: readonly (readonly [constraint: string, values: readonly string[]])[] = [
  ["instance_state", INSTANCE_STATES],
  ["instance_halt", HALTS],
  ["instance_entries", ENTRIES],
  ["decision_kind", DECISION_KINDS],
  ["usage_hour_used_by", USERS],
  ["verdict_state", VERDICT_STATES],
  ["workspace_plane", ["kubernetes"]],
  ["workspace_state", ["active", "deleting"]],
  ["unit_phase", UNIT_PHASES],
  ["repository_access_state", ACCESS_STATES],
  ["application_deletion", DELETIONS],
  ["status_sync", SYNC_STATES],
  ["status_health", HEALTH_STATES],
  ["environment_state", ENVIRONMENT_STATES],
  ["shard_kind", SHARD_KINDS],
  ["operation_kind", OPERATION_KINDS],
  ["operation_state", OPERATION_STATES],
  ["token_role", TOKEN_ROLES],
  ["run_phase", RUN_PHASES],
  ["plan_goal", PLAN_GOALS],
  ["move_reason", MOVE_REASONS],
  ["live_move_reason", MOVE_REASONS],
  ["plan_step_reason", MOVE_REASONS],
  ["plan_step_outcome", STEP_OUTCOMES],
  ["move_phase", MOVE_PHASES],
  ["move_kind", MOVE_KINDS],
  ["move_message_code", MOVE_MESSAGE_CODES],
  ["rollout_state", ROLLOUT_STATES],
  ["release_part_part", RELEASE_PARTS],
  ["fleet_proposal_state", ["OPEN", ...PROPOSAL_ENDS]],
  ["audit_via", AUDIT_VIAS],
  ["audit_outcome", AUDIT_OUTCOMES],
];

describe("values the schema allows", () => {
  it.each(LISTS)("of %s are those of the type", async (constraint, values) => {
    const [row] = await server.query<{ readonly definition: string }>(
      `select pg_get_constraintdef(oid) as definition from pg_constraint where conname = '${constraint}'`,
      database.url,
    );
    const allowed = [...(row?.definition ?? "").matchAll(/'([^']*)'/g)].map(([, value = ""]) => value);
    expect(allowed.toSorted()).toEqual([...values].toSorted());
  });

  it("are named in this test wherever a column has a list of them", async () => {
    const rows = await server.query<{ readonly name: string }>(
      "select conname as name from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace and pg_get_constraintdef(oid) ~ 'ARRAY\\['",
      database.url,
    );
    const several = LISTS.filter(([, values]) => values.length > 1).map(([constraint]) => constraint);
    expect(rows.map(({ name }) => name).toSorted()).toEqual(several.toSorted());
  });

  it("compare keys byte by byte, as sorted batches do, whatever the database's collation", async () => {
    const rows = await server.query<{ readonly name: string }>(
      `select a.attrelid::regclass || '.' || a.attname as name
         from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey) join pg_collation c on c.oid = a.attcollation
        where a.attrelid::regclass::text !~ '^(pg_|schema_)' and c.collname <> 'C' and i.indrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)`,
      database.url,
    );
    expect(rows).toEqual([]);
  });
});
