import { expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import { type OwnershipFinding, openFindings } from "../domain/ownership.ts";
import { clearedDecision, type Findings, foundDecision, inTurn, nextFindings, nextWaiting, startFindings } from "./next-findings.ts";

const finding = (key: string): OwnershipFinding => ({ key, rule: "ORPHAN", subject: "u", instances: ["i"], text: key });
const [X, Y] = [finding("x"), finding("y")];

/** What was opened (`+x`) and cleared (`-x`) at each of several checks in a row. */
function changesAt(found: readonly (readonly OwnershipFinding[])[], start: Findings = startFindings([])): readonly string[] {
  let findings = start;
  return found.map((each) => {
    const { next, opened, cleared } = nextFindings(findings, each);
    findings = next;
    return [...opened.map(({ key }) => `+${key}`), ...cleared.map(({ key }) => `-${key}`)].join(" ");
  });
}

it("reports what two checks in a row have found, once, and clears what two in a row have not", () => {
  expect(changesAt([[X], [X, Y], [X, Y], [X], [], [], []])).toEqual(["", "+x", "+y", "", "-y", "-x", ""]);
});

it("does not flap: what comes and goes from check to check is neither reported nor cleared", () => {
  expect(changesAt([[X], [], [X], [], [X]])).toEqual(["", "", "", "", ""]);
  expect(changesAt([[X], [X], [], [X], [], [X]])).toEqual(["", "+x", "", "", "", ""]);
});

it("knows what was reported after a restart, from the journal alone", () => {
  const journal = [foundDecision(X, millis(3)), clearedDecision(Y, millis(2)), foundDecision(Y, millis(1)), clearedDecision(X, millis(0))];
  expect(openFindings(journal)).toEqual([X]);
  expect(changesAt([[X, Y], [Y], []], startFindings(openFindings(journal)))).toEqual(["", "+y", "-x"]);
});

it("keeps findings about an instance that cannot be reached, and is unsure of what only one check says", () => {
  const blind = nextFindings(startFindings([X]), [], () => true);
  expect(blind).toMatchObject({ opened: [], cleared: [], isUnsure: false });
  expect(nextFindings(blind.next, []).isUnsure).toBe(true);
  expect(nextFindings(startFindings([]), [X]).isUnsure).toBe(true);
  expect(nextFindings(startFindings([X]), [X]).isUnsure).toBe(false);
});

it("counts the age of a refresh from the first check that saw it, and again from zero after one that did not", () => {
  const waits = (awaitsRefresh: boolean) => [{ uid: "a", awaitsRefresh }];
  const first = nextWaiting(new Map(), waits(true), millis(1));
  expect([...nextWaiting(first, waits(true), millis(2))]).toEqual([["a", 1]]);
  expect([...nextWaiting(nextWaiting(first, waits(false), millis(2)), waits(true), millis(3))]).toEqual([["a", 3]]);
});

it("lists a twentieth of a cluster's instances in turn, and never more than five, so that a check costs the same however many there are", () => {
  const cluster = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ id: `i-${String(index).padStart(4, "0")}` as never, engineCluster: "local" }));
  expect([1, 21, 100, 1_000].map((count) => inTurn(cluster(count), 0).size)).toEqual([1, 2, 5, 5]);
  const turns = Array.from({ length: 200 }, (_, count) => [...inTurn(cluster(1_000), count)]);
  expect(new Set(turns.flat()).size).toBe(1_000);
});
