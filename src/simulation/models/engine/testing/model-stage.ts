import type { Stage } from "../scripts/stage.ts";
import { aWorld } from "./world.ts";

/** Simulated time in which a controller begins whatever it does at once, in ms. It is shorter than two minutes, after which it compares by itself. */
const IDLE_MS = 10_000;
const STEP_MS = 5;
const TIMEOUT_MS = 30 * 60_000;

/** The model, on a simulated clock, with a right to write. */
export async function openModelStage(): Promise<Stage> {
  const { world, git, create, permit, remove, patch, setEntry, restart, application, plant, versions } = aWorld();
  permit();
  await world.run(1_000);
  return {
    make: async ({ annotations, ...rest }) => void create({ ...annotations }, { isAutomated: false, ...rest }),
    patch: async (each) => void patch(each),
    remove: async () => void remove(),
    push: async (files) => git.push("folder", files),
    head: () => git.head("folder"),
    setEntry: async (isThere) => void setEntry(isThere),
    restart: async () => restart(),
    read: async () => structuredClone(application()),
    plant: async (name) => void plant(name),
    objects: async () => versions(),
    async until(what, holds) {
      for (let passedMs = 0; !(await holds()); passedMs += STEP_MS) {
        if (passedMs > TIMEOUT_MS) throw new Error(`never: ${what}; last: ${JSON.stringify(application())}`);
        await world.run(STEP_MS);
      }
    },
    idle: () => world.run(IDLE_MS),
  };
}
