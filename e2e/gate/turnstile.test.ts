import { describe, expect, it } from "vitest";
import { createTurnstile, type WritePoint } from "./turnstile.ts";

/** Three writes of two names for one unit, and one of another unit between them. */
async function run(point?: WritePoint) {
  const [killed, carried]: [number[], string[]] = [[], []];
  const turnstile = createTurnstile(async (port) => killed.push(port));
  turnstile.watch({ about: ["u-1"], ...(point === undefined ? {} : { point }) });
  const answers: (string | undefined)[] = [];
  for (const [name, text] of [
    ["patch", "u-1 first"],
    ["patch", "u-2"],
    ["create", "u-1"],
    ["patch", "u-1 second"],
  ] as const) {
    const carry = async () => {
      carried.push(text);
      return text;
    };
    answers.push(await turnstile.pass({ name, text, port: 7 }, carry));
  }
  return { killed, carried, answers, ...turnstile.account() };
}

describe("the turnstile", () => {
  it("counts writes about its words by name, and lets everything through", async () => {
    const { writes, killed, answers, victim } = await run();
    expect(writes).toEqual([
      { name: "patch", index: 0 },
      { name: "create", index: 0 },
      { name: "patch", index: 1 },
    ]);
    expect([killed, answers, victim]).toEqual([[], ["u-1 first", "u-2", "u-1", "u-1 second"], undefined]);
  });

  it("kills the sender before its write is passed on, or after it and before the answer", async () => {
    const before = await run({ name: "patch", index: 1, when: "before" });
    expect([before.killed, before.carried, before.answers.at(-1)]).toEqual([[7], ["u-1 first", "u-2", "u-1"], undefined]);
    const after = await run({ name: "patch", index: 1, when: "after" });
    expect([after.killed, after.carried.at(-1), after.answers.at(-1), after.victim]).toEqual([[7], "u-1 second", undefined, 1]);
  });
});
