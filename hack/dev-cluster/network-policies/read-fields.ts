import { InputError } from "../../../src/domain/errors.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** What is wrong with a value of an object. */
export function wrong(path: string, problem: string, remedy: string): InputError {
  return new InputError(`${path} ${problem}`, { code: "dev.network-policy", path, remedy });
}

/** Returns an object that has no fields but these. A field that is not known could forbid what the others seem to allow. */
export function readFields(value: unknown, path: string, known: readonly string[]): Fields {
  const fields = readObject(value, path);
  const unknown = Object.keys(fields).find((name) => !known.includes(name) && fields[name] !== undefined);
  if (unknown !== undefined) throw wrong(`${path}.${unknown}`, "is a field that is not known here", `use only ${known.join(", ")}`);
  return fields;
}

export function readObject(value: unknown, path: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(path, "is no object", "write an object");
  return value as Fields;
}

/** Returns a list; an absent one, which Kubernetes may write as null, is empty. */
export function readList(value: unknown, path: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrong(path, "is no list", "write a list");
  return value;
}

export function readText(value: unknown, path: string): string {
  if (typeof value !== "string" || value === "") throw wrong(path, "is no text", "write a text that is not empty");
  return value;
}

export function readOneOf<T extends string>(value: unknown, path: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw wrong(path, `is ${JSON.stringify(value)}`, `use one of ${choices.join(", ")}`);
  return found;
}

export function readPortNumber(value: unknown, path: string): number {
  if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > 65_535)
    throw wrong(path, `is ${JSON.stringify(value)}`, "use a whole number from 1 to 65535");
  return Number(value);
}

/** Labels, or the `matchLabels` of a selector. */
export function readLabels(value: unknown, path: string): ReadonlyMap<string, string> {
  if (value === undefined || value === null) return new Map();
  const labels = Object.entries(readObject(value, path));
  const bad = labels.find(([, each]) => typeof each !== "string");
  if (bad !== undefined) throw wrong(`${path}[${bad[0]}]`, "is no text", "write labels as texts");
  return new Map(labels as [string, string][]);
}
