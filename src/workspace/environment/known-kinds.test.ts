import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import { type AccountRole, type KnownKinds, nextKnownKinds } from "./known-kinds.ts";

const NOW = millis(Date.UTC(2026, 0, 1));
const SOON = millis(NOW + 5 * 60_000);
const storedAfter = (stored: KnownKinds, ...seen: readonly (readonly [AccountRole, string | undefined])[]) =>
  seen.reduce((known, [role, mark]) => nextKnownKinds(known, { mark, role, now: NOW }), stored);

describe("an instance that reads a user's cluster", () => {
  it("is not asked to read it anew where the owner finds what the reader found", () => {
    expect(storedAfter({}, ["reader", "a"], ["becoming", "a"], ["owner", "a"])).toEqual({});
  });

  it("is asked to where a group came to be between the two, however often it is visited", () => {
    expect(storedAfter({}, ["reader", "a"], ["becoming", "b"])).toEqual({ readable: "b", readAgainAt: SOON });
    expect(storedAfter({}, ["reader", "a"], ["becoming", "b"], ["becoming", "b"], ["owner", "b"])).toEqual({ readAgainAt: SOON });
  });

  it("is asked to where its role was written anew after it may have read: the first rules count", () => {
    expect(storedAfter({}, ["reader", "a"], ["reader", "b"], ["becoming", "b"])).toEqual({ readable: "b", readAgainAt: SOON });
  });

  it("is asked to at the next visit where not every API server knew the owner when it was visited", () => {
    expect(storedAfter({}, ["reader", "a"], ["becoming", "a"], ["owner", "b"])).toEqual({ readAgainAt: SOON });
  });

  it("is asked to where it was not known what it read, as soon as that is known", () => {
    const unknown = storedAfter({}, ["reader", undefined], ["becoming", undefined], ["owner", undefined]);
    expect(unknown.readAgainAt).toBeUndefined();
    expect(storedAfter(unknown, ["owner", "a"])).toEqual({ readAgainAt: SOON });
  });

  it("is asked nothing while it is the owner, whatever comes to be there", () => {
    expect(storedAfter({}, ["owner", "a"], ["owner", "b"], ["becoming", "c"], ["owner", undefined])).toEqual({});
    expect(storedAfter({ readAgainAt: SOON }, ["owner", "a"], ["owner", "b"])).toEqual({ readAgainAt: SOON });
  });
});
