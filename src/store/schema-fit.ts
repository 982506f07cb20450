import { InputError } from "../domain/errors.ts";

/** A migration as a program knows it: a file of `migrations/`. */
export interface KnownMigration {
  /** The file's name without `.sql`; its first four characters are its number. */
  readonly name: string;
  /** Of its statements. */
  readonly hash: string;
}

/** A migration as a database has recorded it. */
export interface RecordedMigration {
  readonly name: string;
  /** Null in a database that was made before migrations were files. */
  readonly hash: string | null;
  /**
   * Number of a migration: a program that knows it still works with the schema. Null: recorded before that was, and only who knows this one
   * works.
   */
  readonly needs: number | null;
}

/**
 * How a program and a database fit.
 *
 * fits: the schema is this program's. fits-newer: a newer program has added to it, and this one still works with it. empty: there is no
 * schema. older: migrations are still to be run. newer: a newer program has changed it so that this one no longer works. other: files made
 * it that this program does not have. cut-off: it is from before the first file, and no file leads on from there.
 */
export type SchemaCode = "fits" | "fits-newer" | "empty" | "older" | "newer" | "other" | "cut-off";

export interface SchemaFit {
  readonly code: SchemaCode;
  /** Names of the migrations that are still to be run, in order. */
  readonly pending: readonly string[];
  /** The schema was made by the steps that the first file sums up: it is as that file makes it, and the database does not say so yet. */
  readonly isFromSteps: boolean;
  /** The last migration that the database has recorded. */
  readonly newest: string | undefined;
  /** A program works with the database if it knows the migration of this number, or a later one. 0: any program does. */
  readonly needs: number;
  /** The last migration that this program knows. */
  readonly known: string;
  /** What is the matter, without a full stop. */
  readonly sentence: string;
  /** What to do about it; empty where nothing has to be done. */
  readonly remedy: string;
  /** Names that the remedy is about, as programs read them. */
  readonly about: string;
}

/** Migrations were steps with three digits before they were files with four. Each ran after all before it. */
const STEP = /^\d{3}-/;
const LAST_STEP = "035-repositories-by-hash";
const STEP_COUNT = 29;
/** Of the first file whose schema was compared with that of the steps. Another one would not be what such a database has. */
export const BASELINE_HASH = "797754167be7c8506223d86a6c932433a8f03474d67903d27bdb85c4d874f902";

/** The number of a migration, which says its place in the history. */
export function numberOf(name: string): number {
  return Number(name.slice(0, 4));
}

/** The number of a migration as files and people write it. */
export function numberText(number: number): string {
  return String(number).padStart(4, "0");
}

/** Compares what a database has recorded, in that order, with what a program knows. */
export function judgeSchema(recorded: readonly RecordedMigration[], migrations: readonly KnownMigration[]): SchemaFit {
  const known = migrations.at(-1)?.name ?? "";
  const newest = recorded.at(-1)?.name;
  const base = { known, newest, pending: [], isFromSteps: false, remedy: "", about: "" };
  if (recorded.some(({ name }) => STEP.test(name))) return { ...base, needs: 0, ...judgeSteps(recorded, migrations) };
  const needs = Math.max(0, ...recorded.map(({ name, needs: said }) => said ?? numberOf(name)));
  const pending = pendingOf(recorded, migrations);
  const other = othersOf(recorded, migrations);
  const newer = recorded.filter(({ name }) => numberOf(name) > numberOf(known)).map(({ name }) => name);
  if (other.length > 0)
    return {
      ...{ ...base, needs, pending, code: "other", about: other.join(", ") },
      sentence: `using a database whose schema was made by another ${other.join(", ")} than that of this version`,
      remedy: "Start the version that made the schema. Who changed a file of migrations/ puts it back and adds a new one",
    };
  if (newer.length > 0) return { ...base, needs, ...judgeNewer(newer, { needs, known }) };
  return { ...base, needs, pending, ...judgePending(pending, { newest, known }) };
}

