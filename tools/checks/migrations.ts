import { parseNeed } from "../../src/store/adapters/postgres/migration-files.ts";
import { numberOf, numberText } from "../../src/store/schema-fit.ts";
import type { OwnCheck } from "./own-check.ts";
import { partsOf, statementsOf } from "./sql-statements.ts";

/** These were there before files said which program they need. Who does not know all of them is refused. */
const LAST_SILENT = 7;

/**
 * Each file of migrations/ says which program still works after it, and its statements look like it as far as that can be told from them.
 */
export const migrations: OwnCheck = {
  name: "migrations",
  mend: "write `-- needs program: NNNN` into the file as migrations/README.md says",
  find(project) {
    const files = project.files.filter(({ path }) => /^migrations\/[^/]+\.sql$/.test(path));
    return {
      problems: files.flatMap(({ path, text }) => {
        const why = whyNotNeed(path.slice("migrations/".length, -".sql".length), text);
        return why === undefined ? [] : [`${path}: ${why}`];
      }),
    };
  },
};

function whyNotNeed(name: string, sql: string): string | undefined {
  const own = numberOf(name);
  if (own <= LAST_SILENT) return undefined;
  const need = parseNeed(name, sql);
  if ("wrong" in need) return need.wrong;
  if (!need.isSaid) return "it does not say which program still works after it";
  if (need.because !== undefined) return undefined;
  const [change] = changesOf(sql);
  const [asked, itself] = [numberText(need.needs), numberText(own)];
  if (change !== undefined && need.needs < own)
    return `programs that know ${asked} are to work after it, and \`${change}\` does more than add: say \`-- needs program: ${asked}, because …\`, or ${itself}`;
  if (change === undefined && need.needs === own)
    return `it only adds, and lets no program of before in: name the last migration of the release before, or say \`-- needs program: ${itself}, because …\``;
  return undefined;
}

/**
 * The statements that do more than add something which programs of before neither read nor write. When in doubt a statement is one of them.
 * What only adds: a new table, and anything about it; a new index that is not unique; a new sequence, type or comment; a column that may be
 * null or has a default and holds nothing to anything else; filling such columns.
 */
export function changesOf(sql: string): readonly string[] {
  const made = { tables: new Set<string>(), columns: new Set<string>() };
  return statementsOf(sql).filter((statement) => !onlyAdds(statement, made));
}

interface Made {
  readonly tables: Set<string>;
  /** `table.column` of tables that were there. */
  readonly columns: Set<string>;
}

const NAME = String.raw`((?:"[^"]+"|[\w$]+)(?:\.(?:"[^"]+"|[\w$]+))?)`;
const TABLE = new RegExp(`^create (?:unlogged )?table (?:if not exists )?${NAME}(?= ?\\()`);
const INDEX = new RegExp(`^create (unique )?index (?:concurrently )?(?:if not exists )?(?:${NAME} )?on (?:only )?${NAME}`);
const ALTER = new RegExp(`^alter table (?:if exists )?(?:only )?${NAME} (.*)$`);
const WRITE = new RegExp(`^(?:insert into|delete from(?: only)?|update(?: only)?) ${NAME}`);
const UPDATE = new RegExp(`^update (?:only )?${NAME} set (.*?)(?: (?:from|where|returning) .*)?$`);
const COLUMN = new RegExp(`^add (?:column )?(?:if not exists )?${NAME} `);
/** What holds a column of a table that was there to something else, or is no column at all. */
const HELD = /^add (?:constraint|primary|unique|foreign|check|exclude)\b|\b(?:references|unique|primary key|generated)\b/;

function onlyAdds(statement: string, made: Made): boolean {
  const table = TABLE.exec(statement)?.[1];
  if (table !== undefined) {
    if (/\binherits ?\(|\breferences\b/.test(statement) && !refersToMade(statement, made, table)) return false;
    made.tables.add(table);
    return true;
  }
  if (/^create (?:sequence|type) |^comment on /.test(statement)) return true;
  const [, unique, , indexed = ""] = INDEX.exec(statement) ?? [];
  if (indexed !== "") return unique === undefined || made.tables.has(indexed);
  const [, altered = "", actions = ""] = ALTER.exec(statement) ?? [];
  if (altered !== "") return made.tables.has(altered) || partsOf(actions).every((action) => addsColumn(action, altered, made));
  const written = WRITE.exec(statement)?.[1];
  return written !== undefined && (made.tables.has(written) || fillsNewColumns(statement, made));
}

/** A row that refers to another keeps that from being deleted, which programs of before do. */
function refersToMade(statement: string, made: Made, table: string): boolean {
  if (/\binherits ?\(/.test(statement)) return false;
  const targets = [...statement.matchAll(new RegExp(`\\breferences ${NAME}`, "g"))].map(([, target = ""]) => target);
  const cascades = [...statement.matchAll(/\bon delete (?:cascade|set null)\b/g)].length;
  return targets.every((target) => target === table || made.tables.has(target)) || cascades === targets.length;
}

function addsColumn(action: string, table: string, made: Made): boolean {
  const column = COLUMN.exec(action)?.[1];
  if (column === undefined || HELD.test(action)) return false;
  if (/\bnot null\b/.test(action) && !/\bdefault\b/.test(action)) return false;
  made.columns.add(`${table}.${column}`);
  return true;
}

function fillsNewColumns(statement: string, made: Made): boolean {
  const [, table = "", settings = ""] = UPDATE.exec(statement) ?? [];
  if (settings === "") return false;
  return partsOf(settings).every((setting) => made.columns.has(`${table}.${setting.split("=")[0]?.trim() ?? ""}`));
}
