import { describe, expect, it } from "vitest";
import type { AdoptionOutcome } from "../src/adoption/carry-out-adoption.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { answerOf, argosy } from "./command-line.ts";
import { type HandMadeArgo, installHandMadeArgo } from "./hand-made-argo.ts";
import { inSeconds } from "./in-seconds.ts";
import {
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

const REPOSITORY = "adopted";
const NAMES = Array.from({ length: 10 }, (_, index) => `adopted-${index}`);
const ARGO = "argoproj.io/v1alpha1";

interface SeenApplication extends KubeObject {
  readonly status?: {
    readonly sync?: { readonly status?: string };
    readonly operationState?: { readonly finishedAt?: string };
    readonly history?: readonly object[];
  };
}

const read = (world: World, { namespace }: HandMadeArgo, name: string) =>
  world.kube.get<SeenApplication>(TYPES.application, { namespace, name }, world.signal);

/** Ten Applications of one Argo CD, each in its own namespace, all Synced. */
async function deployByHand(world: World, argo: HandMadeArgo): Promise<readonly Workspace[]> {
  const files = Object.fromEntries(NAMES.map((name) => [`${name}/config.yaml`, configMapFile("config", { name })]));
  await world.git.commit(REPOSITORY, files);
  const workspaces = await Promise.all(NAMES.map((name) => openWorkspace(world, name)));
  for (const name of NAMES)
    await argo.apply(TYPES.application, {
      ...{ apiVersion: ARGO, kind: "Application", metadata: { namespace: argo.namespace, name } },
      spec: {
        project: "default",
        source: { repoURL: world.git.url(REPOSITORY), path: name, targetRevision: "main" },
        destination: { server: argo.server, namespace: name },
        syncPolicy: { automated: { prune: true, selfHeal: true } },
      },
    });
  for (const name of NAMES) await synced(world, argo, name);
  return workspaces;
}

/** Synced, with nothing under way. */
const synced = (world: World, argo: HandMadeArgo, name: string) =>
  until(
    `${argo.namespace}/${name} Synced`,
    () => read(world, argo, name),
    (seen) =>
      seen?.status?.sync?.status === "Synced" && (!seen.status.operationState || seen.status.operationState.finishedAt !== undefined),
  );

/** What shows any write to any deployed object. */
const deployed = (workspaces: readonly Workspace[]) =>
  Promise.all(
    workspaces.map(async (each) => {
      const { metadata } = (await each.configMap("config")) ?? {};
      return { namespace: each.namespace, uid: metadata?.uid, resourceVersion: metadata?.resourceVersion };
    }),
  );

/** Syncs that the Argo CD made by hand has ended, by Application. */
const syncsByHand = (world: World, argo: HandMadeArgo) =>
  Promise.all(
    NAMES.map(async (name) => {
      const { status } = (await read(world, argo, name)) ?? {};
      return [name, status?.history?.length, status?.operationState?.finishedAt];
    }),
  );

const adopt = (world: World, argo: HandMadeArgo, ...more: readonly string[]) =>
  answerOf<readonly AdoptionOutcome[]>(world, ["adopt", argo.namespace, "--kubeconfig", world.harness.adminKubeconfig, ...more]);

const all = (verdict: AdoptionOutcome["verdict"]) => NAMES.map((name) => [name, verdict]);
const verdicts = (outcomes: readonly AdoptionOutcome[]) => outcomes.map(({ name, verdict }) => [name, verdict]);

describe.runIf(IS_LONG)("an Argo CD that somebody installed by hand", () => {
  it("is adopted without a write to anything it deployed, and gets everything back from an export", async () => {
    const world = openWorld();
    const argo = await installHandMadeArgo(world, "handmade");
    try {
      const workspaces = await deployByHand(world, argo);
      const before = await deployed(workspaces);
      for (const { uid } of before) expect(uid).toBeDefined();
      const syncs = await syncsByHand(world, argo);

      expect(verdicts(await adopt(world, argo, "--dry-run"))).toEqual(all("adopted"));
      for (const workspace of workspaces) expect(await workspace.read(workspace.namespace)).toBeUndefined();
      const began = performance.now();
      expect(verdicts(await adopt(world, argo))).toEqual(all("adopted"));
      const tookMs = performance.now() - began;
      for (const workspace of workspaces) await workspace.settled(workspace.namespace);
      for (const name of NAMES) {
        const seen = (await findApplication(world, name, name)) as SeenApplication | undefined;
        expect(seen?.metadata.name).toBe(name);
        expect(seen?.metadata.namespace).not.toBe(argo.namespace);
        expect(seen?.status?.operationState).toBeUndefined();
      }
      expect(await deployed(workspaces)).toEqual(before);
      expect(verdicts(await adopt(world, argo))).toEqual(all("stands"));
      report(`adopted ${NAMES.length} Applications in ${inSeconds(tookMs)}; no sync, no write to what is deployed`);

      await changeOne(world, workspaces[0]);
      expect(await syncsByHand(world, argo)).toEqual(syncs);
      const changed = await deployed(workspaces);
      expect(changed.map(({ uid }) => uid)).toEqual(before.map(({ uid }) => uid));
      expect(changed.slice(1)).toEqual(before.slice(1));

      await leave(world, argo);
      for (const name of NAMES) expect((await synced(world, argo, name))?.status?.operationState).toBeUndefined();
      expect(await deployed(workspaces)).toEqual(changed);
      report(`${NAMES.length} plain Applications of an export are Synced; no sync, no write to what is deployed`);
    } finally {
      // First the one that would restore what the other's cascade deletes.
      await argo.remove();
      for (const name of NAMES) await world.kube.delete(TYPES.deployment, { namespace: name, name }, {}, world.signal);
    }
  });
});

/** A commit after the adoption reaches the user through the fleet. */
async function changeOne(world: World, workspace: Workspace | undefined): Promise<void> {
  const [name = ""] = NAMES;
  const revision = await world.git.commit(REPOSITORY, { [`${name}/config.yaml`]: configMapFile("config", { name, is: "changed" }) });
  await workspace?.annotate(name, { "argosy.dev/refreshed-at": revision });
  await workspace?.settled(name, revision);
  expect((await workspace?.configMap("config"))?.data).toEqual({ name, is: "changed" });
}

/** Gives everything back to the Argo CD made by hand, as an export prints it. */
async function leave(world: World, argo: HandMadeArgo): Promise<void> {
  for (const name of NAMES) await world.kube.delete(TYPES.application, { namespace: argo.namespace, name }, {}, world.signal);
  const { out } = await argosy(world, "export", ...NAMES, "--into", argo.namespace, "--server", argo.server, "-o", "json");
  for (const object of (JSON.parse(out) as { readonly items: readonly KubeObject[] }).items) {
    expect(object.metadata).toEqual({ name: object.metadata.name, namespace: argo.namespace });
    await argo.apply(object.kind === "AppProject" ? TYPES.project : TYPES.application, object);
  }
}
