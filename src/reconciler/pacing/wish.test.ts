import { describe, expect, test } from "vitest";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import { createLane } from "./lane.ts";
import { laneOf, lanesOf, samplesOf } from "./wish.ts";

const id = (text: string) => text as InstanceId;
const labels = (instance: string, unit: string): { readonly labels: Readonly<Record<string, string>> } => ({
  labels: { "argosy.dev/instance": instance, "argosy.dev/unit": unit },
});

describe("lanes", () => {
  test("are those of a unit on an instance, before a change and after it", () => {
    expect([...lanesOf({ now: labels("i", "u") })]).toEqual([laneOf(id("i"), "u" as UnitId)]);
    expect([...lanesOf({ before: labels("i", "u"), now: labels("j", "u") })]).toEqual(["j|u", "i|u"]);
    expect([...lanesOf({ before: labels("i", "u"), now: { labels: {} } })]).toEqual(["i|u"]);
  });

  test("are told by instance, of those that are ours", () => {
    const lanes = new Map(
      [laneOf(id("i"), "u" as UnitId), laneOf(id("i"), "v" as UnitId), laneOf(id("j"), "u" as UnitId)].map((key) => [key, createLane(1)]),
    );
    for (const lane of lanes.values()) for (const at of ["a", "b", "c"]) lane.admits(`wish of ${at}`, at, 0);
    expect(
      samplesOf(
        lanes,
        new Map([
          [id("i"), "standard-1"],
          [id("k"), "standard-2"],
        ]),
      ),
    ).toEqual([
      { labels: { instance: "standard-1", state: "working" }, value: 2 },
      { labels: { instance: "standard-1", state: "held" }, value: 4 },
      { labels: { instance: "standard-2", state: "working" }, value: 0 },
      { labels: { instance: "standard-2", state: "held" }, value: 0 },
    ]);
  });
});
