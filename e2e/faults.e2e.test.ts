import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { InstanceView } from "../src/api/schema.ts";
import type { ObjectName } from "../src/runtime/kube/resource.ts";
import { allReady, disturbed, healthOf, sumOf } from "./control-plane.ts";
import { callHarness, type Way } from "./harness-client.ts";
import { expectNoOrphans, expectWhole, isStanding, openTruth, type Truth } from "./truth.ts";
import {
  conditionOf,
  configMapFile,
  findApplication,
  IS_LONG,
  openWorkspace,
  openWorld,
  report,
  TYPES,
  until,
  type Workspace,
  type World,
} from "./world.ts";

const HOUR_MS = 3_600_000;
const UNANSWERED_MS = 10_000;
const UNHEARD = "f".repeat(40);

let world: World;
let truth: Truth;
beforeAll(async () => {
  world = openWorld();
  truth = await openTruth(world);
});
afterAll(() => truth.close());

/** A workspace and a repository of the same name, with a directory for each of these deployments. */
async function prepared(namespace: string, names: readonly string[]): Promise<Workspace> {
  await world.git.commit(namespace, Object.fromEntries(names.map((name) => [`${name}/config.yaml`, configMapFile(name, {})])));
  return openWorkspace(world, namespace);
}

const deploy = (workspace: Workspace, name: string, path = name) => workspace.apply(name, { repository: workspace.namespace, path });

const isDeployed = (workspace: Workspace, name: string, isWanted: boolean) =>
  until(
    `${workspace.namespace}: what ${name} deploys ${isWanted ? "there" : "gone"}`,
    () => workspace.configMap(name),
    (found) => (found !== undefined) === isWanted,
  );

describe("an API server out of reach", () => {
  it("for longer than its history lasts: what users created, changed and deleted meanwhile is found by listing again", async () => {
    const workspace = await prepared("fault-api", ["one", "two", "three", "other"]);
    for (const name of ["one", "two"]) await deploy(workspace, name);
    for (const name of ["one", "two"]) await workspace.settled(name);
    const relists = () => sumOf(world, "argosy_kube_reflector_relists_total", (labels) => labels.includes("gitopsdeployments"));
    const before = await relists();

    await disturbed(world, { way: "api", fault: { kind: "refuse" } }, async () => {
      await workspace.remove("one");
      await deploy(workspace, "two", "other");
      await deploy(workspace, "three");
      await callHarness(world.harness, "restartApiServer", {});
    });
    await isDeployed(workspace, "one", false);
    await isDeployed(workspace, "other", true);
    await isDeployed(workspace, "two", false);
    await workspace.settled("three");
    await workspace.settled("two");
    expect(await workspace.read("one")).toBeUndefined();
    expect(await relists()).toBeGreaterThan(before);
    await expectWhole(truth, ["fault-api/three", "fault-api/two"], world.signal);
  });

  it.runIf(IS_LONG)("in silence: watches without any events are opened again within minutes", async () => {
    const workspace = await prepared("fault-silent", ["before", "after"]);
    await deploy(workspace, "before");
    await workspace.settled("before");
    for (const way of ["api", "engine"] as const) {
      await callHarness(world.harness, "disturb", { way, fault: { kind: "forget" } });
      await callHarness(world.harness, "restore", { way });
    }
    await workspace.remove("before");
    await deploy(workspace, "after");
    const timeoutMs = 300_000;
    await until(
      "the deleted object gone",
      () => workspace.configMap("before"),
      (found) => found === undefined,
      timeoutMs,
    );
    await until(
      "the created object",
      () => workspace.configMap("after"),
      (found) => found !== undefined,
      timeoutMs,
    );
    await workspace.settled("after");
  });
});

describe("a database", () => {
  it("that is away: nothing is guessed, every control plane says what is missing, and users' changes are carried out when it is back", async () => {
    const workspace = await prepared("fault-db", ["before", "during"]);
    await deploy(workspace, "before");
    await workspace.settled("before");
    const uid = (await findApplication(world, "fault-db", "before"))?.metadata.uid;

    await callHarness(world.harness, "stopDatabase", {});
    try {
      for (const index of world.harness.argosyUrls.keys())
        await until(
          "the failing check of the database",
          () => healthOf(world, index),
          ({ failing }) => failing.includes("database"),
        );
      await deploy(workspace, "during");
      await workspace.remove("before");
      // What Argo CD deployed stays while no control plane can decide anything.
      expect(await workspace.configMap("before")).toBeDefined();
      expect((await truth.objects()).some(({ metadata }) => metadata.uid === uid)).toBe(true);
    } finally {
      await callHarness(world.harness, "startDatabase", {});
    }
    await workspace.settled("during");
    await isDeployed(workspace, "before", false);
    await allReady(world);
  });

  it("that restarts under a burst: every change is recorded once, and notifications arrive again", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `app-${index}`);
    const workspace = await prepared("fault-restart", names);
    for (const [index, name] of names.entries()) {
      await deploy(workspace, name);
      if (index !== 5) continue;
      await callHarness(world.harness, "stopDatabase", {});
      await callHarness(world.harness, "startDatabase", {});
    }
    for (const name of names) await workspace.settled(name);
    await allReady(world);
    await expectWhole(
      truth,
      names.map((name) => `fault-restart/${name}`),
      world.signal,
    );
  });
});

