import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFaultProxy, type FaultProxy } from "../hack/dev-cluster/fault-proxy.ts";
import type { MoveView } from "../src/api/routes/moves.ts";
import { ACCOUNTS_NAMESPACE } from "../src/domain/names.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { again } from "./again.ts";
import { playEnvironments } from "./environments.ts";
import { MOVE_PATIENCE_MS, mayWrite } from "./moves-world.ts";
import { openPools, type PoolsWorld } from "./pools-world.ts";
import { startTargetCluster, TARGET_TYPES, type TargetCluster } from "./target-cluster.ts";
import { configMapFile, IS_LONG, openWorkspace, openWorld, report, TYPES, until, type Workspace, type World } from "./world.ts";

const FAR = "far";
const [SOURCE, TARGET] = ["failing-1", "steady-1"] as const;
const [OURS, SOFT] = ["fail-ours", "fail-soft"] as const;
const NAMES = ["home", "shop"] as const;
const PROBE_EVERY_MS = 200;
const PUSH_EVERY_MS = 1_000;
/** On a machine of its own the story takes two minutes; a shared one may take ten times as long. */
const DEADLINE_MS = 25 * 60_000;
const REFRESH = { metadata: { annotations: { "argocd.argoproj.io/refresh": "normal" } } };

type SecretObject = KubeObject & { readonly data?: Readonly<Record<string, string>> };
type ApplicationObject = KubeObject & { readonly status?: { readonly operationState?: { readonly message?: string } } };

