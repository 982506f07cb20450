import { allChecks, TYPES } from "../checks/checks.ts";
import { runChecks } from "../checks/run-checks.ts";
import type { Stage } from "./stage.ts";

/** What `npm run check` runs; each check counts as one test. Code with broken types is not tested any further. */
export const staticStage: Stage = {
  name: "static",
  async run({ print, signal }) {
    const outcomes = await runChecks(allChecks(), print, signal);
    const failed = outcomes.filter(({ isFine }) => !isFine);
    const isFatal = failed.some(({ check }) => check.name === TYPES);
    return {
      passed: outcomes.length - failed.length,
      failed: failed.length,
      skipped: 0,
      ...(isFatal ? { isFatal, note: "the types are broken: nothing else was run" } : {}),
    };
  },
};