describe("an engine cluster out of reach", () => {
  it("keeps no users' changes waiting and no control plane from being ready, and has all changes once it is back", async () => {
    const workspace = await prepared("fault-engine", ["known", "changed", "new"]);
    await deploy(workspace, "known");
    await workspace.settled("known");
    await disturbed(world, { way: "engine", fault: { kind: "refuse" } }, async () => {
      await deploy(workspace, "known", "changed");
      await deploy(workspace, "new");
      const isBeingWorkedOn = (name: string) =>
        until(
          `${name}'s status Reconciling`,
          () => workspace.read(name),
          (resource) => conditionOf(resource, "Ready")?.reason === "Reconciling",
        );
      await isBeingWorkedOn("new");
      await isBeingWorkedOn("known");
      const rows = await truth.rows(["fault-engine"]);
      expect(
        rows
          .filter((row) => !isStanding(row))
          .map(({ application }) => application.name)
          .sort(),
      ).toEqual(["known", "new"]);
      for (const index of world.harness.argosyUrls.keys()) expect(await healthOf(world, index)).toEqual({ isReady: true, failing: [] });
      expect((await world.rest.all<InstanceView>("/v1/instances")).map(({ state }) => state)).toEqual(["ACTIVE", "ACTIVE"]);
    });
    await workspace.settled("new");
    await isDeployed(workspace, "changed", true);
    await isDeployed(workspace, "known", false);
    await expectWhole(truth, ["fault-engine/known", "fault-engine/new"], world.signal);
  });
});

/**
 * Requests of namespaces where answers got lost. A row whose creation was not answered stays for as long as the
 * creation may still arrive.
 */
const lost = new Map<string, readonly string[]>();

describe("lost answers", () => {
  it.each(["api", "engine", "database"] as const)("from %s: what was done is found, and nothing is done twice", async (way) => {
    const names = Array.from({ length: 12 }, (_, index) => `app-${index}`);
    const namespace = `fault-lost-${way}`;
    const workspace = await prepared(namespace, [...names, "elsewhere"]);
    await deploy(workspace, "app-0");
    await workspace.settled("app-0");
    const first = (await findApplication(world, namespace, "app-0"))?.metadata;
    await disturbed(world, { way, fault: { kind: "mute" } }, async () => {
      for (const name of names.slice(1)) await deploy(workspace, name);
      await deploy(workspace, "app-1", "elsewhere");
      await workspace.remove("app-2");
      await seeWritten(way, workspace, { namespace: first?.namespace ?? "", name: first?.name ?? "" });
    });
    const wanted = names.filter((name) => name !== "app-2");
    for (const name of wanted) await workspace.settled(name);
    await isDeployed(workspace, "elsewhere", true);
    await isDeployed(workspace, "app-2", false);
    lost.set(namespace, wanted);
  });

  /**
   * Waits until something was written whose answer cannot have arrived: an Application, or the status of one. Not for
   * long: without a connection left to send on, nothing is written at all, which is the lesser trouble.
   */
  async function seeWritten(way: Way, { namespace, read }: Workspace, application: ObjectName): Promise<void> {
    const objects = async () => (await truth.objects()).filter(({ metadata }) => metadata.name.startsWith(`${namespace}-app`)).length;
    const recorded = async () =>
      (await truth.store.operations.listApplications({ namespace, name: "app-0" }, { limit: 1, after: "" }, world.signal))[0]?.status
        ?.status;
    // Written in the instance's name, which is sooner than a report of its own.
    await world.kube.mergePatch(TYPES.application, application, { status: { sync: { revision: UNHEARD } } }, world.signal);
    const isWritten = {
      api: async () => (await read("app-0"))?.status?.sync?.revision === UNHEARD,
      database: async () => (await recorded())?.sync.revision === UNHEARD,
      engine: async () => (await objects()) > 1,
    }[way];
    const outcome = await until("a lost answer", isWritten, Boolean, UNANSWERED_MS).catch(() => false);
    report(`${way}: ${outcome ? "an answer got lost" : "nothing could be sent"}`);
  }
});

describe("a clock that is set", () => {
  it("forward and back by an hour under a control plane loses nothing and delays nothing", async () => {
    const workspace = await prepared("fault-clock", ["start", "forward", "back"]);
    await deploy(workspace, "start");
    await workspace.settled("start");
    try {
      for (const [name, aheadMs] of [
        ["forward", HOUR_MS],
        ["back", -HOUR_MS],
      ] as const) {
        for (const index of world.harness.argosyUrls.keys()) await callHarness(world.harness, "setClock", { index, aheadMs });
        await deploy(workspace, name);
        await workspace.settled(name);
        const revision = await world.git.commit("fault-clock", { [`${name}/config.yaml`]: configMapFile(name, { clock: name }) });
        await workspace.annotate(name, { "argosy.dev/refreshed-at": name });
        await workspace.settled(name, revision);
        await workspace.remove(name);
        await isDeployed(workspace, name, false);
        await allReady(world);
      }
    } finally {
      for (const index of world.harness.argosyUrls.keys()) await callHarness(world.harness, "setClock", { index, aheadMs: 0 });
    }
    await until(
      "the rows gone",
      () => truth.rows(["fault-clock"]),
      (rows) => rows.length === 1,
    );
    await expectWhole(truth, ["fault-clock/start"], world.signal);
  });
});

describe("lost answers, in the end", () => {
  it("leave nothing behind", async () => {
    for (const [namespace, wanted] of lost) {
      await until(
        `${namespace}: the row gone`,
        () => truth.rows([namespace]),
        (rows) => rows.length === wanted.length,
      );
      const requests = wanted.map((name) => `${namespace}/${name}`);
      await expectWhole(truth, requests, world.signal);
    }
    await expectNoOrphans(truth, world.signal);
  });
});
