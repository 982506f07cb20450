import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MoveView } from "../src/api/routes/moves.ts";
import type { DecisionView, InstanceView, WorkspaceView } from "../src/api/schema.ts";
import { createRestClient } from "../src/cli/rest-client.ts";
import { CLASS_LABELS } from "../src/domain/names.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { again } from "./again.ts";
import { refusalOf } from "./attacks/person.ts";
import { argosy } from "./command-line.ts";
import { sumOf } from "./control-plane.ts";
import { inSeconds } from "./in-seconds.ts";
import { expectOneWriter, MOVE_TIMEOUT_MS, type Movable, openMovable } from "./moves-world.ts";
import { type NamespaceWriter, openNamespaceWriter } from "./namespace-writer.ts";
import { openPools, type PoolsWorld } from "./pools-world.ts";
import { secondSyncs, watchSyncs } from "./sync-watch.ts";
import { watchUser } from "./user-watch.ts";
import { configMapFile, findApplication, openWorkspace, openWorld, report, TYPES, until, type Workspace, type World } from "./world.ts";

const NAMES = ["one", "two"];
const MOVED = "class-moved";
const NEW = "class-new";
const LABEL = `${CLASS_LABELS}trust`;
const TRUSTED = { region: "local", tier: "apart", trust: "internal" };
const CLASS = "local/apart/internal";
const PUSH_EVERY_MS = 1_000;
const PROBE_EVERY_MS = 100;

