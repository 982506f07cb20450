import { describe, expect, it } from "vitest";
import { createVirtualClock, settle } from "../runtime/testing/virtual-clock.ts";
import { forAWhile, joiningTogether } from "./take-share.ts";

const NOTHING = { isMine: () => false, onChange: () => () => undefined };

describe("waiting for a while", () => {
  const ends = async (listed: Promise<unknown>, afterMs: number, signal = new AbortController().signal) => {
    const clock = createVirtualClock();
    let hasEnded = false;
    void forAWhile(listed, clock, signal).then(() => {
      hasEnded = true;
    });
    await clock.advance(afterMs);
    await settle();
    return hasEnded;
  };
  const never = new Promise<void>(() => undefined);

  it("ends with what is waited for, whether that comes about or fails", async () => {
    expect(await ends(Promise.resolve(), 0)).toBe(true);
    expect(await ends(Promise.reject(new Error("forbidden")), 0)).toBe(true);
  });

  it("ends after a minute all the same, and when the process stops", async () => {
    expect(await ends(never, 59_000)).toBe(false);
    expect(await ends(never, 60_000)).toBe(true);
    expect(await ends(never, 0, AbortSignal.abort(new Error("stopping")))).toBe(true);
  });
});

it("a share is taken once, when all that work on it are ready, and each of them waits for it", async () => {
  const happened: string[] = [];
  const share = Promise.withResolvers<void>();
  const takeShare = (allReady: Promise<void>) =>
    allReady.then(() => {
      happened.push("taken");
      return share.promise;
    });
  const { join } = joiningTogether(NOTHING, { controllers: 2, takeShare });
  const joined = ["one", "other"].map((name, index) => async () => {
    await join?.();
    happened.push(`${name} goes on ${index}`);
  });
  void joined[0]?.();
  await settle();
  expect(happened).toEqual([]);
  void joined[1]?.();
  await settle();
  expect(happened).toEqual(["taken"]);
  share.resolve();
  await settle();
  expect(happened).toEqual(["taken", "one goes on 0", "other goes on 1"]);
});
