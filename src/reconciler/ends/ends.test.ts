import { expect, test } from "vitest";
import type { ApplicationId } from "../../domain/ids.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { parseApplication } from "../../shard/parse-application.ts";
import { silentLog } from "../../telemetry/log.ts";
import type { Gauge } from "../../telemetry/metrics.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createEndWatch } from "./controller.ts";

const ID = "application-1" as ApplicationId;

test("a deletion that does not end is counted and told once, until it ends", async () => {
  let collect: Parameters<Gauge["collect"]>[0] = () => [];
  const told: string[] = [];
  const clock = createVirtualClock(Date.UTC(2026, 0, 1));
  const gauge = (): Gauge => ({
    set: () => undefined,
    collect(from) {
      collect = from;
    },
  });
  const log = { ...silentLog, warn: (_: unknown, message: string) => void told.push(message) };
  const watch = createEndWatch({ clock, log, metrics: { ...noMetrics, gauge } });
  const observed = parseApplication({ metadata: { name: "a", uid: "u", resourceVersion: "1", deletionTimestamp: "2026-01-01T00:00:00Z" } });
  if (observed === undefined) throw new Error("unreadable");

  watch.note(ID, { kind: "await-end", observed });
  expect(collect()).toEqual([{ value: 0 }]);
  await clock.advance(301_000);
  watch.note(ID, { kind: "await-end", observed });
  watch.note(ID, { kind: "await-end", observed });
  expect(collect()).toEqual([{ value: 1 }]);
  expect(told).toHaveLength(1);
  watch.note(ID, { kind: "gone" });
  expect(collect()).toEqual([{ value: 0 }]);
});