describe("a class that labels of a namespace ask for", () => {
  let world: World;
  let pools: PoolsWorld;
  let movable: Movable;
  let user: NamespaceWriter;
  let trusted: InstanceView;
  let usual: string;
  const opened: Workspace[] = [];

  const workspaceOf = async (namespace: string): Promise<WorkspaceView | undefined> =>
    (await world.rest.all<WorkspaceView>("/v1/workspaces")).find((each) => each.namespace === namespace);
  const unitOf = async (namespace: string) => (await workspaceOf(namespace))?.units[0];
  const label = (namespace: string, labels: Readonly<Record<string, string | null>>) =>
    world.kube.mergePatch(TYPES.namespace, { namespace: "", name: namespace }, { metadata: { labels } }, world.signal);

  /** Waits until it has a class and its newest move has ended. Returns that move. */
  const handedOver = async (className: string): Promise<MoveView | undefined> => {
    await until(
      `the workspace in class ${className}`,
      () => unitOf(MOVED),
      (unit) => unit?.class === className,
      MOVE_TIMEOUT_MS,
    );
    const newest = async () => (await world.rest.all<MoveView>("/v1/moves", { workspace: MOVED }))[0];
    return until("the end of its move", newest, (move) => move?.phase === "DONE", MOVE_TIMEOUT_MS);
  };

  beforeAll(async () => {
    world = openWorld();
    pools = openPools(world);
    const { document } = pools;
    const pool = { ...document.pools[0], name: "trusted", class: TRUSTED, instances: { min: 1, max: 1 } };
    const classes = [{ labels: { [LABEL]: "internal" }, class: CLASS }];
    const workspaces = { ...(document["workspaces"] as object), classes };
    await pools.declare({ ...document, pools: [...document.pools, pool], workspaces });
    trusted = (await pools.instance("trusted-1", "active", (found) => found?.state === "ACTIVE")) as InstanceView;
    user = await openNamespaceWriter(world, "class-user");
  });
  afterAll(async () => {
    await user.close();
    for (const { namespace } of opened) await world.kube.delete(TYPES.namespace, { namespace: "", name: namespace }, {}, world.signal);
    await pools.restore();
  });

  it("is the one of a new workspace", async () => {
    const metadata = { name: NEW, labels: { [LABEL]: "internal" } };
    await world.kube.apply(TYPES.namespace, { apiVersion: "v1", kind: "Namespace", metadata }, { fieldManager: "platform" }, world.signal);
    await world.git.commit(NEW, { "app/config.yaml": configMapFile("app", { push: "0" }) });
    const workspace = await openWorkspace(world, NEW);
    opened.push(workspace);
    await workspace.apply("app", { repository: NEW, path: "app" });
    await workspace.settled("app");
    expect(await workspaceOf(NEW)).toMatchObject({ trustClass: "internal", units: [{ class: CLASS, instance: "trusted-1" }] });
  });

  it("is not the user's to choose: whoever only writes the namespace is refused, and labels of other names and places mean nothing", async () => {
    movable = await openMovable(world, MOVED, NAMES);
    opened.push(movable.workspace);
    usual = (await unitOf(MOVED))?.class ?? "";
    const refusal = await refusalOf(user.label(MOVED, { [LABEL]: "internal" }));
    expect(refusal.message).toContain("needs the verb assign on classes of argosy.dev");
    await user.label(MOVED, { trust: "internal", "argosy.dev/trust": "internal" });
    await world.kube.mergePatch(
      TYPES.deployment,
      { namespace: MOVED, name: "one" },
      { metadata: { labels: { [LABEL]: "internal" } } },
      world.signal,
    );
    await movable.push("one", "after labels of its own");
    await movable.arrived("one", "after labels of its own");
    expect(await unitOf(MOVED)).toMatchObject({ class: usual, wantedClass: null });
    expect(usual).not.toBe(CLASS);
  });

  it("is where a workspace is handed over to while its user pushes: nothing is deleted or synced twice, and never two may write", async () => {
    const uids = await movable.uids();
    const seenByUser = await watchUser(world, MOVED);
    const syncs = await watchSyncs(world, movable.unitId);
    const writers: number[] = [];
    let pushes = 0;
    const watching = [
      again(PROBE_EVERY_MS, async () => void writers.push(await movable.writers())),
      again(PUSH_EVERY_MS, async () => {
        pushes += 1;
        await movable.push(NAMES[pushes % NAMES.length] ?? "one", String(pushes));
      }),
    ];
    const since = performance.now();
    let move: MoveView | undefined;
    try {
      await label(MOVED, { [LABEL]: "internal" });
      move = await handedOver(CLASS);
    } finally {
      for (const each of watching) await each.end();
    }
    report(`a label had a workspace handed over in ${inSeconds(performance.now() - since)}, its gap was ${move?.gapMs} ms`);
    report(`${pushes} pushes came meanwhile`);
    expect(move).toMatchObject({ phase: "DONE", workspace: MOVED, to: "trusted-1", actor: "scheduler" });
    report(`writers seen: ${[...new Set(writers)].join(", ")} in ${writers.length} probes`);
    expectOneWriter(writers);
    expect(await movable.uids()).toEqual(uids);
    expect(uids).not.toContain(undefined);
    for (const name of NAMES) await movable.push(name, "last");
    for (const name of NAMES) await movable.arrived(name, "last");
    expect(secondSyncs(syncs.seen())).toEqual([]);
    expect(seenByUser.odd()).toEqual([]);
    expect(seenByUser.gone()).toEqual([]);
    await syncs.close();
    await seenByUser.close();
    expect(await workspaceOf(MOVED)).toMatchObject({ trustClass: "internal", units: [{ wantedClass: null, instance: trusted.name }] });
    const { out } = await argosy(world, "explain", MOVED);
    expect(out.replaceAll(/\s+/g, " ")).toContain(`labels of the namespace ask for class ${CLASS}`);
  });

  it("is reported by the watchdog where one of it works beside those of another class", async () => {
    const application = await findApplication(world, MOVED, "one");
    if (application === undefined) throw new Error("its Application was there a moment ago");
    const { spec } = application as KubeObject & { readonly spec: unknown };
    const metadata = { name: application.metadata.name, namespace: "argosy-standard-1" };
    const planted = { apiVersion: application.apiVersion, kind: application.kind, metadata, spec };
    await world.kube.create(TYPES.application, planted as unknown as KubeObject, world.signal);
    const key = `OTHER_CLASS ${movable.unitId} ${metadata.name}`;
    const said = async () => {
      const { items } = await world.rest.get<{ readonly items: readonly DecisionView[] }>("/v1/decisions", { kind: "ownership" });
      const entries = items.map(({ verdict, details }) => ({ verdict, key: String(details["key"]) }));
      return {
        newest: entries.find((each) => each.key === key)?.verdict,
        entries,
        checks: await sumOf(world, "argosy_watchdog_checks_total"),
      };
    };
    const says = (verdict: string) => until(`the watchdog say ${verdict}`, said, ({ newest }) => newest === verdict, MOVE_TIMEOUT_MS);
    await says("OTHER_CLASS");
    await world.kube.delete(TYPES.application, metadata, {}, world.signal);
    await says("CLEARED");
  });

  it("stays when the label goes: nothing moves that no rule asks for", async () => {
    await label(MOVED, { [LABEL]: null });
    await movable.push("one", "without the label");
    await movable.arrived("one", "without the label");
    expect(await unitOf(MOVED)).toMatchObject({ class: CLASS, wantedClass: null, instance: "trusted-1" });
  });

  it("is changed by an order too, where another trust takes an approver, and is explained", async () => {
    const uids = await movable.uids();
    const order = ["assign", MOVED, "--class", usual, "--reason", "it left the inside"];
    expect(await argosy(world, ...order)).toMatchObject({ code: 1, err: expect.stringContaining("this needs approver") });
    const approver = createRestClient({ url: world.harness.argosyUrls[0] ?? "", token: world.harness.approverToken });
    await approver.put(`/v1/workspaces/${MOVED}/class`, { class: usual, reason: "it left the inside" });
    await handedOver(usual);
    expect(await movable.uids()).toEqual(uids);
    for (const name of NAMES) await movable.push(name, "back");
    for (const name of NAMES) await movable.arrived(name, "back");
    expect((await workspaceOf(MOVED))?.trustClass).toBe("public");
    const { out } = await argosy(world, "explain", MOVED);
    expect(out.replaceAll(/\s+/g, " ")).toContain(`assigned to class ${usual}, said`);
  });
});
