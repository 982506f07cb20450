import { beforeAll, describe, expect, it } from "vitest";
import type { MoveView } from "../src/api/routes/moves.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { again } from "./again.ts";
import { askForMove, holdInRevoke, moveEnded, openMovable } from "./moves-world.ts";
import { syncFailing, syncStateOf } from "./sync-state.ts";
import {
  conditionOf,
  configMapFile,
  findApplication,
  openWorkspace,
  openWorld,
  report,
  TYPES,
  until,
  type Workspace,
  type World,
} from "./world.ts";

/** How many times a path is corrected for the reported figure. */
const MENDS = 12;

const BROKEN = JSON.stringify({ apiVersion: "v1", kind: "Service", metadata: { name: "broken" }, spec: { ports: [{ port: 99_999 }] } });
/** A PreSync hook that runs for longer than any story. */
const ENDLESS = JSON.stringify({
  ...{ apiVersion: "batch/v1", kind: "Job" },
  metadata: { name: "endless", annotations: { "argocd.argoproj.io/hook": "PreSync" } },
  spec: {
    backoffLimit: 0,
    template: {
      metadata: { annotations: { "dev.argosy/run-ms": "3600000" } },
      spec: { restartPolicy: "Never", containers: [{ name: "hook", image: "example.com/hook" }] },
    },
  },
});

const FILES = {
  "broken/service.yaml": BROKEN,
  "hanging/hook.yaml": ENDLESS,
  "hanging/config.yaml": configMapFile("behind", {}),
  "good/config.yaml": configMapFile("good", {}),
  "better/config.yaml": configMapFile("better", {}),
};

let world: World;
beforeAll(() => {
  world = openWorld();
});

/** A workspace with a repository of its name. `broken` and `hanging` cannot be synced, `good` and `better` can. */
async function open(namespace: string) {
  await world.git.commit(namespace, FILES);
  const workspace = await openWorkspace(world, namespace);
  return {
    ...workspace,
    deploy: (path: string, type: "automated" | "manual" = "automated") => workspace.apply("app", { repository: namespace, path, type }),
    failing: () => syncFailing(world, namespace, "app"),
    state: () => syncStateOf(world, namespace, "app"),
  };
}

