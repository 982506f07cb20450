import { ROLES, type Role } from "../../../../domain/role.ts";

/**
 * Who connects to the database besides the owner of its tables. controlPlane: processes of every role but api. api: processes that serve the
 * REST API, and commands that go to the database for a token.
 */
export const LOGINS = ["controlPlane", "api"] as const;
export type Login = (typeof LOGINS)[number];

/** What each login may do with one table, sequence or function, as GRANT takes it; empty: nothing. */
export type RightsOf = Readonly<Record<Login, string>>;

const NOBODY: RightsOf = { controlPlane: "", api: "" };

/**
 * Every table of the schema. Found from the statements of the store's ports that each login's processes call; a contract test holds this list
 * against the schema, and runs the store's suite and the REST API with these rights.
 *
 * - A lock (`for update`, `for key share`) needs the right to update a column. Where a login locks and changes nothing it has one column, which
 *   says nothing or can hold one value only.
 * - Rows that a foreign key deletes need no right: PostgreSQL deletes them as the owner.
 */
export const TABLE_RIGHTS: Readonly<Record<string, RightsOf>> = {
  fleet: { controlPlane: "select, insert, update", api: "select, insert, update" },
  instance: { controlPlane: "select, insert, update", api: "select, update" },
  reserved_server: { controlPlane: "select, insert, update", api: "" },
  workspace: { controlPlane: "select, insert, update, delete", api: "select, update (plane)" },
  environment: { controlPlane: "select, insert, update, delete", api: "select" },
  // What users entrust to us, encrypted. The REST API shows names and addresses of what they are for, and no more.
  credential: { controlPlane: "select, insert, update, delete", api: "" },
  repository_credential: { controlPlane: "select, insert, update, delete", api: "select" },
  placement_unit: { controlPlane: "select, insert, update, delete", api: "select, update (owner, epoch, phase, row_version)" },
  workspace_split: { controlPlane: "select, insert, update, delete", api: "" },
  bucket_part: { controlPlane: "select, insert, update, delete", api: "" },
  directive: { controlPlane: "select, insert, update", api: "select, insert, update" },
  freeze_window: { controlPlane: "select", api: "select, insert, update, delete" },
  kept_name: { controlPlane: "select", api: "select, insert, update" },
  application: { controlPlane: "select, insert, update, delete", api: "select" },
  application_status: { controlPlane: "select, insert, update", api: "select, update (view_revision)" },
  operation: { controlPlane: "select, insert, update, delete", api: "select, update (instance, message, is_trouble, updated_at)" },
  sync_run: { controlPlane: "select, insert, update, delete", api: "" },
  ended_application: { controlPlane: "select, insert, update (unit, ended_at), delete", api: "" },
  shard_object: { controlPlane: "select, insert, update, delete", api: "select, insert, update, delete" },
  unit_load: { controlPlane: "select, insert, update, delete", api: "select" },
  instance_load: { controlPlane: "select, insert, update", api: "select" },
  usage_hour: { controlPlane: "select, insert, update, delete", api: "select" },
  usage_mark: { controlPlane: "select, insert, update, delete", api: "" },
  usage_label: { controlPlane: "select, insert, update, delete", api: "select" },
  class_load: { controlPlane: "select, insert, update", api: "select" },
  plan: { controlPlane: "select, insert, update, delete", api: "select, insert, update (applied_at)" },
  plan_step: { controlPlane: "select, insert, update", api: "select, insert, update" },
  move: { controlPlane: "select, insert, update, delete", api: "select, insert, update" },
  unit_move: { controlPlane: "select, insert, delete", api: "select, insert" },
  probe_sample: { controlPlane: "select, insert, delete", api: "select" },
  instance_verdict: { controlPlane: "select, insert, update", api: "select" },
  rollout: { controlPlane: "select, insert, update", api: "select, insert, update" },
  frozen_version: { controlPlane: "select, insert, update", api: "select, insert, update, delete" },
  // Retention locks what it forgets; no text of the journal is changed.
  decision: { controlPlane: "select, insert, update (id), delete", api: "select, insert" },
  member: { controlPlane: "select, insert, update, delete", api: "select, insert, update, delete" },
  lease: { controlPlane: "select, insert, update", api: "" },
  // Who may write it makes tokens of any role.
  api_token: { controlPlane: "", api: "select, insert, update, delete" },
  setting: NOBODY,
  // Written once: nobody changes what a release was.
  release_part: { controlPlane: "select, insert", api: "select, insert" },
  fleet_proposal: { controlPlane: "", api: "select, insert, update" },
  // Written once too; retention forgets by `audit_forget`. A trigger gives number, time and hashes.
  audit_record: { controlPlane: "select, insert", api: "select, insert" },
  repository_access: { controlPlane: "select, insert, update, delete", api: "select" },
  repository_spelling: { controlPlane: "select, insert", api: "" },
  schema_migration: { controlPlane: "select", api: "select" },
  schema_migration_lock: NOBODY,
};

/** Every sequence. The numbers of identity columns need no right, and nobody but the owner sets epochs back. */
export const SEQUENCE_RIGHTS: Readonly<Record<string, RightsOf>> = {
  epoch_seq: { controlPlane: "usage, select", api: "usage, select" },
  sync_run_place_seq: NOBODY,
  schema_migration_id_seq: NOBODY,
  schema_migration_lock_index_seq: NOBODY,
};

/** Every function that is not a trigger's. */
export const FUNCTION_RIGHTS: Readonly<Record<string, RightsOf>> = {
  "audit_text(audit_record)": { controlPlane: "execute", api: "execute" },
  "audit_forget(bigint)": { controlPlane: "execute", api: "" },
};

/** Whose rights a process of these roles needs. */
export function loginsOf(roles: readonly Role[]): readonly Login[] {
  const others = ROLES.filter((role) => role !== "api");
  return LOGINS.filter((login) => (login === "api" ? roles.includes("api") : others.some((role) => roles.includes(role))));
}

/** One right: on the whole of a thing, or on some of its columns. */
interface Right {
  readonly privilege: string;
  /** Empty: on the whole. */
  readonly columns: readonly string[];
}

/** The rights of a text like `select, update (owner, epoch)`. */
export function parseRights(text: string): readonly Right[] {
  return [...text.matchAll(/([a-z]+)(?: \(([^)]*)\))?(?:, |$)/g)].map(([, privilege = "", columns]) => ({
    privilege,
    columns: columns === undefined ? [] : columns.split(", "),
  }));
}
