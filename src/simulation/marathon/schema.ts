import { z } from "zod";

const count = z.number().min(0);
const counts = z.record(z.string(), count);
/** One part of a long run, as a line of a file has it. */
export const partSchema = z.strictObject({
  code: z.string(),
  scenario: z.string(),
  seed: z.int().min(1),
  runs: z.int().min(1),
  ends: counts,
  faults: counts,
  events: count,
  simulatedMs: count,
  cpuMs: count,
  trace: z.string(),
  failed: z.array(z.strictObject({ seed: z.int(), property: z.string(), text: z.string() })),
});
