import { expect, it } from "vitest";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { foundForAWhile } from "./found-for-a-while.ts";

const never = new AbortController().signal;

function world(answer: (asked: number) => Promise<string | undefined>) {
  const clock = createVirtualClock();
  let asked = 0;
  const find = foundForAWhile(
    () => {
      asked += 1;
      return answer(asked);
    },
    { clock, ms: 15_000, kept: (value) => value !== undefined },
  );
  return { clock, find: (key: string) => find(key, never), asked: () => asked };
}

it("gives what was found again for a while, and to all who ask before it is there", async () => {
  const { clock, find, asked } = world(async (count) => `found ${count}`);
  expect(await Promise.all([find("a"), find("a")])).toEqual(["found 1", "found 1"]);
  await clock.advance(14_999);
  expect(await find("a")).toBe("found 1");
  expect(await find("b")).toBe("found 2");
  await clock.advance(1);
  expect(await find("a")).toBe("found 3");
  expect(asked()).toBe(3);
});

it("asks again for what was not there, and after an error", async () => {
  const { find } = world(async (count) => {
    if (count === 1) throw new Error("away");
    return count === 2 ? undefined : "there";
  });
  await expect(find("a")).rejects.toThrow("away");
  expect(await find("a")).toBeUndefined();
  expect(await find("a")).toBe("there");
});

it("asks for itself where the one who asked first gave up", async () => {
  const { find } = world(async (count) => {
    if (count === 1) throw new Error("given up");
    return "there";
  });
  const first = find("a");
  const second = find("a");
  await expect(first).rejects.toThrow("given up");
  expect(await second).toBe("there");
});
