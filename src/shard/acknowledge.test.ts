import { expect, test } from "vitest";
import { millis } from "../domain/clock.ts";
import type { InstanceId } from "../domain/ids.ts";
import { acknowledgementOf } from "./acknowledge.ts";
import { parseApplication } from "./parse-application.ts";
import { isBlocked } from "./parse-held-objects.ts";
import { renderApplication } from "./render-application.ts";
import { anApplication, anApplicationPlacement, setMeta, stored, TARGET } from "./testing/builders.ts";

const desired = renderApplication(anApplicationPlacement(), anApplication(), TARGET);

function observe(change: (raw: ReturnType<typeof stored>) => void = () => undefined) {
  const raw = stored(desired);
  change(raw);
  const observed = parseApplication(raw);
  if (observed === undefined) throw new Error("unreadable");
  return observed;
}

test("what stands is recorded with its revision, epoch and uid, unless the very same is recorded already", () => {
  const standing = { kind: "application", subject: "application-1", desired, observed: observe() } as const;
  const object = acknowledgementOf(anApplicationPlacement(), standing, []);
  expect(object).toMatchObject({ instanceId: "instance-1", appliedRevision: 2, epoch: 7, uid: "object-1" });
  if (object === undefined) return;
  expect(acknowledgementOf(anApplicationPlacement(), standing, [object])).toBeUndefined();
  expect(acknowledgementOf(anApplicationPlacement(), standing, [{ ...object, appliedRevision: 3 }])).toBeUndefined();
  const others = [
    { appliedRevision: 1 },
    { epoch: 6 },
    { uid: "another" },
    { subject: "another" },
    { instanceId: "another" as InstanceId },
  ];
  for (const other of others) expect(acknowledgementOf(anApplicationPlacement(), standing, [{ ...object, ...other }])).toEqual(object);
  expect(acknowledgementOf(anApplicationPlacement(), { ...standing, desired: { ...desired, fence: undefined } }, [])?.appliedRevision).toBe(
    0,
  );
});

test("a deletion is blocked when it was asked for more than five minutes ago", () => {
  const now = millis(Date.UTC(2026, 0, 1, 0, 5, 1));
  expect(isBlocked(observe(), now)).toBe(false);
  expect(isBlocked(observe(setMeta("deletionTimestamp", "2026-01-01T00:00:00Z")), now)).toBe(true);
  expect(isBlocked(observe(setMeta("deletionTimestamp", "2026-01-01T00:00:02Z")), now)).toBe(false);
});
