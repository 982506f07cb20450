import type { Millis } from "../../../domain/clock.ts";
import { parseScope } from "../../../domain/scope.ts";
import type { ApiToken, TokenRecord, TokenStore, ValidToken } from "../../token/port.ts";
import type { Database, Statement } from "./database.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues, NO_DECISION } from "./decisions.ts";
import { sqlText, texts } from "./sql-values.ts";

/** A limited token's hash begins like this in its row, so that programs that know nothing of limits refuse it. */
const LIMITED = "limited:";

/** Times come from the database alone: processes whose clocks are wrong agree on when a token ends. */
const RECORD_COLUMNS = `name, role, scope, owner, created_by, created_at, expires_at, last_used_at, revoked_at,
  case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired' else 'active' end as state`;

const PUT: Statement = {
  name: "put_token",
  text: `
with forgotten as (
  delete from api_token where name <> $1 and least(revoked_at, expires_at) < now() - interval '30 days'
), journal as (
  insert into decision (${DECISION_COLUMNS}) select $8, $9::timestamptz, $10, $11, $12, $13, $14::json where $8::text is not null
)
insert into api_token (name, role, hash, owner, created_by, created_at, expires_at, scope)
values ($1, $2, case when $7::jsonb is null then $3 else '${LIMITED}' || $3 end, $4, $5, now(), now() + $6::double precision * interval '1 millisecond', $7::jsonb)
on conflict (name) do update
   set role = excluded.role, hash = excluded.hash, owner = excluded.owner, created_by = excluded.created_by, created_at = excluded.created_at,
       expires_at = excluded.expires_at, scope = excluded.scope, last_used_at = null, revoked_at = null
returning ${RECORD_COLUMNS}`,
};

const READ: Statement = {
  name: "read_token_hashes",
  text: `
select name, role, scope, case when starts_with(hash, '${LIMITED}') then substr(hash, ${LIMITED.length + 1}) else hash end as hash,
       (extract(epoch from expires_at - now()) * 1000)::double precision as ends_in_ms
  from api_token where revoked_at is null and (expires_at is null or expires_at > now())`,
};

const LIST: Statement = { name: "list_tokens", text: `select ${RECORD_COLUMNS} from api_token order by name` };

/** Programs of before read nothing but the hash: one that no token has makes them refuse it. */
const REVOKE: Statement = {
  name: "revoke_token",
  text: `
with revoked as (
  update api_token set revoked_at = now(), hash = 'revoked:' || name where name = $1 and revoked_at is null returning name
), journal as (
  insert into decision (${DECISION_COLUMNS}) select $2, $3::timestamptz, $4, $5, $6, $7, $8::json from revoked
)
select name from revoked`,
};

/** Whoever holds a row right now says the same of it, or changes more. */
const RECORD_USE: Statement = {
  name: "record_token_use",
  text: `
with used as materialized (
  select name from api_token
   where hash = any ($1::text[]) and (last_used_at is null or last_used_at <= now() - interval '1 minute')
   order by name for no key update skip locked
)
update api_token t set last_used_at = now() from used u where t.name = u.name`,
};

const REMOVE: Statement = { name: "remove_token", text: "delete from api_token where name = $1" };

interface TokenRow extends Pick<ApiToken, "name" | "role"> {
  readonly scope: unknown;
}

interface RecordRow extends TokenRow {
  readonly owner: string | null;
  readonly created_by: string | null;
  readonly created_at: Millis;
  readonly expires_at: Millis | null;
  readonly last_used_at: Millis | null;
  readonly revoked_at: Millis | null;
  readonly state: TokenRecord["state"];
}

function tokenOf({ name, role, scope: stored }: TokenRow): ApiToken {
  const scope = parseScope(stored);
  return { name, role, ...(scope === undefined ? {} : { scope }) };
}

function recordOf(row: RecordRow): TokenRecord {
  return {
    ...{ ...tokenOf(row), state: row.state, createdAt: row.created_at },
    owner: row.owner ?? undefined,
    createdBy: row.created_by ?? undefined,
    expiresAt: row.expires_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  };
}

export function createTokenStore(database: Database, ids: DecisionIds): TokenStore {
  return {
    async put({ name, role, scope, hash, owner, createdBy, lifetimeMs }, decision, signal) {
      const limits = scope === undefined ? null : JSON.stringify(scope);
      const values = [sqlText(name), role, hash, sqlText(owner), sqlText(createdBy), lifetimeMs ?? null, limits];
      const entry = decision === undefined ? NO_DECISION : decisionValues(ids, decision);
      const [row] = await database.run<RecordRow>(PUT, [...values, ...entry], signal);
      return recordOf(row as RecordRow);
    },
    async readHashes(signal) {
      const rows = await database.run<TokenRow & { readonly hash: string; readonly ends_in_ms: number | null }>(READ, [], signal);
      return new Map(
        rows.map(({ hash, ends_in_ms, ...row }): [string, ValidToken] => [hash, { ...tokenOf(row), endsInMs: ends_in_ms ?? undefined }]),
      );
    },
    list: async (signal) => (await database.run<RecordRow>(LIST, [], signal)).map(recordOf),
    revoke: async (name, decision, signal) =>
      (await database.run(REVOKE, [sqlText(name), ...decisionValues(ids, decision)], signal)).length > 0,
    async recordUse(hashes, signal) {
      if (hashes.length > 0) await database.run(RECORD_USE, [texts(hashes.flatMap((hash) => [hash, `${LIMITED}${hash}`]))], signal);
    },
    remove: async (name, signal) => void (await database.run(REMOVE, [sqlText(name)], signal)),
  };
}
