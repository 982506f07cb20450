import { afterAll, beforeAll, expect, it } from "vitest";
import { SCRIPTS } from "../src/simulation/models/engine/scripts/scripts.ts";
import type { Script } from "../src/simulation/models/engine/scripts/stage.ts";
import { openModelStage } from "../src/simulation/models/engine/testing/model-stage.ts";
import { type EngineStages, openEngineStages } from "./engine-stage.ts";
import { IS_LONG, openWorld, report } from "./world.ts";

const DEADLINE_MS = 20 * 60_000;

let stages: EngineStages;
beforeAll(async () => {
  stages = await openEngineStages(openWorld(DEADLINE_MS));
}, DEADLINE_MS);
afterAll(() => stages?.close(), DEADLINE_MS);

/** What a script led to, on either side. */
interface Played {
  readonly script: Script;
  readonly model: readonly string[];
  readonly real: readonly string[];
}

async function play(script: Script, index: number): Promise<Played> {
  const real = await stages.open(`engine-script-${index}`, script.usesEntry);
  return { script, model: await script.play(await openModelStage()), real: await script.play(real) };
}

function rowsOf({ script, model, real }: Played): readonly string[] {
  const isEqual = JSON.stringify(model) === JSON.stringify(real);
  const lines = isEqual
    ? real.map((each) => `    ${each}`)
    : [...model.map((each) => `    model: ${each}`), ...real.map((each) => `    real:  ${each}`)];
  return [`${isEqual ? "agree " : "DIFFER"}  ${script.name}`, ...lines];
}

// In long runs only: the model plays the scripts with every commit, and Argo CD changes only with its release.
it.runIf(IS_LONG)(
  "the simulation's model of a controller and a real one behave the same in the same scripts",
  async () => {
    const numbered = SCRIPTS.map((script, index) => ({ script, index }));
    const played = await Promise.all(numbered.filter(({ script }) => !script.isRestarting).map(({ script, index }) => play(script, index)));
    // Restarting a controller disturbs all Applications of its instance. So such scripts run one after the other, and
    // only in long runs.
    if (IS_LONG) for (const { script, index } of numbered) if (script.isRestarting) played.push(await play(script, index));
    for (const row of played.flatMap(rowsOf)) report(row);
    report(`${played.length} scripts on the model and on a real controller`);
    for (const { script, model, real } of played) expect.soft(real, script.name).toEqual(model);
  },
  DEADLINE_MS,
);
