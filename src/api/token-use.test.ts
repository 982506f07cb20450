import { describe, expect, it } from "vitest";
import { UnavailableError } from "../domain/errors.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { silentLog } from "../telemetry/log.ts";
import { createTokenUse } from "./token-use.ts";

function aUse() {
  const written: (readonly string[])[] = [];
  const state = { isAway: false };
  const clock = createVirtualClock();
  const recordUse = async (hashes: readonly string[]): Promise<void> => {
    if (state.isAway) throw new UnavailableError("recording", { code: "store.unavailable" });
    written.push(hashes);
  };
  return { note: createTokenUse({ tokens: { recordUse }, clock, log: silentLog }), written, state, clock };
}

describe("noting the use of tokens", () => {
  it("writes nothing while a request is answered, and once a minute however many there are", async () => {
    const { note, written, clock } = aUse();
    for (let request = 0; request < 1_000; request += 1) note("a");
    note("b");
    expect(written).toEqual([]);
    await clock.advance(1_000);
    expect(written).toEqual([["a", "b"]]);
    for (let second = 0; second < 63; second += 1) {
      note("a");
      await clock.advance(1_000);
    }
    expect(written).toHaveLength(1);
    await clock.advance(1_000);
    note("a");
    await clock.advance(1_000);
    expect(written).toEqual([["a", "b"], ["a"]]);
  });

  it("is written at the next use when the database was away", async () => {
    const { note, written, state, clock } = aUse();
    state.isAway = true;
    note("a");
    await clock.advance(1_000);
    state.isAway = false;
    note("a");
    await clock.advance(1_000);
    expect(written).toEqual([["a"]]);
  });
});
