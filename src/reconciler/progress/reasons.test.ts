import { describe, expect, test } from "vitest";
import { waits } from "./reasons.ts";

describe("what work is put off for", () => {
  const name = "n".repeat(3000);
  test.each([
    waits.unlisted(name),
    waits.entry,
    waits.repair,
    waits.unit,
    waits.turn,
    waits.going("the former project"),
    waits.going(waits.environmentEntry(name)),
    waits.environment(name),
    waits.credential({ kind: "repository", url: name, urlKey: name }),
    waits.credential({ kind: "environment", id: "e" as never, name }),
  ])("is said in one form and few words: %s", (words) => {
    expect(words).toMatch(/^for .+, which (is|are|do|cannot)\b/);
    expect(words.length).toBeLessThan(350);
  });
});
