import { expect, it } from "vitest";
import { percentile } from "../bench/statistics.ts";
import type { MoveView } from "../src/api/routes/moves.ts";
import type { InstanceView, WorkspaceView } from "../src/api/schema.ts";
import type { InstanceId, UnitId } from "../src/domain/ids.ts";
import { ACCOUNTS_NAMESPACE } from "../src/domain/names.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { accountName } from "../src/shard/names.ts";
import { again } from "./again.ts";
import {
  configMapFile,
  type DeploymentResource,
  IS_LONG,
  openWorkspace,
  openWorld,
  report,
  TYPES,
  until,
  type Workspace,
  type World,
} from "./world.ts";

const NAMES = ["one", "two", "three", "four", "five"];
const NAMESPACE = "moves-team";
const MOVES = IS_LONG ? 50 : 10;
const PROBE_EVERY_MS = 100;
const LOOK_EVERY_MS = 250;
const PUSH_EVERY_MS = 1_000;
/** On a machine of its own ten moves take a minute and a half; a shared one may take ten times as long. */
const DEADLINE_MS = 20 * 60_000;
const MOVE_PATIENCE_MS = 5 * 60_000;

/** Whether an account may write in the namespace, as the API server's authoriser has it. */
async function mayWrite({ kube, signal }: World, account: string): Promise<boolean> {
  const resourceAttributes = { namespace: NAMESPACE, verb: "create", group: "", version: "v1", resource: "configmaps" };
  const { status } = await kube.request<{ readonly status: { readonly allowed: boolean } }>(
    {
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      body: { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes } },
      headers: { "impersonate-user": `system:serviceaccount:${ACCOUNTS_NAMESPACE}:${account}` },
    },
    signal,
  );
  return status.allowed;
}

async function deploy(world: World): Promise<Workspace> {
  const workspace = await openWorkspace(world, NAMESPACE);
  await world.git.commit("moves", Object.fromEntries(NAMES.map((name) => [`${name}/config.yaml`, configMapFile(name, { push: "0" })])));
  for (const name of NAMES) await workspace.apply(name, { repository: "moves", path: name });
  for (const name of NAMES) await workspace.settled(name);
  return workspace;
}

async function moveTo({ rest }: World, to: string): Promise<MoveView> {
  const asked = await rest.post<MoveView>("/v1/moves", { workspace: NAMESPACE, to });
  return until(
    `the move to ${to} ended`,
    () => rest.get<MoveView>(`/v1/moves/${asked.id}`),
    ({ endedAt }) => endedAt !== null,
    MOVE_PATIENCE_MS,
  );
}

it(
  "hands a workspace over again and again under pushes: never two owners, nothing deleted, nobody sees it (I1, I2, I3, P1)",
  async () => {
    const world = openWorld();
    const workspace = await deploy(world);
    const instances = await world.rest.all<InstanceView>("/v1/instances");
    const { units } = (await world.rest.all<WorkspaceView>("/v1/workspaces")).find(({ namespace }) => namespace === NAMESPACE) ?? {
      units: [],
    };
    const [unit] = units;
    const accounts = instances.map(({ id }) => accountName((unit?.id ?? "") as UnitId, id as InstanceId));
    const uidsOf = async (): Promise<readonly unknown[]> => {
      const { items } = await world.kube.listPage<KubeObject>(TYPES.configMap, { namespace: NAMESPACE }, world.signal);
      return NAMES.map((name) => items.find(({ metadata }) => metadata.name === name)?.metadata.uid);
    };
    const uids = await uidsOf();
    expect(uids).not.toContain(undefined);

    const owners: number[] = [];
    const seen = new Set<string>();
    let pushes = 0;
    const watching = [
      again(PROBE_EVERY_MS, async () => {
        const answers = await Promise.all(accounts.map((account) => mayWrite(world, account)));
        owners.push(answers.filter(Boolean).length);
      }),
      again(LOOK_EVERY_MS, async () => {
        const { items } = await world.kube.listPage<DeploymentResource>(TYPES.deployment, { namespace: NAMESPACE }, world.signal);
        for (const { status } of items) {
          seen.add(`sync ${status?.sync?.status}`);
          seen.add(`health ${status?.health?.status}`);
        }
      }),
      again(PUSH_EVERY_MS, async () => expect(await uidsOf()).toEqual(uids)),
      again(PUSH_EVERY_MS, async () => {
        pushes += 1;
        const name = NAMES[pushes % NAMES.length] ?? "one";
        await world.git.commit("moves", { [`${name}/config.yaml`]: configMapFile(name, { push: String(pushes) }) });
        await workspace.annotate(name, { "argosy.dev/refreshed-at": String(pushes) });
      }),
    ];
    const moves: MoveView[] = [];
    try {
      let owner = unit?.instance;
      for (let count = 0; count < MOVES; count += 1) {
        const to = instances.find(({ name }) => name !== owner)?.name ?? "";
        const move = await moveTo(world, to);
        moves.push(move);
        report(`move ${count + 1}: ${move.phase}, gap ${move.gapMs} ms, whole ${move.tookMs} ms`);
        owner = to;
      }
    } finally {
      for (const each of watching) await each.end();
    }

    expect(moves.map(({ phase, message }) => [phase, message])).toEqual(moves.map(() => ["DONE", ""]));
    expect(owners.length).toBeGreaterThan(MOVES);
    expect(owners.filter((count) => count > 1)).toEqual([]);
    // The probes can tell: they see an owner, and during gaps none.
    expect(new Set(owners)).toEqual(new Set([0, 1]));
    expect(seen).toContain("sync Synced");
    expect(await uidsOf()).toEqual(uids);
    for (const wrong of ["sync Unknown", "health Unknown", "health Missing", "sync undefined", "health undefined"])
      expect(seen).not.toContain(wrong);
    // What was pushed last is what stands: the last owner works.
    for (const name of NAMES) await world.git.commit("moves", { [`${name}/config.yaml`]: configMapFile(name, { push: "last" }) });
    for (const name of NAMES) await workspace.annotate(name, { "argosy.dev/refreshed-at": "last" });
    for (const name of NAMES)
      await until(
        `${name} at the last push`,
        () => workspace.configMap(name),
        (found) => found?.data?.["push"] === "last",
      );
    const [gaps, whole] = [moves.map(({ gapMs }) => gapMs ?? 0), moves.map(({ tookMs }) => tookMs ?? 0)];
    const figures = `gap p50 ${percentile(gaps, 0.5)} ms, p99 ${percentile(gaps, 0.99)} ms; whole move p50 ${percentile(whole, 0.5)} ms`;
    report(`${moves.length} moves of five applications, ${pushes} pushes, ${owners.length} probes: ${figures}`);
  },
  DEADLINE_MS,
);
