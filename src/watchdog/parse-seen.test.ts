import { expect, it } from "vitest";
import { ANNOTATION_ARRIVING, ANNOTATION_PAUSE, ANNOTATION_REFRESH } from "../shard/names.ts";
import { parseSeen } from "./parse-seen.ts";

const metadata = { name: "web", uid: "1" };

it("parses the annotations that moves and refreshes set on an Application", () => {
  const status = { reconciledAt: "2026-01-01T00:00:00Z", sync: { status: "Synced" }, health: { status: "Healthy" } };
  expect(parseSeen({ metadata, status })).toEqual({
    ...{ name: "web", uid: "1", isPaused: false, isArriving: false, isDeleting: false, awaitsRefresh: false },
    ...{ reconciledAt: Date.parse("2026-01-01T00:00:00Z"), isGreen: true },
  });
  const annotations = { [ANNOTATION_PAUSE]: "true", [ANNOTATION_REFRESH]: "normal", [ANNOTATION_ARRIVING]: "created" };
  const marked = parseSeen({ metadata: { ...metadata, annotations, deletionTimestamp: "2026-01-01T00:00:00Z" } });
  expect(marked).toMatchObject({
    isPaused: true,
    isArriving: true,
    awaitsRefresh: true,
    isDeleting: true,
    reconciledAt: undefined,
    isGreen: false,
  });
});

it.each([undefined, null, [], "x", {}, { metadata: { name: "web" } }, { metadata: { name: 1, uid: "2" } }])("refuses %j", (raw) =>
  expect(parseSeen(raw)).toBeUndefined(),
);

it("accepts a status of any shape", () => {
  expect(parseSeen({ metadata, status: { reconciledAt: {}, sync: [], health: "Healthy" } })).toMatchObject({
    reconciledAt: undefined,
    isGreen: false,
  });
  expect(parseSeen({ metadata: { ...metadata, annotations: [] }, status: { reconciledAt: "soon" } })).toMatchObject({
    reconciledAt: undefined,
  });
});
