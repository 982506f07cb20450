import { z } from "zod";

const text = z.string();
const metadata = z.object({
  name: text,
  uid: text,
  resourceVersion: text,
  deletionTimestamp: text.optional(),
  finalizers: z.array(text).default([]),
  annotations: z.record(text, text).default({}),
  labels: z.record(text, text).default({}),
  ownerReferences: z.array(z.object({ kind: text, name: text })).default([]),
});
const fields = z.record(text, z.unknown());

const source = z.looseObject({ repoURL: text, path: text.default(""), targetRevision: text.default("") });
const syncPolicy = z.looseObject({
  automated: z.looseObject({ prune: z.boolean().default(false), selfHeal: z.boolean().default(false) }).optional(),
  syncOptions: z.array(text).default([]),
});

const application = z.object({
  metadata,
  operation: z.unknown().optional(),
  spec: z.looseObject({
    project: text.default("default"),
    source: source.optional(),
    destination: z.looseObject({ server: text.default(""), name: text.default(""), namespace: text.default("") }),
    syncPolicy: syncPolicy.default({ syncOptions: [] }),
  }),
  status: z
    .object({
      sync: z.object({ status: text.default("Unknown") }).default({ status: "Unknown" }),
      operationState: z.object({ phase: text.default("") }).default({ phase: "" }),
      resources: z.array(z.object({ group: text.default(""), kind: text, name: text, namespace: text.default("") })).default([]),
      conditions: z.array(z.object({ type: text })).default([]),
    })
    .default({ sync: { status: "Unknown" }, operationState: { phase: "" }, resources: [], conditions: [] }),
});
export type HandMade = z.infer<typeof application>;

const project = z.object({ metadata: z.object({ name: text }), spec: fields.default({}) });
export type HandMadeProject = z.infer<typeof project>;

const deployment = z.object({ metadata: metadata.extend({ namespace: text }), spec: z.unknown() });
export type StandingDeployment = z.infer<typeof deployment>;

const namespace = z.object({
  metadata: z.object({ name: text, uid: text.default(""), deletionTimestamp: text.optional(), labels: z.record(text, text).default({}) }),
});

type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly field: string };

function parse<T>(schema: z.ZodType<T>, raw: unknown): Parsed<T> {
  const checked = schema.safeParse(raw);
  if (checked.success) return { ok: true, value: checked.data };
  return { ok: false, field: checked.error.issues[0]?.path.join(".") ?? "" };
}

/** Parses an Application that somebody made by hand. An error names the field that cannot be read. */
export const parseHandMade = (raw: unknown): Parsed<HandMade> => parse(application, raw);
export const parseHandMadeProject = (raw: unknown): Parsed<HandMadeProject> => parse(project, raw);
export const parseStandingDeployment = (raw: unknown): Parsed<StandingDeployment> => parse(deployment, raw);
export const parseAdoptedNamespace = (raw: unknown): Parsed<z.infer<typeof namespace>> => parse(namespace, raw);

/** Leaves out objects that cannot be parsed. That is safe: with fewer of them, fewer Applications are adopted. */
export function readableOnly<T>(raws: readonly unknown[], parse: (raw: unknown) => Parsed<T>): readonly T[] {
  return raws.map(parse).flatMap((parsed) => (parsed.ok ? [parsed.value] : []));
}
