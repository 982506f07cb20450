import { nextPartsStep } from "../../scheduler/split/next-parts-step.ts";
import { PART_RULES } from "../../store/adapters/memory/part-rules.ts";
import type { Bug } from "./bug.ts";

/** Parts of deployed workspaces that change hands in wrong ways. */
export const PART_BUGS: readonly Bug[] = [
  {
    name: "new-part-leaves",
    about:
      "a unit is cut and the part that is made leaves: what was begun before, as the unit's account, is never refused for what has left",
    ...{ property: "I1", scenario: "parts-chaos", seed: 45 },
    parts: {
      rules: { ...PART_RULES, isKept: () => false },
      nextStep(placed, wanted, capacity) {
        const step = nextPartsStep(placed, wanted, capacity);
        const made = step.kind === "leave" ? placed.units.find(({ tookFrom }) => tookFrom === step.unitId) : undefined;
        return made === undefined ? step : { kind: "leave", unitId: made.id };
      },
    },
  },
  {
    name: "left-before-taken",
    about:
      "a unit that was cut leaves before its Applications that stay are the new part's, and its move clears them away: what they deployed outlives its deployment",
    ...{ property: "held", scenario: "parts-chaos", seed: 2 },
    parts: { rules: { ...PART_RULES, isKept: (tables, unit) => PART_RULES.isKept(tables, unit, true) } },
  },
  {
    name: "joined-from-afar",
    about: "a part's applications pass to the part that it is joined with while the two are on different instances",
    ...{ property: "I1", scenario: "parts", seed: 2 },
    parts: {
      rules: { ...PART_RULES, mayTakeOver: () => true },
      nextStep(placed, wanted, capacity) {
        const step = nextPartsStep(placed, wanted, capacity);
        const ending = step.kind === "meet" ? placed.units.find(({ joins }) => joins !== undefined) : undefined;
        return ending === undefined ? step : { kind: "take-over", unitId: ending.id };
      },
    },
  },
];
