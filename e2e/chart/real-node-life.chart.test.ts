import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingForRealNode } from "../../hack/dev-cluster/real-node/requirements.ts";
import { run } from "../../hack/dev-cluster/real-node/run.ts";
import { SYSTEM_NAMESPACE } from "../../src/domain/names.ts";
import { ROLES } from "../../src/domain/role.ts";
import type { KubeObject } from "../../src/runtime/kube/resource.ts";
import { IS_LONG, TYPES, until } from "../world.ts";
import { type ArgosyImage, imageOf, imageOfCheckout } from "./argosy-image.ts";
import { CHART, type ChartCluster, imageValues, RELEASE, startChartCluster } from "./chart-cluster.ts";
import { exhaustMemory, fillVolume } from "./harm.ts";
import { isReady, POD, type Pod, podsOf } from "./pods.ts";
import { beginStream, STREAM, type StreamSeen, type UserStream } from "./stream.ts";
import { watchRest } from "./watch-rest.ts";

/** The release before: the commit with which the chart came. Raise it with each release. */
const PREVIOUS = "89d5b9865cedb7159f6561801fd29352c5d58c6c";
const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
/** Deployments that are created a second. */
const PER_SECOND = IS_LONG ? 5 : 2;
/** In short runs two pods of each role are enough to see a hand-over. */
const REPLICAS = IS_LONG ? 3 : 2;
/** How long everything may take to be as it should be, in ms. Far more than it takes. */
const DEADLINE_MS = 8 * 60_000;
/** What a user may read that is worse than before, in ms: Argosy's own time limits are far below. */
const WORSE_MS = 60_000;
/** How long a hand-over of a pod may refuse requests, in ms. */
const HAND_OVER_MS = 15_000;

/** One node has room for everything while the other one is drained. */
const SMALL = {
  replicas: REPLICAS,
  workloads: Object.fromEntries(ROLES.map((role) => [role, { resources: { requests: { cpu: "20m" }, limits: { memory: "1Gi" } } }])),
};
const say = (text: string): void => void process.stdout.write(`chart: ${text}\n`);
const { signal } = new AbortController();
const missing = missingForRealNode();
const images: readonly ArgosyImage[] = missing === undefined ? [await imageOf(PREVIOUS, signal), await imageOfCheckout(signal)] : [];
const why =
  missing === undefined ? images.flatMap((image) => ("skip" in image ? [image.skip] : []))[0] : `${missing.why}. ${missing.remedy}`;
if (why !== undefined) process.stdout.write(`chart: upgrades are not tried: ${why}\n`);

