import { readdirSync, readFileSync } from "node:fs";
import { InputError } from "../../domain/errors.ts";
import { type Scenario, scenarioSchema } from "./schema.ts";

const FOLDER = new URL("./data/", import.meta.url);

/** Names of the scenarios that are there, sorted. */
export function scenarioNames(): readonly string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length))
    .sort();
}

/** The scenario of that name. Throws `InputError` for one that is not there or cannot be read. */
export function loadScenario(name: string): Scenario {
  if (!scenarioNames().includes(name)) {
    throw new InputError(`there is no scenario called ${name}`, {
      code: "simulation.scenario",
      path: "--scenario",
      remedy: `Take one of ${scenarioNames().join(", ")}`,
    });
  }
  const parsed = scenarioSchema.safeParse(JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), "utf8")));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new InputError(`the scenario ${name} cannot be read: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`, {
    code: "simulation.scenario",
    path: issue?.path.join(".") ?? "",
    remedy: "Give the field a value that src/simulation/scenarios/schema.ts allows",
  });
}
