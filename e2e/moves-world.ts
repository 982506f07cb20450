import { expect } from "vitest";
import type { MoveView } from "../src/api/routes/moves.ts";
import type { InstanceView, WorkspaceView } from "../src/api/schema.ts";
import type { InstanceId, UnitId } from "../src/domain/ids.ts";
import { ACCOUNTS_NAMESPACE } from "../src/domain/names.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import type { ObjectAt } from "../src/shard/managed-object.ts";
import { accountName } from "../src/shard/names.ts";
import { bindingOf } from "./binding.ts";
import { configMapFile, openWorkspace, TYPES, until, type Workspace, type World } from "./world.ts";

/** Timeout of a move. On an idle machine it takes seconds. */
export const MOVE_TIMEOUT_MS = 5 * 60_000;

/** A workspace that stories move from one instance to another, and what can be observed of it meanwhile. */
export interface Movable {
  readonly workspace: Workspace;
  readonly unitId: UnitId;
  readonly instances: readonly InstanceView[];
  /** The accounts that deploy it: one for each instance, in the same order. */
  readonly accounts: readonly string[];
  /** Name of the instance that holds it. */
  owner(): Promise<string>;
  /** Name of another instance of the same class. */
  other(): Promise<string>;
  /** Uids of the objects of its deployments, in the order of the deployments. */
  uids(): Promise<readonly unknown[]>;
  /** Changes what each deployment deploys, and requests a refresh. */
  push(name: string, text: string): Promise<void>;
  /** Waits until what was pushed is in the namespace. */
  arrived(name: string, text: string): Promise<void>;
  /** How many of the accounts may write now, by the authorizer. */
  writers(): Promise<number>;
}

/** Creates a workspace with these deployments, each of a ConfigMap of its name. Repository and namespace have the same name. */
export async function openMovable(world: World, namespace: string, names: readonly string[]): Promise<Movable> {
  const { kube, rest, git, signal } = world;
  const workspace = await openWorkspace(world, namespace);
  await git.commit(namespace, Object.fromEntries(names.map((name) => [`${name}/config.yaml`, configMapFile(name, { push: "0" })])));
  for (const name of names) await workspace.apply(name, { repository: namespace, path: name });
  for (const name of names) await workspace.settled(name);
  const instances = await rest.all<InstanceView>("/v1/instances");
  const unitOf = async () => {
    const found = (await rest.all<WorkspaceView>("/v1/workspaces")).find((each) => each.namespace === namespace);
    const [unit] = found?.units ?? [];
    if (unit === undefined) throw new Error(`${namespace} has no unit`);
    return unit;
  };
  const unitId = (await unitOf()).id as UnitId;
  const accounts = instances.map(({ id }) => accountName(unitId, id as InstanceId));
  const owner = async (): Promise<string> => (await unitOf()).instance ?? "";
  return {
    ...{ workspace, unitId, instances, accounts, owner },
    async other() {
      const name = await owner();
      const from = instances.find((each) => each.name === name);
      const found = instances.find((each) => each.name !== name && each.state === "ACTIVE" && each.class === from?.class);
      if (found === undefined) throw new Error(`no other instance of class ${from?.class} was there when ${namespace} was made`);
      return found.name;
    },
    async uids() {
      const { items } = await kube.listPage<KubeObject>(TYPES.configMap, { namespace }, signal);
      return names.map((name) => items.find(({ metadata }) => metadata.name === name)?.metadata.uid);
    },
    async push(name, text) {
      await git.commit(namespace, { [`${name}/config.yaml`]: configMapFile(name, { push: text }) });
      await workspace.annotate(name, { "argosy.dev/refreshed-at": text });
    },
    async arrived(name, text) {
      await until(
        `${namespace}/${name} at the last push`,
        () => workspace.configMap(name),
        (found) => found?.data?.["push"] === text,
      );
    },
    async writers() {
      const ask = () => Promise.all(accounts.map((account) => mayWrite(world, namespace, account)));
      const once = await ask();
      const count = once.filter(Boolean).length;
      // Answers do not come at one moment, and on a busy machine seconds apart: the old owner may have been asked before the new one had the right.
      // Who may write before and after another was seen to may write together with that one.
      if (count <= 1) return count;
      const again = await ask();
      return once.filter((may, index) => may && again[index] === true).length;
    },
  };
}

/** Whether an account may write in a namespace of a cluster, by its authorizer. */
export async function mayWrite({ kube, signal }: Pick<World, "kube" | "signal">, namespace: string, account: string): Promise<boolean> {
  const resourceAttributes = { namespace, verb: "create", group: "", version: "v1", resource: "configmaps" };
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

/** Requests a move to the instance of this name. It goes on by itself. */
export const askForMove = ({ rest }: World, { workspace }: Movable, to: string): Promise<MoveView> =>
  rest.post<MoveView>("/v1/moves", { workspace: workspace.namespace, to });

/**
 * Requests a move that stays in REVOKE for as long as this binding exists: by it the source may write beside its
 * owner binding. Resolves once the move is in REVOKE.
 */
export async function holdInRevoke(world: World, movable: Movable, bypass: ObjectAt): Promise<MoveView> {
  const owner = await movable.owner();
  const account = movable.accounts[movable.instances.findIndex(({ name }) => name === owner)] ?? "";
  await world.kube.create(TYPES.roleBinding, bindingOf(bypass, "edit", { namespace: ACCOUNTS_NAMESPACE, name: account }), world.signal);
  const { id } = await askForMove(world, movable, await movable.other());
  return until(
    "the move in REVOKE",
    () => world.rest.get<MoveView>(`/v1/moves/${id}`),
    ({ phase }) => phase === "REVOKE",
    MOVE_TIMEOUT_MS,
  );
}

/** Waits for the end of a move. */
export const moveEnded = ({ rest }: World, { id, to }: Pick<MoveView, "id" | "to">): Promise<MoveView> =>
  until(
    `the move to ${to} ended`,
    () => rest.get<MoveView>(`/v1/moves/${id}`),
    ({ endedAt }) => endedAt !== null,
    MOVE_TIMEOUT_MS,
  );

/** Checks the counts of accounts that may write at once: one or none, and both were observed, so the probes work. */
export function expectOneWriter(counted: readonly number[]): void {
  expect(counted.filter((count) => count > 1)).toEqual([]);
  expect(new Set(counted)).toEqual(new Set([0, 1]));
}