describe.skipIf(why !== undefined)("a release", () => {
  let cluster: ChartCluster;
  let directory: string;
  let previousChart: string;
  beforeAll(async () => {
    const [before, now] = images.flatMap((image) => ("image" in image ? [image.image] : []));
    if (before === undefined || now === undefined) return;
    directory = mkdtempSync(join(tmpdir(), "argosy-previous-"));
    previousChart = join(directory, "charts", "argosy");
    await run("sh", ["-c", `git -C "$0" archive ${PREVIOUS} charts/argosy | tar -x -C "$1"`, PROJECT, directory], signal);
    cluster = await startChartCluster({ nodes: 2, images: [before, now] }, signal);
    values.before = cluster.valuesFile("before", { ...SMALL, image: imageValues(before) }, { ofPrevious: true });
    values.now = cluster.valuesFile("now", { ...SMALL, image: imageValues(now) });
    await helm("install", RELEASE, previousChart, "--values", values.before);
  });
  afterAll(async () => {
    await cluster?.stop();
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  });
  const values = { before: "", now: "" };
  const helm = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await cluster.helm([...args, "--wait", "--timeout", "8m"]);
    if (code === 0) return out;
    throw new Error(`helm ${args[0]}: ${err}\n${await cluster.kubectl(["get", "pods", "--all-namespaces", "-o", "wide"])}`);
  };
  const podsOfRole = (role: string): Promise<readonly Pod[]> =>
    podsOf(cluster, { namespace: SYSTEM_NAMESPACE, labels: `app.kubernetes.io/component=${role}` }, signal);
  const allReady = async (): Promise<void> => {
    for (const role of ROLES)
      await until(
        `${REPLICAS} ready pods of ${role}`,
        async () => (await podsOfRole(role)).filter(isReady).length,
        (count) => count === REPLICAS,
        DEADLINE_MS,
      );
  };
  const underLoad = async (what: string, work: () => Promise<void>): Promise<StreamSeen> => {
    const rest = watchRest(cluster, signal);
    streams += 1;
    const stream: UserStream = await beginStream(cluster, { name: String(streams), perSecond: PER_SECOND }, signal);
    const began = performance.now();
    try {
      await work();
    } finally {
      await stream.stop();
    }
    say(`${what} took ${seconds(performance.now() - began)} under ${stream.created().length} creations`);
    const seen = await stream.settle(DEADLINE_MS);
    for (const name of stream.created()) created.add(name);
    const asked = await rest.end();
    say(`${what}: REST refused ${asked.refused} of ${asked.asked} requests, ${seconds(asked.longestMs)} at most in a row`);
    say(`${what}: a user read worse for ${seconds(seen.longestWorseMs)} at most${seen.worst === "" ? "" : ` (${seen.worst})`}`);
    expect(asked.longestMs).toBeLessThan(HAND_OVER_MS);
    expect(seen).toMatchObject({ refused: [], unsettled: [] });
    expect(seen.longestWorseMs).toBeLessThan(WORSE_MS);
    await expectEachOnce();
    return seen;
  };
  /** That each deployment has one Application on all instances together: nothing is lost or there twice. */
  const created = new Set<string>();
  let streams = 0;
  const expectEachOnce = async (): Promise<void> => {
    const { items } = await cluster.api.client.listPage<
      KubeObject & { readonly spec: { readonly destination: { readonly namespace: string } } }
    >(TYPES.application, {}, signal);
    const users = items.filter(({ spec }) => spec.destination.namespace.startsWith(STREAM));
    expect(users.length).toBe(created.size);
  };

  it("is upgraded and rolled back under load, and users lose nothing", async () => {
    await underLoad("upgrade and rollback", async () => {
      await helm("upgrade", RELEASE, CHART, "--values", values.now);
      await allReady();
      await helm("rollback", RELEASE);
      await allReady();
    });
  });

  it("loses a pod of each role under load, and users lose nothing", async () => {
    await helm("upgrade", RELEASE, CHART, "--values", values.now);
    await allReady();
    await underLoad("the end of a pod of each role", async () => {
      for (const role of ROLES) {
        const [victim] = await podsOfRole(role);
        const name = victim?.metadata.name ?? "";
        await cluster.kubectl(["delete", "pod", name, "--namespace", SYSTEM_NAMESPACE, "--force", "--grace-period=0"]);
        if (IS_LONG) await allReady();
      }
      await allReady();
    });
  });

  it.runIf(IS_LONG)("loses a node under load, and users lose nothing", async () => {
    await underLoad("a drain of a node", async () => {
      // The evaluation database has one pod: whoever drains its node takes REST away until it is up again elsewhere.
      const [database] = await podsOfRole("postgresql");
      const node = database?.spec?.nodeName === "node-1" ? "node-2" : "node-1";
      const options = ["--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=6m"];
      try {
        await cluster.kubectl(["drain", node, ...options]);
      } finally {
        await cluster.kubectl(["uncordon", node]);
      }
      await allReady();
    });
  });

  it.runIf(IS_LONG)("loses a repo-server that takes too much memory, and users lose nothing", async () => {
    const namespace = "argosy-standard-1";
    const repoServer = async (): Promise<Pod | undefined> =>
      (await podsOf(cluster, { namespace, labels: "app.kubernetes.io/name=argocd-repo-server" }, signal))[0];
    await underLoad("a repo-server out of memory", async () => {
      const victim = await repoServer();
      if (victim === undefined) throw new Error(`${namespace} has no repo-server`);
      await exhaustMemory(victim, "argocd-repo-server");
      const restarted = await until(
        "the repo-server again",
        repoServer,
        (pod) => pod !== undefined && isReady(pod) && (pod.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0,
        DEADLINE_MS,
      );
      say(`the repo-server ended by ${restarted?.status?.containerStatuses?.[0]?.lastState?.terminated?.reason}`);
    });
  });

  it.runIf(IS_LONG)("loses pods that fill their disk, and users lose nothing", async () => {
    await underLoad("an eviction", async () => {
      const [victim] = await podsOfRole("workspace");
      if (victim === undefined) throw new Error("there is no pod of the role workspace");
      await fillVolume(victim, "state", signal);
      await until(
        "its eviction",
        async () => cluster.api.client.get<Pod>(POD, { namespace: SYSTEM_NAMESPACE, name: victim.metadata.name }, signal),
        // It ends in order, so that it has succeeded in Kubernetes' words; or it is gone already.
        (pod) => pod === undefined || ["Failed", "Succeeded"].includes(pod.status?.phase ?? ""),
        DEADLINE_MS,
      );
      const of = `involvedObject.name=${victim.metadata.name},reason=Evicted`;
      const message = ["-o", "jsonpath={.items[*].message}"];
      say(await cluster.kubectl(["get", "events", "--namespace", SYSTEM_NAMESPACE, "--field-selector", of, ...message]));
      await allReady();
    });
  });
});

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
