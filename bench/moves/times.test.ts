import { expect, it } from "vitest";
import { LABEL_UNIT } from "../../src/domain/names.ts";
import type { Entry, Happening } from "../../src/simulation/history.ts";
import { REFRESH_ANNOTATION } from "../../src/simulation/models/engine/application.ts";
import { managersMs, mostAtOnce, timesOf, wallMs } from "./times.ts";

const phase = (unit: string, at: number, name: string): Entry => ({
  at,
  happening: { kind: "move", id: `move of ${unit}`, unit, from: "a", to: "b", phase: name, epoch: 2 } as Happening,
});
const application = (unit: string, at: number, isAsked: boolean): Entry => ({
  at,
  happening: {
    ...{ kind: "object", cluster: "engine", change: "MODIFIED", resource: "applications.argoproj.io", namespace: "a", name: unit },
    object: { metadata: { labels: { [LABEL_UNIT]: unit }, annotations: isAsked ? { [REFRESH_ANNOTATION]: "normal" } : {} } },
    ...{ before: undefined, by: "argosy-1", askedAt: 0 },
  },
});
/** A move of ten seconds: two of the fence, three of waiting for the engine, five of the manager. */
const aMove = (unit: string, at: number): readonly Entry[] => [
  phase(unit, at, "PREPARE"),
  application(unit, at + 1_000, true),
  application(unit, at + 4_000, false),
  phase(unit, at + 5_000, "REVOKE"),
  phase(unit, at + 8_000, "VERIFY"),
  phase(unit, at + 10_000, "DONE"),
];

it("separates a move's fence and its waiting for the engine from the manager's own time", () => {
  const times = timesOf([...aMove("one", 0), ...aMove("two", 10_000)], 2_000);
  expect(times[0]).toEqual({ beganAt: 0, endedAt: 10_000, gapMs: 3_000, fenceMs: 2_000, engineMs: 3_000 });
  expect([wallMs(times), managersMs(times), mostAtOnce(times)]).toEqual([20_000, 10_000, 1]);
});

it("leaves moves out that have not ended", () => {
  expect(timesOf(aMove("one", 0).slice(0, -1), 2_000)).toEqual([]);
});
