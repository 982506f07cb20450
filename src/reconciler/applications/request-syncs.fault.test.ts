import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StaleError, UnavailableError } from "../../domain/errors.ts";
import type { Application } from "../../domain/workspace.ts";
import { systemClock } from "../../runtime/clock.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createHosts } from "../find-hosts.ts";
import type { EngineShard } from "../port.ts";
import { createRows } from "../read-and-record-rows.ts";
import { type Deployed, deploying } from "../testing/deploy.ts";
import { createFaultPoints, FAULT_MODES, type FaultMode } from "../testing/faults.ts";
import { type PlayedSyncs, playSyncs } from "../testing/play-syncs.ts";
import { eventually } from "../testing/until.ts";
import { EVERYTHING_IS_MINE, startWorld, type World } from "../testing/world.ts";
import { createPacing } from "./pace-applications.ts";
import { createRequestSyncs } from "./request-syncs.ts";

let world: World;
let deployed: Deployed;
let argo: PlayedSyncs;
let engine: EngineShard;
const faults = createFaultPoints();
const { deploy, applicationAt, isAcknowledged } = deploying(() => world);

beforeAll(async () => {
  world = await startWorld();
  deployed = await deploy();
  await world.rows.changeSpec(deployed.application, { type: "manual" });
  const reconciler = await world.startReconciler();
  await eventually("the application stands", () => isAcknowledged(deployed));
  await reconciler.stop();
  engine = await watchAnew();
  argo = playSyncs(world, applicationAt(deployed));
});
afterAll(() => world.close());

/** The content of the instance as a process of its own watches it. */
async function watchAnew(): Promise<EngineShard> {
  const shard = await (await world.watch()).engines.get(deployed.instance);
  if (shard === undefined) throw new Error("the engine cluster is not there");
  await shard.synced(world.signal);
  return shard;
}

/** Of one process; its instance may have work with one Application of a unit at once. */
function common() {
  const surroundings = { clock: systemClock, log: silentLog, metrics: noMetrics };
  const requests = { requestApplication: () => undefined, requestSync: () => undefined };
  return { ...surroundings, pacing: createPacing({ ...surroundings, requests, unfinishedPerUnit: 1 }) };
}

/** The step of a process of its own, over ports of which any call may break. */
function open() {
  const { wrap } = faults;
  const { store } = world.rows;
  const broken = { ...engine, applications: wrap(engine.applications) };
  const rows = createRows({ ...store, shards: wrap(store.shards), syncRuns: wrap(store.syncRuns) });
  const hosts = createHosts({ fleet: store.fleet, engines: { get: async () => broken }, partition: EVERYTHING_IS_MINE });
  return createRequestSyncs({ ...common(), rows, hosts });
}

async function isSeen(): Promise<void> {
  const version = (await argo.read())?.metadata.resourceVersion;
  await eventually("the watch has caught up", () => engine.applications.get(applicationAt(deployed))?.resourceVersion === version);
}

/** Runs the key until it ends well, each time as a process that knows nothing. */
async function insist({ id }: Application): Promise<void> {
  await isSeen();
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      return void (await open()(id, world.signal));
    } catch (error) {
      if (!(error instanceof UnavailableError || error instanceof StaleError)) throw error;
    }
  }
  throw new Error("does not get anywhere");
}

/** Runs a scenario once for each call it makes, with that call broken, until none is left to break. */
async function breakEach(mode: FaultMode, scenario: () => Promise<void>): Promise<readonly string[]> {
  const names: string[] = [];
  for (let index = 0; ; index += 1) {
    faults.arm(index, mode);
    await scenario();
    const name = faults.broke();
    faults.arm(-1, mode);
    if (name === undefined) return names;
    names.push(name);
  }
}

const phaseOf = async (uid: string) => (await world.rows.run(uid))?.progress.phase;

describe.each(FAULT_MODES)("a sync is begun once, and its end is known, when any one call %s", (mode) => {
  test("from its request to its end", async () => {
    const broken = await breakEach(mode, async () => {
      const before = argo.begun.length;
      const run = await world.rows.addRun(deployed.application);
      for (let step = 0; step < 3; step += 1) {
        await insist(deployed.application);
        await argo.step();
      }
      await insist(deployed.application);
      expect(await phaseOf(run)).toBe("Succeeded");
      expect(argo.begun.slice(before)).toEqual([run]);
    });
    expect(new Set(broken)).toEqual(
      new Set(["readQueues", "readApplications", "patch", "recordReports", ...(broken.includes("read") ? ["read"] : [])]),
    );
  });

  test("though it was over before anybody could record that it was asked for", async () => {
    await breakEach(mode, async () => {
      const before = argo.begun.length;
      const run = await world.rows.addRun(deployed.application);
      await isSeen();
      // Whatever breaks, the process dies with it.
      await open()(deployed.application.id, world.signal).catch(() => undefined);
      await argo.step();
      await argo.step();
      await insist(deployed.application);
      await argo.step();
      await insist(deployed.application);
      await argo.step();
      await insist(deployed.application);
      await insist(deployed.application);
      expect(await phaseOf(run)).toBe("Succeeded");
      expect(argo.begun.slice(before)).toEqual([run]);
    });
  });

  test("and it is terminated when it is cancelled", async () => {
    await breakEach(mode, async () => {
      const before = argo.begun.length;
      const run = await world.rows.addRun(deployed.application);
      await insist(deployed.application);
      await argo.step();
      await world.rows.cancelRun(run);
      await insist(deployed.application);
      expect((await argo.read())?.status?.operationState?.phase).toBe("Terminating");
      await argo.step();
      await insist(deployed.application);
      expect(await phaseOf(run)).toBe("Terminated");
      expect(argo.begun.slice(before)).toEqual([run]);
    });
  });
});

test("of two processes that want to begin at once, one does", async () => {
  const before = argo.begun.length;
  const run = await world.rows.addRun(deployed.application);
  await isSeen();
  const other = await watchAnew();
  const hosts = createHosts({ fleet: world.rows.store.fleet, engines: { get: async () => other }, partition: EVERYTHING_IS_MINE });
  const late = createRequestSyncs({ ...common(), rows: createRows(world.rows.store), hosts });
  await Promise.allSettled([open(), late].map((requestSyncs) => requestSyncs(deployed.application.id, world.signal)));
  for (let step = 0; step < 3; step += 1) {
    await argo.step();
    await insist(deployed.application);
  }
  expect(await phaseOf(run)).toBe("Succeeded");
  expect(argo.begun.slice(before)).toEqual([run]);
});
