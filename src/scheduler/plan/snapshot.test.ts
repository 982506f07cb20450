import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import { complete } from "../../domain/resumable.ts";
import { aCandidate, apps, aSnapshot, aUnit, NOON, ROOMY, TRAITS } from "../testing/snapshots.ts";
import { type PlanCandidate, type PlanSnapshot, type PlanUnit, snapshotHashInTurns } from "./snapshot.ts";

const [A, B] = ["a", "b"] as unknown as [InstanceId, InstanceId];
const MOVE = { unit: "m" as UnitId, from: A, to: B };
const LATER = { unit: "n" as UnitId, from: A, to: B };
const full = (change: Partial<PlanUnit> = {}): PlanUnit =>
  aUnit("u", "a", 10, {
    ...{ recentLoad: apps(11), movingTo: B, movedAt: millis(1), doNotMoveUntil: millis(2), needs: { region: "eu" }, clusters: ["c", "d"] },
    ...{ failed: { times: 1, at: NOON, to: B }, ...change },
  });
const candidate = (change: Partial<PlanCandidate> = {}) => aCandidate("a", { aboveSince: millis(3), ...change });
const SNAPSHOT = aSnapshot([candidate(), aCandidate("b")], [full(), aUnit("v", "b", 1)], { recentMoves: [MOVE, LATER] });
const hashWith = (change: Partial<PlanSnapshot>) => complete(snapshotHashInTurns({ ...SNAPSHOT, ...change }));
const HASH = complete(snapshotHashInTurns(SNAPSHOT));
const ofUnit = (change: Partial<PlanUnit>) => hashWith({ units: [full(change), aUnit("v", "b", 1)] });
const ofCandidate = (change: Partial<PlanCandidate>) => hashWith({ candidates: [candidate(change), aCandidate("b")] });

describe("the hash of a snapshot", () => {
  it("is short, and the same in whatever order rows come and whatever instances are called", () => {
    expect(HASH).toMatch(/^[0-9a-f]{32}$/);
    const { candidates, units, recentMoves } = SNAPSHOT;
    expect(hashWith({ candidates: candidates.toReversed(), units: units.toReversed(), recentMoves: recentMoves.toReversed() })).toBe(HASH);
    expect(ofCandidate({ name: "another" })).toBe(HASH);
    expect(ofUnit({ clusters: ["d", "c"] })).toBe(HASH);
  });

  it.each<[string, string]>([
    ["class", hashWith({ class: "us" })],
    ["moment", hashWith({ at: millis(NOON + 1) })],
    ["metrics", hashWith({ metrics: { kind: "distrusted", rule: "NONE" } })],
    ["outcomes", hashWith({ outcomes: ["done"] })],
    ["freeze", hashWith({ freeze: { reason: "", until: NOON } })],
    ["recent moves", hashWith({ recentMoves: [MOVE] })],
    ["unit that was moved", hashWith({ recentMoves: [MOVE, { ...LATER, unit: "o" as UnitId }] })],
    ["origin of a move", hashWith({ recentMoves: [MOVE, { ...LATER, from: B }] })],
    ["target of a move", hashWith({ recentMoves: [MOVE, { ...LATER, to: A }] })],
    ["instance", ofCandidate({ id: "z" as InstanceId })],
    ["state", ofCandidate({ state: "DRAINING" })],
    ["weight", ofCandidate({ weight: 2 })],
    ["capacity", ofCandidate({ capacity: { ...ROOMY, gitPerMinute: 1 } })],
    ["traits", ofCandidate({ traits: { ...TRAITS, region: "us" } })],
    ["overload", ofCandidate({ isOverloaded: true })],
    ["newness", ofCandidate({ isFilling: true })],
    ["time above", ofCandidate({ aboveSince: millis(4) })],
    ["being above", ofCandidate({ aboveSince: undefined })],
    ["unit", ofUnit({ id: "z" as UnitId })],
    ["workspace", ofUnit({ workspaceId: "z" as WorkspaceId })],
    ["owner", ofUnit({ owner: B })],
    ["missing owner", ofUnit({ owner: undefined })],
    ["epoch", ofUnit({ epoch: 2 })],
    ["load", ofUnit({ load: apps(12) })],
    ["present load", ofUnit({ recentLoad: apps(12) })],
    ["missing present load", ofUnit({ recentLoad: undefined })],
    ["move under way", ofUnit({ movingTo: A })],
    ["time of the last move", ofUnit({ movedAt: millis(9) })],
    ["hold", ofUnit({ doNotMoveUntil: millis(9) })],
    ["needs", ofUnit({ needs: { region: "us" } })],
    ["missing needs", ofUnit({ needs: undefined })],
    ["companions", ofUnit({ companions: B })],
    ["clusters", ofUnit({ clusters: ["c"] })],
    ["missing clusters", ofUnit({ clusters: undefined })],
    ["failures", ofUnit({ failed: { times: 2, at: NOON, to: B } })],
    ["missing failures", ofUnit({ failed: undefined })],
  ])("is another one with another %s", (_what, hash) => {
    expect(hash).not.toBe(HASH);
  });

  it("differs if a unit has one optional field or none", () => {
    const plain = { needs: undefined, companions: undefined, clusters: undefined, failed: undefined };
    const hashes = [{}, { needs: { region: "eu" } }, { companions: A }, { clusters: ["c"] }, { failed: { times: 1, at: NOON, to: B } }].map(
      (more) => ofUnit({ ...plain, ...more }),
    );
    expect(new Set(hashes).size).toBe(5);
  });

  it("does not confuse one row with another, or two with one", () => {
    const of = (...units: readonly PlanUnit[]) => hashWith({ units });
    expect(of(aUnit("u", "a", 1, { movedAt: millis(5) }))).not.toBe(of(aUnit("u", "a", 1, { doNotMoveUntil: millis(5) })));
    expect(of(aUnit("u", "a", 1), aUnit("v", "a", 1))).not.toBe(of(aUnit("u", "a", 1)));
    expect(hashWith({ candidates: [] })).not.toBe(HASH);
  });
});
