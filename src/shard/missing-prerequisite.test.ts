import { describe, expect, test } from "vitest";
import type { EnvironmentId } from "../domain/ids.ts";
import { type MissingPrerequisite, missingPrerequisiteOf } from "./missing-prerequisite.ts";
import { anApplication, anEnvironment } from "./testing/builders.ts";

const repository: MissingPrerequisite = {
  kind: "repository",
  url: "https://git.example/Team/App.git",
  urlKey: "https://git.example/team/app",
};
const environment: MissingPrerequisite = { kind: "environment", id: "environment-1" as EnvironmentId, name: "prod" };
const reading = (repoUrl: string) => anApplication({}, { source: { repoUrl, path: "", targetRevision: "" } });

describe("an application needs what its unit lacks", () => {
  test.each([
    ["when it reads that repository, however it spells it", reading(" https://git.example/TEAM/app"), undefined, repository],
    ["when it goes to that environment", anApplication(), anEnvironment(), environment],
  ])("%s", (_what, application, there, missingPrerequisite) => {
    expect(missingPrerequisiteOf({ application, environment: there }, [missingPrerequisite])).toBe(missingPrerequisite);
  });

  test("not when it reads another repository and goes elsewhere", () => {
    const other = anEnvironment({ id: "environment-2" as EnvironmentId });
    for (const there of [undefined, other])
      expect(
        missingPrerequisiteOf({ application: reading("https://git.example/team/other"), environment: there }, [repository, environment]),
      ).toBe(undefined);
  });
});
