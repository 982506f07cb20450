import { z } from "zod";
import type { ApiDocument, JsonSchema, RawRequest } from "./requests.ts";

export interface RawAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** What must be in no answer and in no log, whatever was asked. */
const LEAKS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["a stack trace", /(?:\n|\\n)\s+at [\w.<>[\] ]+ ?\(?(?:file:|node:|\/)/],
  ["a path of the source", /(?:node_modules|\/src\/|\/work\/)[\w./-]*|[\w-]+\.ts:\d+/],
  ["a statement of the database", /\b(?:insert into|delete from|select [\w*, ]+ from|syntax error at or near|relation ")/i],
];

/** Complaints about answers of this API. */
export function createJudge(document: ApiDocument, secrets: readonly string[]) {
  const schemas = new Map<JsonSchema, z.ZodType>();
  const checked = (schema: JsonSchema): z.ZodType => {
    const parsed = schemas.get(schema) ?? z.fromJSONSchema(inlined(schema, document) as Parameters<typeof z.fromJSONSchema>[0]);
    schemas.set(schema, parsed);
    return parsed;
  };
  /** What a text gives away that nobody may see. What the request brought along is no secret. */
  const leaks = (text: string, said = ""): readonly string[] => [
    ...secrets.filter((secret) => text.includes(secret)).map(() => "a secret"),
    ...LEAKS.filter(([, pattern]) => {
      const found = pattern.exec(text)?.[0];
      return found !== undefined && !said.includes(found);
    }).map(([what]) => what),
  ];
  return {
    leaks,
    complaints({ operation, method, target, body }: RawRequest, { status, contentType, text }: RawAnswer): readonly string[] {
      const said = `${decoded(target)} ${String(body ?? "")}`;
      const given = leaks(text, said).map((what) => `gives away ${what}`);
      const isDeclared = operation.answers[String(status)] !== undefined && method === operation.method;
      if (status >= 500 && !(status === 503 && isDeclared)) return [...given, `answers ${status}`];
      if (method === "HEAD" || (status === 503 && isDeclared)) return given;
      if (status >= 400) return [...given, ...problemsOf(contentType, text, status)];
      const schema = operation.answers[String(status)];
      if (schema === undefined || method !== operation.method || !contentType.includes("json")) return given;
      const parsed = checked(schema).safeParse(JSON.parse(text));
      return parsed.success ? given : [...given, `answers what is not declared: ${parsed.error.message.slice(0, 300)}`];
    },
  };
}

const problemSchema = z.object({
  ...{ type: z.string(), title: z.string().min(1), status: z.number(), detail: z.string(), code: z.string().min(1) },
  complaints: z.array(z.object({ path: z.string(), message: z.string(), remedy: z.string() })).optional(),
});

function problemsOf(contentType: string, text: string, status: number): readonly string[] {
  if (!contentType.startsWith("application/problem+json")) return [`refuses with ${contentType === "" ? "no content" : contentType}`];
  const parsed = problemSchema.safeParse(JSON.parse(text));
  if (!parsed.success) return ["refuses without a problem document"];
  return parsed.data.status === status ? [] : [`says ${parsed.data.status} in the problem and ${status} on the line`];
}

/** The schema with what it refers to beside it, as a document of its own. */
function inlined(schema: JsonSchema, { components }: ApiDocument): unknown {
  const text = JSON.stringify({ ...schema, $defs: components.schemas });
  return JSON.parse(text.replaceAll("#/components/schemas/", "#/$defs/"));
}

function decoded(target: string): string {
  try {
    return `${target} ${decodeURIComponent(target)}`;
  } catch {
    return target;
  }
}
