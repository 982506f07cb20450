import pg from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { callHarness } from "./harness-client.ts";
import { conditionOf, configMapFile, findApplication, openWorkspace, openWorld, TYPES, until, type World } from "./world.ts";

interface RunResource extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly revision?: string;
    readonly message?: string;
    readonly startedAt?: string;
    readonly finishedAt?: string;
    readonly hooks?: readonly Readonly<Record<string, string>>[];
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

interface Application extends KubeObject {
  readonly operation?: unknown;
  readonly status?: {
    readonly history?: readonly { readonly revision: string }[];
    readonly operationState?: { readonly phase?: string; readonly operation?: { readonly info?: readonly { readonly value: string }[] } };
  };
}

/** A Service that is healthy once somebody gives it an address. Later waves of the sync wait for that. */
const gateFile = (name: string): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, annotations: { "argocd.argoproj.io/sync-wave": "-1" } },
    spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
  });

const hookOf = (type: string) => ({ "argocd.argoproj.io/hook": type });

/** A Job that a sync runs as a hook, and that ends with this exit code. */
function hookJobFile(name: string, type: string, exitCode: number): string {
  const template = {
    metadata: { annotations: { "dev.argosy/exit-code": String(exitCode), "dev.argosy/run-ms": "1" } },
    spec: { restartPolicy: "Never", containers: [{ name: "hook", image: "example.com/hook" }] },
  };
  const metadata = { name, annotations: hookOf(type) };
  return JSON.stringify({ apiVersion: "batch/v1", kind: "Job", metadata, spec: { backoffLimit: 0, template } });
}

let world: World;
beforeAll(() => {
  world = openWorld();
});

const applicationOf = async (namespace: string) => (await findApplication(world, namespace, "app")) as Application | undefined;
const historyOf = async (namespace: string) => (await applicationOf(namespace))?.status?.history?.map(({ revision }) => revision) ?? [];

/** A workspace with a manual deployment `app` of the repository of the same name. */
async function openManual(namespace: string, files: Readonly<Record<string, string>>) {
  const { kube, signal } = world;
  const revision = await world.git.commit(namespace, files);
  const workspace = await openWorkspace(world, namespace);
  const read = (name: string) => kube.get<RunResource>(TYPES.syncRun, { namespace, name }, signal);
  const manual = {
    ...workspace,
    revision,
    read,
    deploy: () => workspace.apply("app", { repository: namespace, path: "dev", type: "manual" }),
    async run(name: string, spec: Readonly<Record<string, unknown>> = {}) {
      const body = { apiVersion: "managed-gitops.redhat.com/v1alpha1", kind: "GitOpsDeploymentSyncRun", metadata: { name, namespace } };
      await kube.apply(
        TYPES.syncRun,
        { ...body, spec: { gitopsDeploymentName: "app", ...spec } } as KubeObject,
        { fieldManager: "user" },
        signal,
      );
    },
    remove: (name: string) => kube.delete(TYPES.syncRun, { namespace, name }, {}, signal),
    reached: (name: string, phase: string) =>
      until(
        `${namespace}/${name} ${phase}`,
        () => read(name),
        (run) => run?.status?.phase === phase,
      ),
    async openGate() {
      const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
      await kube.mergePatch(TYPES.service, { namespace, name: "gate", subresource: "status" }, { status }, signal);
    },
    /** Waits until the sync is under way and waits at the gate. */
    atGate: (name: string) =>
      until(
        `${namespace}/${name} at its gate`,
        async () => ({ run: await read(name), gate: await kube.get(TYPES.service, { namespace, name: "gate" }, signal) }),
        ({ run, gate }) => run?.status?.phase === "Running" && gate !== undefined,
      ),
  };
  return manual;
}

