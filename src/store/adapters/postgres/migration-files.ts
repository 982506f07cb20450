import { readdir, readFile } from "node:fs/promises";
import type { Knex } from "knex";
import { DefectError } from "../../../domain/errors.ts";
import { sha256 } from "../../../domain/hash.ts";

/** One file of the schema's history. Files are only ever added at the end, and never changed once they were released. */
export interface Migration {
  /** The file's name without `.sql`. */
  readonly name: string;
  readonly sql: string;
  /** Of its statements: another one means that another file of this name made the schema. */
  readonly hash: string;
}

/** Beside `src/`, wherever the checkout stands. */
const FOLDER = new URL("../../../../migrations/", import.meta.url);

const FILE = /^\d{4}-[a-z0-9-]+\.sql$/;

/** The history of this version, in its order. Raises `DefectError` when there is none, or a file's name does not say its place in it. */
export async function readMigrations(): Promise<readonly Migration[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".sql")).sort();
  const odd = misplaced(files);
  if (files.length === 0 || odd !== undefined) {
    throw new DefectError("reading migrations/: its files are numbered in turn, as 0001-baseline.sql", {
      code: "store.migration-files",
      context: { folder: FOLDER.pathname, file: odd },
    });
  }
  return Promise.all(files.map(async (file) => migration(file.slice(0, -".sql".length), await readFile(new URL(file, FOLDER), "utf8"))));
}

/** Of sorted file names the first that is not numbered in turn: a gap, a number given twice, or no number at all. */
export function misplaced(files: readonly string[]): string | undefined {
  return files.find((file, index) => !FILE.test(file) || Number(file.slice(0, 4)) !== index + 1);
}

export function migration(name: string, sql: string): Migration {
  return { name, sql, hash: sha256(statementsOf(sql)) };
}

/** Without lines that hold nothing but a comment, and without what stands at the ends of lines: explanations may be improved. */
function statementsOf(sql: string): string {
  const lines = sql.split("\n").map((line) => line.trimEnd());
  return lines.filter((line) => line !== "" && !line.trimStart().startsWith("--")).join("\n");
}

/** How long a transaction waits for what others hold before it gives up, and with it the start; others queue behind it meanwhile. */
export const LIMIT_WAITING = "set local lock_timeout = '10s'";

/** The history as knex reads it. Forward only: a file is taken back by another file. */
export function migrationSource(migrations: readonly Migration[]): Knex.MigrationSource<Migration> {
  return {
    getMigrations: async () => [...migrations],
    getMigrationName: ({ name }) => name,
    getMigration: async ({ name, sql }) => ({
      async up(knex) {
        await knex.raw(LIMIT_WAITING);
        // Without the backslash knex takes a question mark for a parameter.
        await knex.raw(sql.replaceAll("?", "\\?"));
      },
      async down() {
        throw new Error(`${name} is not taken back; add a migration that does`);
      },
    }),
  };
}
