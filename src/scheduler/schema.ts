import { z } from "zod";
import type { Refusal } from "./place-unit.ts";
import type { Cause } from "./plan/record.ts";

const text = z.string();
const figure = z.number();

/** The fields that the sentence of a refusal needs; which demands there are is not checked here. */
const refusal = z
  .looseObject({ instance: text, rule: text })
  .refine((raw) => raw.rule !== "BOUND" || z.looseObject({ dimension: text, would: figure, limit: figure }).safeParse(raw).success)
  .refine((raw) => raw.rule !== "STATE" || typeof raw["state"] === "string")
  .transform((raw) => raw as unknown as Refusal);
const refusals = z.array(z.unknown()).transform((all) => all.flatMap((one) => refusal.safeParse(one).data ?? []));

const share = { instance: text, share: figure, limit: figure };
/** The fields that the sentence of a cause needs. */
const cause = z
  .discriminatedUnion("rule", [
    z.looseObject({ rule: z.literal("UNPLACED") }),
    z.looseObject({ rule: z.literal("OWNER_GONE"), instance: text }),
    z.looseObject({ rule: z.literal("SPREAD"), instances: z.array(text) }),
    z.looseObject({ rule: z.literal("MAY_NOT_STAY"), ineligible: refusal }),
    z.looseObject({ rule: z.literal("ABOVE"), ...share, forMs: figure }),
    z.looseObject({ rule: z.literal("OVERLOADED"), ...share }),
    z.looseObject({ rule: z.literal("BELOW"), ...share }),
  ])
  .transform((raw) => raw as unknown as Cause);

/** What a first placement rests on, as the journal keeps it. Entries that hold something else are not parsed. */
export const recordedPlacement = z.looseObject({
  preferred: text.optional(),
  mean: figure,
  bound: figure,
  refusals,
  chosen: text.nullable(),
  class: z.object({ instances: figure, byState: z.record(text, figure) }).optional(),
});
export type RecordedPlacement = z.infer<typeof recordedPlacement>;

/** What a plan's choice rests on, as a plan and the journal keep it; only the fields that are shown. */
export const recordedMove = z.looseObject({
  units: z.array(text),
  cause,
  answer: z.looseObject({ chosen: text.optional(), refusals }),
});
export type RecordedMove = z.infer<typeof recordedMove>;
