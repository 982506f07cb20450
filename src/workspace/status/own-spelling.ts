import { spellingOf } from "../../domain/repository-spelling.ts";
import type { DeploymentRecord } from "./verdict.ts";

/** What the database knows of a deployment, with its repository written as its user writes it wherever an instance writes it as it has it. */
export function inOwnSpelling(record: DeploymentRecord | undefined): DeploymentRecord | undefined {
  const own = record?.application.spec.source.repoUrl ?? "";
  const given = record?.access === undefined ? own : spellingOf(own, record.access.ordinal);
  return record === undefined || given === own ? record : { ...record, status: replaced(record.status, given, own) };
}

function replaced<T>(value: T, given: string, own: string): T {
  if (typeof value === "string") return value.replaceAll(given, own) as T & string;
  if (Array.isArray(value)) return value.map((entry) => replaced(entry, given, own)) as T & unknown[];
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, replaced(entry, given, own)])) as T & object;
}