/** Why a program cannot serve on a database, for whoever started it; `undefined`: it can. */
export function whyNotServe(fit: SchemaFit): InputError | undefined {
  const { sentence, remedy, about } = fit;
  const options = { path: "database.url", remedy };
  switch (fit.code) {
    case "fits":
    case "fits-newer":
      return undefined;
    case "empty":
    case "older":
      return new InputError(sentence, { code: "store.schema", context: { pending: about }, ...options });
    case "newer":
      return new InputError(sentence, { code: "store.schema-newer", context: { unknown: about }, ...options });
    case "other":
      return new InputError(sentence, { code: "store.schema-changed", context: { changed: about }, ...options });
    case "cut-off":
      return new InputError(sentence, { code: "store.schema-older", context: { last: about }, ...options });
    default:
      return fit.code satisfies never;
  }
}

type Judged = Pick<SchemaFit, "code" | "sentence"> & Partial<SchemaFit>;

function judgeSteps(recorded: readonly RecordedMigration[], migrations: readonly KnownMigration[]): Judged {
  const names = recorded.map(({ name }) => name);
  const areAll = names.length === STEP_COUNT && names.includes(LAST_STEP) && names.every((name) => STEP.test(name));
  if (areAll && migrations[0]?.hash === BASELINE_HASH) {
    const pending = migrations.slice(1).map(({ name }) => name);
    return { ...older(names.at(-1), pending), pending, isFromSteps: true };
  }
  const last = names.at(-1) ?? "";
  return {
    ...{ code: "cut-off", about: last },
    sentence: `using a database whose schema was made up to ${last}, which this version cannot go on from`,
    remedy: `Start the version once whose last migration is ${LAST_STEP}, then this one; or use an empty database`,
  };
}

function pendingOf(recorded: readonly RecordedMigration[], migrations: readonly KnownMigration[]): readonly string[] {
  const done = new Set(recorded.map(({ name }) => name));
  return migrations.map(({ name }) => name).filter((name) => !done.has(name));
}

/**
 * What other files made than those this program knows: a name of its own that has another hash, a name that would stand among its own, or a
 * newer one that was added although one of its own is missing.
 */
function othersOf(recorded: readonly RecordedMigration[], migrations: readonly KnownMigration[]): readonly string[] {
  const byName = new Map(migrations.map((migration) => [migration.name, migration]));
  const last = numberOf(migrations.at(-1)?.name ?? "0000");
  const isComplete = pendingOf(recorded, migrations).length === 0;
  return recorded
    .filter(({ name, hash }) => (byName.has(name) ? byName.get(name)?.hash !== hash : numberOf(name) <= last || !isComplete))
    .map(({ name }) => name);
}

function judgeNewer(newer: readonly string[], { needs, known }: { readonly needs: number; readonly known: string }): Judged {
  const names = newer.join(", ");
  if (needs <= numberOf(known))
    return {
      code: "fits-newer",
      sentence: `the database is newer than this version, which still works with it: it has ${names} too`,
      about: names,
    };
  return {
    ...{ code: "newer", about: names },
    sentence: `using a database whose schema has ${names}: who works with it has to know migration ${numberText(needs)}, and this version's last is ${known}`,
    remedy: "Start the version that made the schema, or a newer one",
  };
}

function judgePending(pending: readonly string[], { newest, known }: Pick<SchemaFit, "newest" | "known">): Judged {
  if (pending.length === 0) return { code: "fits", sentence: `the database's schema is at ${known}, as this version needs it` };
  return older(newest, pending);
}

const MIGRATE = "Run `argosy migrate` of this version, or leave it to `argosy serve` (database.migrate: at-start)";

function older(newest: string | undefined, pending: readonly string[]): Judged {
  const about = pending.join(", ");
  if (newest === undefined) return { code: "empty", sentence: "using a database that has no schema yet", remedy: MIGRATE, about };
  return {
    code: "older",
    sentence: `using a database whose schema is older than this version: it is at ${newest}`,
    remedy: MIGRATE,
    about,
  };
}
