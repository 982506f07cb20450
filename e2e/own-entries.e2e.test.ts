import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { InstanceView, WorkspaceView } from "../src/api/schema.ts";
import type { InstanceId, UnitId } from "../src/domain/ids.ts";
import { ACCOUNTS_NAMESPACE, CANARY_NAMESPACE, LABEL_UNIT, SYSTEM_NAMESPACE } from "../src/domain/names.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { accountName, readAccountName, readerBindingName, workspaceEntryName, workspaceReaderName } from "../src/shard/names.ts";
import { askForMove, type Movable, moveEnded, openMovable } from "./moves-world.ts";
import { openPools, type PoolsWorld } from "./pools-world.ts";
import { configMapFile, openWorkspace, openWorld, report, TYPES, until, type Workspace, type World } from "./world.ts";

const HELD = ["own-anna", "own-otto"] as const;
const MOVED = "own-moved";
const CLASS = { region: "local", tier: "apart", trust: "public" };
const CLUSTER_ROLE_BINDINGS = {
  ...{ group: "rbac.authorization.k8s.io", version: "v1", plural: "clusterrolebindings", kind: "ClusterRoleBinding", namespaced: false },
};
type SecretObject = KubeObject & { readonly data?: Readonly<Record<string, string>> };

const secretFile = (name: string, text: string): string =>
  JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name }, stringData: { text } });
const textOf = (base64 = ""): string => Buffer.from(base64, "base64").toString("utf8");

