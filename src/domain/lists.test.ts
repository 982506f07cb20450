import { describe, expect, it } from "vitest";
import { CHANGE_KINDS } from "./change.ts";
import { SHARD_KINDS } from "./shard-object.ts";
import { DELETIONS, UNIT_PHASES } from "./workspace.ts";

describe("values that are written down", () => {
  it.each([
    ["changes", CHANGE_KINDS],
    ["objects of a shard", SHARD_KINDS],
    ["phases of a unit", UNIT_PHASES],
    ["deletions", DELETIONS],
  ])("for %s are different words, so that a notification can be split at its first colon", (_what, words) => {
    expect(new Set(words).size).toBe(words.length);
    for (const word of words) expect(word).toMatch(/^[A-Za-z]+(-[a-z]+)*$/);
  });
});
