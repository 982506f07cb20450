import type { ReservedServerStore } from "../../port.ts";
import type { Database, Statement } from "./database.ts";
import { sqlText, texts } from "./sql-values.ts";

const READ: Statement = { name: "read_reserved_server", text: "select listeners, certificate from reserved_server where server = $1" };
const KEEP: Statement = {
  name: "keep_reserved_server",
  text: `
insert into reserved_server as kept (server, listeners, certificate) values ($1, $2, $3)
on conflict (server) do update set listeners = excluded.listeners, certificate = excluded.certificate
 where (kept.listeners, kept.certificate) is distinct from (excluded.listeners, excluded.certificate)`,
};

interface Row {
  readonly listeners: readonly string[];
  readonly certificate: string | null;
}

export function createReservedServerStore(database: Database): ReservedServerStore {
  return {
    async read(server, signal) {
      const [row] = await database.run<Row>(READ, [sqlText(server)], signal);
      return row === undefined ? undefined : { server, listeners: row.listeners, certificate: row.certificate ?? undefined };
    },
    keep: async ({ server, listeners, certificate }, signal) =>
      void (await database.run(KEEP, [sqlText(server), texts(listeners), certificate ?? null], signal)),
  };
}