describe.runIf(IS_LONG)("an instance that nobody reaches and that goes on", () => {
  let world: World;
  let pools: PoolsWorld;
  let target: TargetCluster;
  let proxy: FaultProxy;
  beforeAll(async () => {
    world = openWorld(DEADLINE_MS);
    pools = openPools(world);
    target = await startTargetCluster(world.signal);
  }, 300_000);
  afterAll(async () => {
    await proxy?.restore(FAR);
    await pools.restore();
    await proxy?.close();
    await target.stop();
  }, 600_000);

  const parts = () => ({ world, target });
  const { putSecret, putEnvironment, deploy } = playEnvironments(parts);

  /** Two instances of one class: the way to the source's engine cluster can be cut, its controller goes another one. */
  async function declare(): Promise<void> {
    const [near] = pools.document["engineClusters"] as readonly { readonly name: string; readonly kubeconfigSecret: string }[];
    if (near === undefined) throw new Error("no engine cluster is declared");
    const [namespace = "", name = ""] = near.kubeconfigSecret.split("/");
    const secret = await world.kube.get<SecretObject>(TYPES.secret, { namespace, name }, world.signal);
    const text = Buffer.from(secret?.data?.["kubeconfig"] ?? "", "base64").toString();
    const server = /server: "?(https:\/\/[^\s"]+)/.exec(text)?.[1] ?? "";
    const { hostname, port } = new URL(server);
    proxy = createFaultProxy({ target: { host: hostname, port: Number(port) } });
    const kubeconfig = text.replace(server, `https://${hostname}:${await proxy.portFor(FAR)}`);
    const copy = { apiVersion: "v1", kind: "Secret", metadata: { namespace, name: FAR }, stringData: { kubeconfig } } as KubeObject;
    await world.kube.apply(TYPES.secret, copy, { fieldManager: "user" }, world.signal);
    const type = { region: "local", tier: "failing", trust: "public" };
    const [pool] = pools.document.pools;
    const poolOf = (of: string, engineCluster: string) => ({
      ...{ ...pool, class: type, name: of, engineClusters: [engineCluster], instances: { min: 1, max: 1 } },
    });
    await pools.declare({
      ...pools.document,
      engineClusters: [
        ...(pools.document["engineClusters"] as readonly object[]),
        { ...near, name: FAR, kubeconfigSecret: `${namespace}/${FAR}` },
      ],
      pools: [poolOf("failing", FAR), poolOf("steady", near.name), ...pools.document.pools],
    });
    for (const each of [SOURCE, TARGET]) await pools.instance(each, "active", (found) => found?.state === "ACTIVE");
  }

  /** A workspace of two deployments to its own namespace, or of which one goes to an environment with its user's own credential. */
  async function settle(namespace: string, isSoft: boolean): Promise<Workspace> {
    const workspace = await openWorkspace(world, namespace);
    if (isSoft) {
      await target.namespace("soft");
      await putSecret(namespace, { token: await target.account("of-the-user") });
      await putEnvironment(namespace, { namespaces: ["soft"] });
    }
    await world.git.commit(namespace, Object.fromEntries(NAMES.map((name) => [`${name}/config.yaml`, configMapFile(name, { push: "0" })])));
    const destination = { environment: "prod", namespace: "soft" };
    for (const name of NAMES) await deploy(workspace, name, isSoft && name === "shop" ? destination : undefined);
    for (const name of NAMES) await workspace.settled(name);
    return workspace;
  }

  const uidsOf = (workspace: Workspace) => Promise.all(NAMES.map(async (name) => (await workspace.configMap(name))?.metadata.uid));
  const push = (step: string) =>
    world.git.commit(OURS, Object.fromEntries(NAMES.map((name) => [`${name}/config.yaml`, configMapFile(name, { push: step })])));
  const arrived = (workspace: Workspace, step: string) =>
    Promise.all(
      NAMES.map((name) =>
        until(
          `${name} at push ${step}`,
          () => workspace.configMap(name),
          (found) => found?.data?.["push"] === step,
          MOVE_PATIENCE_MS,
        ),
      ),
    );
  /** The Applications of the workspace that stand on an instance, as its controller has them. */
  async function standingOn(instance: string): Promise<readonly ApplicationObject[]> {
    const namespace = `argosy-${instance}`;
    const { items } = await world.kube.listPage<ApplicationObject>(TYPES.application, { namespace }, world.signal);
    return items.filter(({ metadata }) => metadata.name.startsWith(`${OURS}-`));
  }
  /** Tells an instance's controller to look now, as a webhook would. */
  async function poke(instance: string): Promise<void> {
    for (const { metadata } of await standingOn(instance)) {
      const at = { namespace: `argosy-${instance}`, name: metadata.name };
      await world.kube.mergePatch(TYPES.application, at, REFRESH, world.signal).catch(() => undefined);
    }
  }
  const writers = async (): Promise<number> => {
    const options = { namespace: ACCOUNTS_NAMESPACE, labelSelector: "app.kubernetes.io/managed-by=argosy" };
    const { items } = await world.kube.listPage<KubeObject>(TARGET_TYPES.serviceAccount, options, world.signal);
    const may = await Promise.all(items.map(({ metadata }) => mayWrite(world, OURS, metadata.name)));
    return may.filter(Boolean).length;
  };
  const instanceOf = async (namespace: string) => {
    const { items } = await world.rest.get<{ readonly items: readonly { readonly instance: string | null }[] }>("/v1/applications", {
      namespace,
    });
    return new Set(items.map(({ instance }) => instance));
  };

  it(
    "is refused where it deploys, and others take over what can be taken from it (I1, I2, I8)",
    async () => {
      await declare();
      await world.rest.put(`/v1/instances/${TARGET}/cordon`, { cordoned: true, reason: "the story begins on the other" });
      const workspace = await settle(OURS, false);
      await settle(SOFT, true);
      await world.rest.put(`/v1/instances/${TARGET}/cordon`, { cordoned: false, reason: "and goes on here" });
      expect(await instanceOf(OURS)).toEqual(new Set([SOURCE]));
      const uids = await uidsOf(workspace);
      expect(uids).not.toContain(undefined);

      await proxy.disturb(FAR, { kind: "refuse" });
      await push("cut");
      await poke(SOURCE);
      await arrived(workspace, "cut");

      const wish = { to: TARGET, failOver: true };
      const refused = await world.rest.post("/v1/moves", { ...wish, workspace: SOFT }).catch((error: unknown) => String(error));
      expect(refused).toContain(`its credential is the user's own and cannot be taken from ${SOURCE}`);

      const seen = new Set<number>();
      let pushes = 0;
      const watching = [
        again(PROBE_EVERY_MS, async () => void seen.add(await writers())),
        again(PUSH_EVERY_MS, async () => {
          pushes += 1;
          await push(String(pushes));
          await poke(SOURCE);
          expect(await uidsOf(workspace)).toEqual(uids);
        }),
      ];
      let moved: MoveView;
      try {
        const saw = (count: number) =>
          until(
            `${count} writers`,
            async () => [...seen],
            (all) => all.includes(count),
            MOVE_PATIENCE_MS,
          );
        await saw(1);
        const { id } = await world.rest.post<MoveView>("/v1/moves", { ...wish, workspace: OURS });
        moved = await until(
          "the fail-over ended",
          () => world.rest.get<MoveView>(`/v1/moves/${id}`),
          ({ endedAt }) => endedAt !== null,
          MOVE_PATIENCE_MS,
        );
      } finally {
        for (const each of watching) await each.end();
      }
      report(`a fail-over of two applications: gap ${moved.gapMs} ms, whole ${moved.tookMs} ms, ${pushes} pushes`);
      expect([moved.phase, moved.kind, moved.failOver, moved.message]).toEqual([
        ...["DONE", "evacuation", true, "what stands on its former instance goes once that can be reached"],
      ]);
      // The probes can tell: they see an owner, and during the gap none.
      expect(seen).toEqual(new Set([0, 1]));
      expect(await instanceOf(OURS)).toEqual(new Set([TARGET]));

      // The former owner is alive and tries: what it deploys to says no, and what the new one pushes stands.
      const left = await standingOn(SOURCE);
      expect(left).toHaveLength(NAMES.length);
      await push("over");
      await poke(SOURCE);
      await poke(TARGET);
      await until(
        "the former owner refused",
        () => standingOn(SOURCE),
        (all) => all.every(({ status }) => /forbidden|cannot|Unauthorized/.test(status?.operationState?.message ?? "")),
        MOVE_PATIENCE_MS,
      );
      await arrived(workspace, "over");
      expect(await uidsOf(workspace)).toEqual(uids);

      await proxy.restore(FAR);
      const backAt = performance.now();
      await until(
        "nothing is left on the former owner",
        () => standingOn(SOURCE),
        (all) => all.length === 0,
        2 * MOVE_PATIENCE_MS,
      );
      report(`what was left behind was gone ${Math.round((performance.now() - backAt) / 1000)} s after its instance was back`);
      await push("after");
      await poke(TARGET);
      await arrived(workspace, "after");
      expect(await uidsOf(workspace)).toEqual(uids);
      for (const namespace of [OURS, SOFT]) await world.kube.delete(TYPES.namespace, { namespace: "", name: namespace }, {}, world.signal);
    },
    DEADLINE_MS,
  );
});
