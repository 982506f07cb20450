import { describe, expect, it } from "vitest";
import type { EnvironmentId } from "../../domain/ids.ts";
import { asObject } from "../../domain/json.ts";
import { environmentProjectName, projectName } from "../../shard/names.ts";
import { parseObservation } from "../../shard/parse-observation.ts";
import { renderApplication, targetOf } from "../../shard/render-application.ts";
import { anApplication, anApplicationPlacement, anEnvironment, DESTINATION, stored } from "../../shard/testing/builders.ts";
import { pairUp } from "./pair.ts";

const placement = anApplicationPlacement();
const environment = anEnvironment({ id: "environment-1" as EnvironmentId });
const application = anApplication({}, { destination: { environment: "prod", namespace: "web" } });
const target = targetOf(placement, application, { own: DESTINATION, environment }) ?? { server: "", namespace: "" };
const [own, others] = [projectName(placement.unit.id), environmentProjectName(placement.unit.id)];

/** The project that the application will name on the target of a move. `source`, `copy`: what it names there now. */
function projectOn({ source, copy }: { readonly source?: string; readonly copy?: string }): unknown {
  const observe = (project: string | undefined) =>
    project === undefined ? [] : [parseObservation(stored(renderApplication(placement, application, target, project))) ?? []].flat();
  const [pair] = pairUp(placement, {
    ...{ rows: [{ application, environment }], onSource: observe(source), onTarget: observe(copy) },
    ...{ isSourceAway: false, unknown: [], own: DESTINATION, recorded: undefined },
  });
  return asObject(pair?.desired?.content["spec"])["project"];
}

describe("an application for an environment that is handed over", () => {
  it("names the project of environments on its new instance, whatever it named before", () => {
    expect(projectOn({ source: others })).toBe(others);
    expect(projectOn({ source: own })).toBe(others);
    expect(projectOn({ source: others, copy: others })).toBe(others);
  });

  it("names what a version before gave its copy, until the move is over: nothing else was raised there", () => {
    expect(projectOn({ source: own, copy: own })).toBe(own);
  });
});
