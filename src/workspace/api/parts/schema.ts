import { z } from "zod";

/** One rule in both tongues: `cel` for the API server, `holds` for objects that are older than the rule and are checked here again. */
interface Rule<T> {
  readonly cel: string;
  readonly message: string;
  /** Absent for rules about a change, which only the API server sees, and of kinds that nothing here reads. */
  readonly holds?: (value: T) => boolean;
}

/** What the schemas carry for the renderer of resource definitions beside JSON Schema. */
export interface SchemaNotes {
  readonly rules?: readonly { readonly rule: string; readonly message: string }[];
  readonly listType?: "map" | "atomic";
  readonly listKeys?: readonly string[];
  readonly preserveUnknown?: boolean;
  readonly format?: string;
}

/** A schema with rules: checked here, and carried along for the API server. */
export function ruled<S extends z.ZodType>(schema: S, rules: readonly Rule<z.output<S>>[]): S {
  let checked = schema;
  for (const { holds, message } of rules) if (holds !== undefined) checked = checked.refine(holds, message) as S;
  return checked.meta({ ...schema.meta(), rules: rules.map(({ cel, message }) => ({ rule: cel, message })) } satisfies SchemaNotes);
}

export const textSchema = (longest: number, description: string) => z.string().max(longest).describe(description);
export const time = (description: string) => z.string().max(64).meta({ format: "date-time", description });
export const count = (description: string) => z.int().min(0).describe(description);
export const mirror = (description: string) =>
  z.looseObject({}).meta({ preserveUnknown: true, description } satisfies SchemaNotes & { description: string });

/** Longest values anybody may give, in characters: far beyond what is used, small enough to bound every cost. */
export const LONGEST_URL = 2048;
export const LONGEST_PATH = 4096;
export const LONGEST_REVISION = 1024;
export const LONGEST_NAME = 253;
export const LONGEST_MESSAGE = 32_768;

export const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Whether a Kubernetes object may be called so (RFC 1123 subdomain): nothing else is ever asked for. */
export function isObjectName(text: string): boolean {
  return text.length <= LONGEST_NAME && text.split(".").every((label) => dnsLabel.test(label));
}

const condition = z.object({
  type: textSchema(316, "What the condition is about."),
  status: textSchema(7, "True, False or Unknown.").regex(/^(True|False|Unknown)$/),
  reason: textSchema(1024, "Why, in one word.").optional(),
  message: textSchema(LONGEST_MESSAGE, "Why, for people.").optional(),
  lastTransitionTime: time("When the status last changed.").optional(),
  lastProbeTime: time("When anything of the condition last changed.").optional(),
  observedGeneration: count("Generation of the resource this condition is about.").optional(),
});

export const conditions = z.array(condition).meta({
  listType: "map",
  listKeys: ["type"],
  description: "Conditions, one per type.",
} satisfies SchemaNotes & {
  description: string;
});
