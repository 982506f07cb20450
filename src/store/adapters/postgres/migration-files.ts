import { readdir, readFile } from "node:fs/promises";
import type { Knex } from "knex";
import { DefectError } from "../../../domain/errors.ts";
import { sha256 } from "../../../domain/hash.ts";
import { type KnownMigration, numberOf } from "../../schema-fit.ts";

/** One file of the schema's history. Files are only ever added at the end, and never changed once they were released. */
export interface Migration extends KnownMigration {
  readonly sql: string;
  /** Number of a migration: a program that knows it, or a later one, still works with the schema once this file has run. */
  readonly needs: number;
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

/** Raises `DefectError` when the file says in a wrong way which program it needs. */
export function migration(name: string, sql: string): Migration {
  const need = parseNeed(name, sql);
  if ("wrong" in need) throw new DefectError(`reading migrations/${name}.sql: ${need.wrong}`, { code: "store.migration-files" });
  return { name, sql, hash: sha256(statementsOf(sql)), needs: need.needs };
}

/** What a file says of the programs that still work after it. */
export type Need =
  | {
      readonly needs: number;
      readonly isSaid: boolean;
      /** Why that is so although its statements alone would say otherwise. */
      readonly because: string | undefined;
    }
  | { readonly wrong: string };

const NEED = /^-- needs program: (\d{4})(?:, because (\S.*))?$/;

/**
 * Reads the line `-- needs program: 0007`, or `-- needs program: 0007, because …`. A file without one needs a program that has it: whoever
 * says nothing lets nobody in who could do harm.
 */
export function parseNeed(name: string, sql: string): Need {
  const own = numberOf(name);
  const lines = sql.split("\n").filter((line) => /^\s*--\s*needs\s+program\b/i.test(line));
  const [line] = lines;
  if (line === undefined) return { needs: own, isSaid: false, because: undefined };
  const [, number = "", because] = NEED.exec(line.trimEnd()) ?? [];
  if (lines.length > 1) return { wrong: "it says more than once which program it needs" };
  if (number === "") return { wrong: `\`${line.trim()}\` is not written as \`-- needs program: 0007\`` };
  if (Number(number) < 1 || Number(number) > own)
    return { wrong: `it needs a program that knows ${number}, which is no file before it nor itself` };
  return { needs: Number(number), isSaid: true, because };
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
