import { describe, expect, it } from "vitest";
import { parseWatchLine } from "./watch-event.ts";

const line = (type: string, object: unknown) => JSON.stringify({ type, object });
const object = { metadata: { name: "a", resourceVersion: "7" } };

describe("parseWatchLine", () => {
  it.each([
    ["ADDED", "upsert"],
    ["MODIFIED", "upsert"],
    ["DELETED", "delete"],
  ])("reads %s as %s", (type, kind) => {
    expect(parseWatchLine(line(type, object))).toEqual({ kind, object, resourceVersion: "7" });
  });

  it("reads a bookmark, which names no object", () => {
    expect(parseWatchLine(line("BOOKMARK", { metadata: { resourceVersion: "9" } }))).toEqual({ kind: "bookmark", resourceVersion: "9" });
  });

  it("reads 410 in the stream as gone and other errors as what they are", () => {
    expect(parseWatchLine(line("ERROR", { kind: "Status", code: 410, reason: "Expired" }))).toMatchObject({
      kind: "error",
      error: { name: "GoneError", code: "kube.expired" },
    });
    expect(parseWatchLine(line("ERROR", { kind: "Status", code: 500 }))).toMatchObject({ error: { name: "UnavailableError" } });
    expect(parseWatchLine(line("ERROR", null))).toMatchObject({ error: { name: "UnavailableError" } });
  });

  it.each([
    "",
    "{",
    "null",
    "5",
    "[]",
    line("ADDED", null),
    line("ADDED", { metadata: { name: "a" } }),
    line("ADDED", { metadata: { resourceVersion: "1" } }),
    line("PATCHED", object),
    line("ADDED", { metadata: { name: 5, resourceVersion: "1" } }),
  ])("takes %j for a broken stream, without quoting it", (text) => {
    const event = parseWatchLine(text);
    expect(event).toMatchObject({ kind: "error", error: { name: "UnavailableError", code: "kube.undecodable" } });
  });
});
