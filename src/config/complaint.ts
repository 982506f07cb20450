import type { z } from "zod";
import { nearest } from "../domain/nearest.ts";
import { fieldAt, fields, pathText } from "./field.ts";

/** What is wrong in a configuration. Never repeats a value: it may be a secret. */
export interface ConfigComplaint {
  /** `listen.port`, or the name of an environment variable; "" is the whole document. */
  readonly path: string;
  readonly message: string;
  readonly remedy: string;
}

/** One issue of the schema in words; an issue about several unknown fields becomes one complaint each. */
export function complaintsOf(issue: z.core.$ZodIssue): readonly ConfigComplaint[] {
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownField(issue.path, key));
  // Of an alternative the last is the one people write by hand.
  const inner = issue.code === "invalid_union" ? issue.errors.at(-1) : undefined;
  if (inner?.some((one) => one.path.length > 0))
    return inner.flatMap((one) => complaintsOf({ ...one, path: [...issue.path, ...one.path] }));
  const field = fieldAt(issue.path);
  return [{ path: pathText(issue.path), message: messageOf(issue), remedy: `Give ${field?.type ?? "a value of the right form"}` }];
}

function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type" && issue.input === undefined) return "is missing";
  if (issue.code === "invalid_type") return `is not ${fieldAt(issue.path)?.type ?? issue.expected}`;
  if (issue.code === "invalid_value" || issue.code === "invalid_union") return "is none of the values that are allowed";
  if (issue.code === "too_small") return issue.origin === "int" || issue.origin === "number" ? `is less than ${issue.minimum}` : "is empty";
  if (issue.code === "too_big")
    return issue.origin === "int" || issue.origin === "number" ? `is more than ${issue.maximum}` : `is longer than ${issue.maximum}`;
  return `is not ${fieldAt(issue.path)?.type ?? "of the right form"}`;
}

function unknownField(at: readonly PropertyKey[], key: string): ConfigComplaint {
  const siblings = fieldAt(at)?.children ?? [];
  const meant = nearest(key, siblings);
  const elsewhere = fields.find((field) => field.path.endsWith(`.${key}`));
  const remedy =
    meant !== undefined
      ? `Did you mean ${pathText([...at, meant])}?`
      : elsewhere !== undefined
        ? `Did you mean ${elsewhere.path}?`
        : `Remove it, or use one of ${siblings.join(", ")}`;
  return { path: pathText([...at, key]), message: "is no field of the configuration", remedy };
}