describe("a manual deployment", () => {
  it("is deployed once by a run, at the run's revision, and not earlier", async () => {
    const team = await openManual("run-once", { "dev/config.yaml": configMapFile("once", { step: "one" }) });
    const later = await world.git.commit("run-once", {
      "dev/config.yaml": configMapFile("once", { step: "two" }),
      "dev/new.yaml": configMapFile("new", {}),
    });
    await team.deploy();
    const waiting = await until(
      "the deployment OutOfSync",
      () => openWorkspace(world, "run-once").then((workspace) => workspace.read("app")),
      (resource) => resource?.status?.sync?.status === "OutOfSync",
    );
    expect(conditionOf(waiting, "Ready")).toMatchObject({ status: "False", reason: "OutOfSync" });
    expect(await team.configMap("once")).toBeUndefined();

    await team.run("first", { revisionID: team.revision });
    const first = await team.reached("first", "Succeeded");
    expect(first?.status).toMatchObject({ revision: team.revision, startedAt: expect.any(String), finishedAt: expect.any(String) });
    expect(conditionOf(first as never, "Ready")).toMatchObject({ status: "True", reason: "Succeeded" });
    expect(conditionOf(first as never, "ErrorOccurred")).toMatchObject({ status: "False" });
    expect((await team.configMap("once"))?.data).toEqual({ step: "one" });
    expect(await historyOf("run-once")).toEqual([team.revision]);

    await team.run("second");
    expect((await team.reached("second", "Succeeded"))?.status?.revision).toBe(later);
    expect((await team.configMap("once"))?.data).toEqual({ step: "two" });

    await world.git.commit("run-once", { "dev/new.yaml": undefined });
    await team.run("third");
    await team.reached("third", "Succeeded");
    expect(await team.configMap("new")).toBeDefined();
    await team.run("fourth", { prune: true, ttlSecondsAfterFinished: 1 });
    await until(
      "the run deleted after its end",
      () => team.read("fourth"),
      (run) => run === undefined,
    );
    expect(await team.configMap("new")).toBeUndefined();
    expect(await historyOf("run-once")).toHaveLength(4);
  });

  it("lets a run wait for a deployment that does not exist yet, and refuses a run of an automated one", async () => {
    const team = await openManual("run-early", { "dev/config.yaml": configMapFile("early", {}) });
    await team.run("early");
    const waiting = await until(
      "the run says what it waits for",
      () => team.read("early"),
      (run) => conditionOf(run as never, "ErrorOccurred")?.status === "True",
    );
    expect(waiting?.status).toMatchObject({
      phase: "Pending",
      message: "Unable to retrieve GitOpsDeployment 'app' referenced by the GitOpsDeploymentSyncRun",
    });
    await team.deploy();
    await team.reached("early", "Succeeded");

    await team.apply("auto", { repository: "run-early", path: "dev" });
    await team.settled("auto");
    await team.run("refused", { gitopsDeploymentName: "auto" });
    const refused = await until(
      "the run refused",
      () => team.read("refused"),
      (run) => conditionOf(run as never, "Stalled")?.status === "True",
    );
    expect(conditionOf(refused as never, "ErrorOccurred")?.message).toBe(
      "invalid GitOpsDeploymentSyncRun 'refused'. Syncing a GitOpsDeployment with Automated sync policy is not allowed",
    );
  });

  it("says that a sync failed, and why", async () => {
    const broken = JSON.stringify({ apiVersion: "v1", kind: "Service", metadata: { name: "broken" }, spec: { ports: [{ port: 99_999 }] } });
    const team = await openManual("run-fails", { "dev/broken.yaml": broken });
    await team.deploy();
    await team.run("broken");
    const failed = await team.reached("broken", "Failed");
    expect(failed?.status?.message).toContain("99999");
    expect(conditionOf(failed as never, "Stalled")).toMatchObject({ status: "True", reason: "Failed" });
    expect(JSON.stringify(failed?.status)).not.toMatch(/standard-[12]|argosy-/);
    await world.git.commit("run-fails", { "dev/broken.yaml": configMapFile("mended", {}) });
    await team.run("mended");
    await team.reached("mended", "Succeeded");
  });

  it("runs hooks: a PreSync hook that fails, or that the API server refuses, fails the run before anything is deployed", async () => {
    const refused = JSON.stringify({
      ...{ apiVersion: "v1", kind: "Service", metadata: { name: "port", annotations: hookOf("PreSync") } },
      spec: { ports: [{ port: 99_999 }] },
    });
    const [fails, isRefused] = await Promise.all([
      openManual("run-hook-fails", {
        "dev/before.yaml": hookJobFile("migrate", "PreSync", 3),
        "dev/config.yaml": configMapFile("hooked", {}),
        "dev/after.yaml": hookJobFile("announce", "PostSync", 0),
        "dev/sorry.yaml": hookJobFile("apologise", "SyncFail", 0),
      }),
      openManual("run-hook-refused", { "dev/before.yaml": refused, "dev/config.yaml": configMapFile("hooked", {}) }),
    ]);
    const teams = [fails, isRefused];
    for (const team of teams) await team.deploy();
    for (const team of teams) await team.run("first");
    const [failed, notTaken] = await Promise.all(teams.map((team) => team.reached("first", "Failed")));
    expect(failed?.status?.hooks).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          kind: "Job",
          name: "migrate",
          type: "PreSync",
          phase: "Failed",
          message: expect.stringContaining("backoff limit"),
        }),
        expect.objectContaining({ kind: "Job", name: "apologise", type: "SyncFail", phase: "Succeeded" }),
      ]),
    );
    expect(failed?.status?.hooks).toHaveLength(2);
    expect(notTaken?.status?.hooks).toEqual([
      expect.objectContaining({
        kind: "Service",
        name: "port",
        type: "PreSync",
        phase: "Failed",
        message: expect.stringContaining("99999"),
      }),
    ]);
    expect(failed?.status?.message).toContain("unsuccessfully");
    expect(notTaken?.status?.message).toContain("99999");
    for (const run of [failed, notTaken]) {
      expect(conditionOf(run as never, "Stalled")).toMatchObject({ status: "True", reason: "Failed", message: run?.status?.message });
      expect(conditionOf(run as never, "ErrorOccurred")).toMatchObject({ status: "True", message: run?.status?.message });
    }
    for (const team of teams) expect(await team.configMap("hooked")).toBeUndefined();

    await world.git.commit("run-hook-fails", { "dev/before.yaml": hookJobFile("migrate", "PreSync", 0) });
    await world.git.commit("run-hook-refused", { "dev/before.yaml": undefined });
    for (const team of teams) await team.run("mended");
    const [mended] = await Promise.all(teams.map((team) => team.reached("mended", "Succeeded")));
    const hook = (name: string, type: string) => expect.objectContaining({ kind: "Job", name, type, phase: "Succeeded" });
    expect(mended?.status?.hooks).toEqual(expect.arrayContaining([hook("migrate", "PreSync"), hook("announce", "PostSync")]));
    expect(mended?.status?.hooks).toHaveLength(2);
    for (const team of teams) expect(await team.configMap("hooked")).toBeDefined();
  });

  it("terminates the sync of a run that is deleted, and lets the next one have its turn", async () => {
    const team = await openManual("run-ends", { "dev/gate.yaml": gateFile("gate"), "dev/config.yaml": configMapFile("behind", {}) });
    await team.deploy();
    await team.run("stopped");
    await team.atGate("stopped");
    await team.run("next", { revisionID: team.revision });
    const queued = await until(
      "the next one waiting for its turn",
      () => team.read("next"),
      (run) => conditionOf(run as never, "Reconciling")?.reason === "Queued",
    );
    expect(queued?.status?.phase).toBe("Pending");
    await team.remove("stopped");
    const ended = await until(
      "the first sync terminated",
      () => applicationOf("run-ends"),
      (application) => application?.status?.operationState?.operation?.info?.[0]?.value === queued?.metadata.uid,
    );
    expect(ended?.status?.history ?? []).toEqual([]);
    expect(await team.configMap("behind")).toBeUndefined();
    await team.openGate();
    await team.reached("next", "Succeeded");
    await team.remove("next");
    expect(await historyOf("run-ends")).toHaveLength(1);
  });
});