/** How long it takes from now until the user reads Synced and Healthy, in ms. */
async function toSettled(workspace: Workspace): Promise<number> {
  const since = performance.now();
  await workspace.settled("app");
  return performance.now() - since;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

describe("a deployment whose sync fails and is retried", () => {
  it("is synced from the corrected path, again and again", async () => {
    const workspace = await open("failing-path");
    const took: number[] = [];
    for (let mend = 0; mend < MENDS; mend += 1) {
      await workspace.deploy("broken");
      await workspace.failing();
      await workspace.deploy("good");
      took.push(await toSettled(workspace));
    }
    expect(await workspace.configMap("good")).toBeDefined();
    took.sort((a, b) => a - b);
    const share = (part: number): string => seconds(took[Math.ceil(part * took.length) - 1] ?? 0);
    report(`failing sync: ${took.length} paths mended, Synced after p50 ${share(0.5)}, p95 ${share(0.95)}, at most ${share(1)}`);
  });

  it("is synced when the path is corrected together with a request to refresh", async () => {
    const workspace = await open("failing-refreshed");
    await workspace.deploy("broken");
    await workspace.failing();
    await workspace.deploy("good");
    await workspace.annotate("app", { "argosy.dev/refreshed-at": "now" });
    report(`failing sync: Synced ${seconds(await toSettled(workspace))} after the path was mended with a refresh`);
  });

  it("tries the correcting commit at once when a refresh is requested", async () => {
    const workspace = await open("failing-commit");
    await workspace.deploy("broken");
    await workspace.failing();
    const revision = await world.git.commit("failing-commit", { "broken/service.yaml": configMapFile("mended", {}) });
    await workspace.annotate("app", { "argosy.dev/refreshed-at": "now" });
    const since = performance.now();
    await workspace.settled("app", revision);
    report(`failing sync: Synced ${seconds(performance.now() - since)} after a commit and a refresh`);
  });

  it("does what a run asks for once it is made manual", async () => {
    const workspace = await open("failing-manual");
    await workspace.deploy("broken");
    await workspace.failing();
    await workspace.deploy("good", "manual");
    const run = {
      ...{ apiVersion: "managed-gitops.redhat.com/v1alpha1", kind: "GitOpsDeploymentSyncRun" },
      metadata: { name: "by-hand", namespace: workspace.namespace },
      spec: { gitopsDeploymentName: "app" },
    };
    await world.kube.apply(TYPES.syncRun, run as KubeObject, { fieldManager: "user" }, world.signal);
    await until(
      "the run succeeded",
      () =>
        world.kube.get<KubeObject & { status?: { phase?: string } }>(
          TYPES.syncRun,
          { namespace: workspace.namespace, name: "by-hand" },
          world.signal,
        ),
      (found) => found?.status?.phase === "Succeeded",
    );
    expect(await workspace.configMap("good")).toBeDefined();
  });

  it("ends as the last spec says when the spec changes every second", async () => {
    const workspace = await open("failing-often");
    const paths = ["broken", "good", "broken", "better", "broken", "hanging", "good", "broken", "good", "better"];
    let last: number | undefined;
    const changes = again(1_000, async () => {
      const path = paths.shift();
      if (path === undefined) return;
      await workspace.deploy(path);
      if (paths.length === 0) last = performance.now();
    });
    const since = await until(
      "ten changes",
      async () => last,
      (at) => at !== undefined,
    );
    await workspace.settled("app");
    const tookMs = performance.now() - (since ?? 0);
    await changes.end();
    report(`failing sync: Synced ${seconds(tookMs)} after the last of ten changes, one each second`);
    expect(await workspace.configMap("better")).toBeDefined();
    expect(await workspace.configMap("good")).toBeUndefined();
  });
});

describe("a deployment whose PreSync hook hangs", () => {
  it("is synced from another path, and the hook is ended", async () => {
    const workspace = await open("failing-hook");
    await workspace.deploy("hanging");
    await until("the hook runs", workspace.state, (now) => now?.phase === "Running");
    await until(
      "the hook's Job",
      () =>
        world.kube.get(
          { group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true },
          { namespace: workspace.namespace, name: "endless" },
          world.signal,
        ),
      (job) => job !== undefined,
    );
    await workspace.deploy("good");
    report(`failing sync: Synced ${seconds(await toSettled(workspace))} after the path was changed under a hook that hangs`);
    expect(await workspace.configMap("good")).toBeDefined();
    expect(await workspace.configMap("behind")).toBeUndefined();
  });
});

describe("a workspace that is moved while a sync of it fails", () => {
  it("is synced on its new instance from the path that is corrected after the move, and from the one that is corrected during it", async () => {
    const namespace = "failing-moved";
    const movable = await openMovable(world, namespace, ["app"]);
    await world.git.commit(namespace, FILES);
    const { workspace } = movable;
    const deploy = (path: string) => workspace.apply("app", { repository: namespace, path });
    const arrived = async (asked: Pick<MoveView, "id" | "to">): Promise<void> => {
      const move = await moveEnded(world, asked);
      expect([move.phase, move.message, await movable.owner()]).toEqual(["DONE", "", asked.to]);
      expect((await findApplication(world, namespace, "app"))?.metadata.namespace).toBe(`argosy-${asked.to}`);
    };

    await deploy("broken");
    await syncFailing(world, namespace, "app");
    await arrived(await askForMove(world, movable, await movable.other()));
    // It is retried there too, and fails.
    await syncFailing(world, namespace, "app");
    await deploy("good");
    report(`failing sync: Synced ${seconds(await toSettled(workspace))} after the path was mended on the instance it was moved to`);
    expect(await workspace.configMap("good")).toBeDefined();

    await deploy("broken");
    await syncFailing(world, namespace, "app");
    const bypass = { namespace, name: "bypass" };
    const held = await holdInRevoke(world, movable, bypass);
    await deploy("better");
    await world.kube.delete(TYPES.roleBinding, bypass, {}, world.signal);
    await arrived(held);
    report(`failing sync: Synced ${seconds(await toSettled(workspace))} after a move during which the path was mended`);
    expect(await workspace.configMap("better")).toBeDefined();
    expect(await workspace.configMap("good")).toBeUndefined();
  });
});

describe("a deployment into its own namespace", () => {
  it("is synced with CreateNamespace=true, which has nothing to do there", async () => {
    const workspace = await open("failing-namespace");
    await workspace.deploy("good");
    const at = { namespace: workspace.namespace, name: "app" };
    await world.kube.mergePatch(TYPES.deployment, at, { spec: { syncPolicy: { syncOptions: ["CreateNamespace=true"] } } }, world.signal);
    await world.git.commit("failing-namespace", { "good/config.yaml": configMapFile("good", { step: "2" }) });
    await workspace.annotate("app", { "argosy.dev/refreshed-at": "now" });
    await until(
      "the next commit is deployed",
      () => workspace.configMap("good"),
      (found) => found?.data?.["step"] === "2",
    );
    expect(conditionOf(await workspace.settled("app"), "Ready")).toMatchObject({ status: "True" });
  });
});
