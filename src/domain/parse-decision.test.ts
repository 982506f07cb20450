import { describe, expect, it } from "vitest";
import { millis } from "./clock.ts";
import { parseDecision } from "./parse-decision.ts";

const stored = (details: Readonly<Record<string, unknown>>) =>
  parseDecision({ at: millis(1), subject: "s", kind: "health", verdict: "STALLED", rule: "REDIS", details }).details;

describe("an entry of the journal", () => {
  it("has one name for its reason, whatever it was called when it was written", () => {
    expect(stored({ reason: "new" })).toEqual({ reason: "new" });
    expect(stored({ text: "its redis is stuck", evidence: [] })).toEqual({ reason: "its redis is stuck", evidence: [] });
    expect(stored({ why: "given up by anna" })).toEqual({ reason: "given up by anna" });
    expect(stored({ reason: "the newer", text: "the older" })).toEqual({ reason: "the newer" });
    expect(stored({ reason: "", text: "said" })).toEqual({ reason: "said" });
  });

  it("leaves out what says nothing, and keeps every other fact as it is", () => {
    expect(stored({ plan: null, from: null, to: "i-b", reverses: null, record: null, actor: 5 })).toEqual({
      to: "i-b",
      reverses: null,
      record: null,
    });
    expect(stored({ text: ["a", "b"], why: 3 })).toEqual({ text: ["a", "b"], why: 3 });
    expect(stored({ reason: "" })).toEqual({ reason: "" });
  });
});