describe("a killed process", () => {
  it("does not sync twice when both control planes die between the request for a sync and its record (P6)", async () => {
    const team = await openManual("run-crash", { "dev/gate.yaml": gateFile("gate"), "dev/config.yaml": configMapFile("crash", {}) });
    await team.deploy();
    await team.run("ahead");
    await team.atGate("ahead");
    await team.run("twice");
    const { metadata } = (await team.reached("twice", "Pending")) ?? {};

    const client = new pg.Client(world.harness.databaseUrl);
    await client.connect();
    try {
      await client.query("begin");
      await client.query("select uid from sync_run where uid = $1 for update", [metadata?.uid]);
      await team.openGate();
      await until(
        "the second sync done, while nobody can record it",
        () => applicationOf("run-crash"),
        (application) => application?.status?.history?.length === 2 && application.operation === undefined,
      );
      const { rows } = await client.query("select phase from sync_run where uid = $1", [metadata?.uid]);
      expect(rows).toEqual([{ phase: "Pending" }]);
      for (const index of [0, 1]) await callHarness(world.harness, "killArgosy", { index });
      // The statement that waits for the lock would go on without the process that sent it.
      await client.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()",
      );
      await client.query("rollback");
    } finally {
      await client.end();
    }
    for (const index of [0, 1]) await callHarness(world.harness, "startArgosy", { index });
    await team.reached("twice", "Succeeded");
    expect(await historyOf("run-crash")).toHaveLength(2);
    await team.run("after");
    await team.reached("after", "Succeeded");
    expect(await historyOf("run-crash")).toHaveLength(3);
  });
});
