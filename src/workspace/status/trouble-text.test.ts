import { expect, it } from "vitest";
import { waits } from "../../reconciler/trouble.ts";
import { troubleText } from "./trouble-text.ts";

const missingPrerequisite = { kind: "repository", url: "https://git.example/x" } as Parameters<typeof waits.credential>[0];
const all: Readonly<Record<keyof typeof waits, string>> = {
  ...waits,
  unlisted: waits.unlisted("eu-1"),
  going: waits.going("an owner binding"),
  environmentEntry: waits.environmentEntry("prod"),
  environment: waits.environment("prod"),
  repository: waits.repository("https://git.example/x"),
  credential: waits.credential(missingPrerequisite),
};
const INSIDE = /owner binding|account|project|entry|instance|cluster|lost|eu-1/;

it.each(Object.entries(all))("says that work waits for %s without a word of how the fleet is made", (_what, said) => {
  const text = troubleText(`Waiting: ${said}`);
  expect(text).not.toMatch(INSIDE);
  expect(text.length).toBeGreaterThan(20);
});

it.each([
  "Refused: the instance's cluster does not take the Application: Application.argoproj.io is invalid",
  "Trying again: cluster eu-1, which is needed for it, does not answer: connect ECONNREFUSED 10.0.0.1:6443",
  "something that nobody has written yet about instance eu-1",
])("does not quote %s", (trouble) => {
  expect(troubleText(trouble)).not.toMatch(INSIDE);
});

it("names what a user can mend", () => {
  expect(troubleText(`Waiting: ${all.environment}`)).toContain("environment prod");
  expect(troubleText(`Waiting: ${all.credential}`)).toContain("https://git.example/x");
});