describe("a pool whose instances have a cluster entry for each workspace", () => {
  let world: World;
  let pools: PoolsWorld;
  let apart: InstanceView;
  let moved: Movable;
  const opened: Workspace[] = [];

  beforeAll(async () => {
    world = openWorld();
    pools = openPools(world);
    const one = { instances: { min: 1, max: 1 }, class: CLASS };
    const both = pools.withPool({ name: "apart", ...one, entries: "per-workspace" });
    const [own, ...others] = both.pools;
    await pools.declare({ ...both, pools: [own ?? {}, { ...own, entries: "shared", name: "together" }, ...others] });
    for (const name of ["apart-1", "together-1"]) {
      const found = await pools.instance(name, "active", (instance) => instance?.state === "ACTIVE");
      if (name === "apart-1" && found !== undefined) apart = found;
    }
  });
  afterAll(async () => {
    for (const { namespace } of opened) await world.kube.delete(TYPES.namespace, { namespace: "", name: namespace }, {}, world.signal);
    await pools.restore();
  });

  const secret = (namespace: string, name: string) => world.kube.get<SecretObject>(TYPES.secret, { namespace, name }, world.signal);
  const unitIn = async (namespace: string): Promise<UnitId> => {
    const found = (await world.rest.all<WorkspaceView>("/v1/workspaces")).find((each) => each.namespace === namespace);
    return found?.units[0]?.id as UnitId;
  };
  const entries = async (instance: string): Promise<readonly SecretObject[]> => {
    const labelSelector = "argocd.argoproj.io/secret-type=cluster";
    return (await world.kube.listPage<SecretObject>(TYPES.secret, { namespace: `argosy-${instance}`, labelSelector }, world.signal)).items;
  };
  /** Whether an account may read Secrets there, by the authoriser. */
  const mayRead = async (account: string, namespace: string): Promise<boolean> => {
    const spec = { resourceAttributes: { namespace, verb: "list", group: "", version: "v1", resource: "secrets" } };
    const { status } = await world.kube.request<{ readonly status: { readonly allowed: boolean } }>(
      {
        method: "POST",
        path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        body: { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec },
        headers: { "impersonate-user": `system:serviceaccount:${ACCOUNTS_NAMESPACE}:${account}` },
      },
      world.signal,
    );
    return status.allowed;
  };
  const commit = (namespace: string, files: Readonly<Record<string, string | undefined>>) => world.git.commit(namespace, files);
  const refresh = (workspace: Workspace, text: string) => workspace.annotate("app", { "argosy.dev/refreshed-at": text });

  it("deploys workspaces, each by its own entry with its own account", async () => {
    await pools.cordon("together-1", true);
    for (const namespace of HELD) {
      await commit(namespace, {
        "dev/config.yaml": configMapFile("config", { a: "1" }),
        "dev/secret.yaml": secretFile("mine", "from Git"),
      });
      const workspace = await openWorkspace(world, namespace);
      opened.push(workspace);
      await workspace.apply("app", { repository: namespace, path: "dev" });
    }
    for (const workspace of opened) await workspace.settled("app");
    const all = await entries("apart-1");
    const scopes = all.map(({ data }) => textOf(data?.["namespaces"])).sort();
    expect(scopes).toEqual([CANARY_NAMESPACE, ...HELD].sort());
    expect(new Set(all.map(({ data }) => textOf(data?.["server"]))).size).toBe(3);
    for (const namespace of HELD) {
      const unit = await unitIn(namespace);
      const entry = all.find(({ metadata }) => metadata.labels?.[LABEL_UNIT] === unit);
      expect(entry?.metadata.name).toBe(workspaceEntryName(unit));
      const { bearerToken } = JSON.parse(textOf(entry?.data?.["config"])) as { readonly bearerToken: string };
      const claims = JSON.parse(Buffer.from(bearerToken.split(".")[1] ?? "", "base64url").toString("utf8")) as { readonly sub: string };
      expect(claims.sub).toBe(`system:serviceaccount:${ACCOUNTS_NAMESPACE}:${accountName(unit, apart.id as InstanceId)}`);
    }
  });

  it("lets what is in an entry read Secrets of that workspace, and what the instance itself is read none", async () => {
    const places = [...HELD, ACCOUNTS_NAMESPACE, SYSTEM_NAMESPACE, "kube-system", "argosy-apart-1"];
    for (const namespace of HELD) {
      const account = accountName(await unitIn(namespace), apart.id as InstanceId);
      for (const place of places) expect([place, await mayRead(account, place)]).toEqual([place, place === namespace]);
    }
    const own = readAccountName(apart.id as InstanceId);
    for (const place of places) expect([place, await mayRead(own, place)]).toEqual([place, false]);
    const binding = { namespace: "", name: readerBindingName(apart.id as InstanceId) };
    expect(await world.kube.get(CLUSTER_ROLE_BINDINGS, binding, world.signal)).toBeUndefined();
  });

  it("puts an edited Secret back, follows Git, and prunes", async () => {
    const [workspace] = opened;
    if (workspace === undefined) throw new Error("no workspace was opened");
    const [namespace] = HELD;
    await world.kube.mergePatch(TYPES.secret, { namespace, name: "mine" }, { stringData: { text: "edited" } }, world.signal);
    const isText = (text: string) => (found: SecretObject | undefined) => textOf(found?.data?.["text"]) === text;
    await until("the Secret as in Git again", () => secret(namespace, "mine"), isText("from Git"));
    await commit(namespace, { "dev/secret.yaml": secretFile("mine", "later") });
    await refresh(workspace, "later");
    await until("the Secret as it is in Git now", () => secret(namespace, "mine"), isText("later"));
    await commit(namespace, { "dev/secret.yaml": undefined });
    await refresh(workspace, "without");
    await until(
      "no Secret",
      () => secret(namespace, "mine"),
      (found) => found === undefined,
    );
    expect(await workspace.configMap("config")).toBeDefined();
  });

  it("takes a workspace from an instance with a shared entry by a live move, and gives it back: nothing is deleted, and the next push arrives", async () => {
    await pools.cordon("together-1", false);
    await pools.cordon("apart-1", true);
    moved = await openMovable(world, MOVED, ["web"]);
    opened.push(moved.workspace);
    expect(await moved.owner()).toBe("together-1");
    await pools.cordon("apart-1", false);
    const uids = await moved.uids();
    for (const to of ["apart-1", "together-1", "apart-1"]) {
      const move = await moveEnded(world, await askForMove(world, moved, to));
      expect([move.phase, move.message]).toEqual(["DONE", ""]);
      report(`to ${to}: gap ${move.gapMs} ms, whole ${move.tookMs} ms`);
      await moved.push("web", `on ${to}`);
      await moved.arrived("web", `on ${to}`);
      expect(await moved.uids()).toEqual(uids);
      expect(await moved.writers()).toBe(1);
      const names = (await entries("apart-1")).map(({ metadata }) => metadata.name);
      expect(names.includes(workspaceEntryName(moved.unitId))).toBe(to === "apart-1");
      const reader = { namespace: MOVED, name: workspaceReaderName(moved.unitId, apart.id as InstanceId) };
      expect((await world.kube.get(TYPES.roleBinding, reader, world.signal)) !== undefined).toBe(to === "apart-1");
    }
  });

  it("cascades, and takes the entry away when nothing is deployed by it any more", async () => {
    await moved.workspace.remove("web");
    await until(
      "nothing deployed",
      () => moved.workspace.configMap("web"),
      (found) => found === undefined,
    );
    await until(
      "no entry",
      () => entries("apart-1"),
      (all) => !all.some(({ metadata }) => metadata.name === workspaceEntryName(moved.unitId)),
    );
  });
});
