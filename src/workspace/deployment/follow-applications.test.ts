import { expect, it } from "vitest";
import type { ApplicationId } from "../../domain/ids.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import { createVirtualClock, settle } from "../../runtime/testing/virtual-clock.ts";
import type { IntentStore, UserView } from "../../store/intent/port.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createApplicationFollower } from "./follow-applications.ts";
import { createRowIndex } from "./row-index.ts";

const ID = "app-1" as ApplicationId;
const VIEW = { application: { id: ID, uid: "uid-1", name: "web" }, workspace: { apiCluster: "main", namespace: "shop" } } as UserView;

it("passes on at once what has to be said at once, also when that is known only while the row is read", async () => {
  const reported: (readonly [string, string])[] = [];
  let answer: (views: readonly UserView[]) => void = () => undefined;
  const follower = createApplicationFollower({
    apiCluster: "main",
    intents: { readByIds: () => new Promise((resolve) => (answer = resolve)) } as unknown as IntentStore,
    rows: createRowIndex(),
    onRow: (key, when) => reported.push([key, when]),
    clock: createVirtualClock(),
    rng: createSeededRng(1),
    log: silentLog,
    metrics: noMetrics,
  });
  follower.start();
  follower.add(ID, "soon");
  await settle();
  follower.add(ID, "now");
  follower.add(ID, "soon");
  answer([VIEW]);
  await settle();
  expect(reported.map(([, when]) => when)).toEqual(["now"]);
  await follower.stop();
});
