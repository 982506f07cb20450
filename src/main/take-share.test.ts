import { describe, expect, it } from "vitest";
import { createVirtualClock, settle } from "../runtime/testing/virtual-clock.ts";
import { forAWhile, joiningTogether } from "./take-share.ts";

const NOTHING = { isMine: () => false, onChange: () => () => undefined };

describe("waiting for a while", () => {
  const ends = async (
    listed: Promise<unknown>,
    afterMs: number,
    { signal = new AbortController().signal, ...more }: { readonly signal?: AbortSignal; readonly isServed?: () => Promise<boolean> } = {},
  ) => {
    const clock = createVirtualClock();
    let hasEnded = false;
    void forAWhile(listed, { clock, ...more }, signal).then(() => {
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

  it("ends after 20 s all the same, and when the process stops", async () => {
    expect(await ends(never, 19_000)).toBe(false);
    expect(await ends(never, 20_000)).toBe(true);
    expect(await ends(never, 0, { signal: AbortSignal.abort(new Error("stopping")) })).toBe(true);
  });

  it("goes on for three minutes while others work on the share, and no longer than they do", async () => {
    const isServed = async () => true;
    expect(await ends(never, 179_000, { isServed })).toBe(false);
    expect(await ends(never, 180_000, { isServed })).toBe(true);
    expect(await ends(Promise.resolve(), 0, { isServed })).toBe(true);
    expect(await ends(never, 20_000, { isServed: async () => false })).toBe(true);
    const left = [true, true, false];
    const endsWithThem = async () => left.shift() ?? false;
    expect(await ends(never, 59_000, { isServed: endsWithThem })).toBe(false);
    expect(left).toEqual([false]);
    left.splice(0, 1, true, false);
    expect(await ends(never, 60_000, { isServed: endsWithThem })).toBe(true);
  });
});

it("those that share keys are ready when each of them is, and go on when the share is there", async () => {
  const happened: string[] = [];
  const share = Promise.withResolvers<void>();
  const { partition, allReady } = joiningTogether(NOTHING, { controllers: 2, share: share.promise });
  void allReady.then(() => void happened.push("all ready"));
  const joins = (name: string) => void partition.join?.().then(() => void happened.push(`${name} goes on`));
  joins("one");
  await settle();
  expect(happened).toEqual([]);
  joins("other");
  await settle();
  expect(happened).toEqual(["all ready"]);
  share.resolve();
  await settle();
  expect(happened).toEqual(["all ready", "one goes on", "other goes on"]);
});
