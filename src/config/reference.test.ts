import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { fields } from "./field.ts";
import { renderConfigReference } from "./reference.ts";

it("gives every field a meaning", () => {
  expect(fields.filter((field) => field.children.length === 0 && field.meaning === "")).toEqual([]);
});

it("names path, type, default and meaning of a field", () => {
  const lines = renderConfigReference().split("\n");
  expect(lines).toContain("| `listen.port` | a whole number from 1 to 65535 | `8080` | Port of the REST API. |");
  expect(lines).toContain('| `log.level` | one of debug, info, warn, error | `"info"` | Lowest severity that is written. |');
  expect(lines.some((line) => line.startsWith("| `encryption.keys[].id` |"))).toBe(true);
});

it("has the same number of columns in every line", () => {
  const widths = renderConfigReference()
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/(?<!\\)\|/).length);
  expect(new Set(widths)).toEqual(new Set([6]));
});

it("is what docs/configuration.md holds", () => {
  const file = new URL("../../docs/configuration.md", import.meta.url);
  if (process.env["ARGOSY_WRITE_GOLDEN"] !== undefined) writeFileSync(file, page());
  expect(readFileSync(file, "utf8")).toBe(page());
});

function page(): string {
  return `# Configuration

\`argosy serve --config FILE\` reads one YAML file; everything has a default. DATABASE_URL wins over \`database.url\`. What the
fleet looks like is not in here but declared with \`argosy apply -f fleet.yaml\`. This page is generated from the schema.

${renderConfigReference()}
## TLS to the database

Each connection of Argosy's (the pool, the one for notifications, migrations) is made by what the connection string says. Say there what is
wanted: the variables that the driver reads as well, such as PGSSLMODE, count only for a server of the same machine.

| In the connection string | The connection |
|---|---|
| no \`sslmode\` | the same as \`verify-full\`; plain text to this machine: a socket, \`localhost\`, \`127.0.0.0/8\` or \`::1\` |
| \`sslmode=disable\` | plain text, the password too |
| \`sslmode=no-verify\` | TLS to whoever answers |
| \`sslmode=verify-full\` | TLS; the server's certificate has to be signed by a trusted authority, and for the host in the connection string |
| \`prefer\`, \`require\`, \`verify-ca\` | the same as \`verify-full\` with this version of the driver; the next one means less by them |
| \`uselibpqcompat=true\` | \`prefer\` verifies nothing, \`verify-ca\` no host name; \`require\` no host name, and nothing without \`sslrootcert\` |

\`sslrootcert=/path\` names a file in PEM with the authorities that are trusted **instead of** the public ones; \`sslcert\` and \`sslkey\` are for servers
that ask for a client's certificate. The files are read for each connection: renewed ones need no restart. With
\`database.requireVerifiedTls: true\` only \`sslmode=verify-full\` is accepted, without \`ssl\` and \`uselibpqcompat\`.

\`\`\`
postgres://argosy:…@db.example:5432/argosy?sslmode=verify-full&sslrootcert=/etc/argosy/database-ca.crt
\`\`\`

A server that is not trusted is sent nothing. A process that starts waits for it, as \`/readyz\` says, and ends after ten minutes: the certificate can
be renewed there, and a connection string that was corrected needs a new process. \`argosy migrate\` ends at once.

## Keys that a Vault keeps

An entry of \`encryption.keys\` with \`vault\` is a key that the transit engine of a Vault, or of a server that speaks its protocol, has wrapped. The
configuration holds the wrapped key, which is no secret. A process has it unwrapped when it starts, and keeps it in memory; while the server does not answer
or says no, the process waits and says so. Whoever has the database and the configuration opens nothing, and the server's own audit has each process that
started. The policy of the caller needs \`update\` on \`transit/decrypt/<key>\`, and \`argosy keys generate\` on \`transit/datakey/wrapped/<key>\`.

A key that is taken away there takes effect when a process starts next. The version of the key there may be rotated at will: what an older version wrapped
is still unwrapped, until its minimum version says otherwise.

## Where DATABASE_URL may lead

To PostgreSQL itself, or to a proxy that passes whole connections on (a load balancer, a tunnel). A connection of Argosy's is a session:
notifications of changes arrive on it (LISTEN), statements are prepared once in it, settings without which large tables are read from end to
end are given when it is made (\`options\`), and migrations hold a lock in it.

| In between | |
|---|---|
| PgBouncer and the like, transaction or statement mode | does not work: notifications are lost, so that everything waits for the next sweep, and statements fail that another session has prepared |
| PgBouncer, session mode | works if it passes \`options\` on; with \`ignore_startup_parameters = options\` statements are slow. It saves nothing: \`limits.databaseConnections\` bounds the connections of each process |

\`argosy doctor\` tells the difference (check \`database sessions\`).
`;
}
