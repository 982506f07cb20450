import type { Clock } from "../../../domain/clock.ts";
import type { ApiToken, TokenStore } from "../../token/port.ts";
import type { Database, Statement } from "./database.ts";
import { instant } from "./sql-values.ts";

const PUT: Statement = {
  name: "put_token",
  text: `
insert into api_token (name, role, hash, created_at) values ($1, $2, $3, $4)
on conflict (name) do update set role = excluded.role, hash = excluded.hash, created_at = excluded.created_at`,
};
const READ: Statement = { name: "read_token_hashes", text: "select name, role, hash from api_token" };
const LIST: Statement = { name: "list_tokens", text: "select name, role from api_token order by name" };
const REMOVE: Statement = { name: "remove_token", text: "delete from api_token where name = $1" };

export function createTokenStore(database: Database, clock: Clock): TokenStore {
  return {
    put: async ({ name, role }, hash, signal) => void (await database.run(PUT, [name, role, hash, instant(clock.now())], signal)),
    async readHashes(signal) {
      const rows = await database.run<ApiToken & { readonly hash: string }>(READ, [], signal);
      return new Map(rows.map(({ hash, name, role }) => [hash, { name, role }]));
    },
    list: (signal) => database.run<ApiToken>(LIST, [], signal),
    remove: async (name, signal) => void (await database.run(REMOVE, [name], signal)),
  };
}
