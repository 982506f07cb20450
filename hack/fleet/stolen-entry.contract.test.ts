import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { accountOfRole } from "../../src/cli/install/roles.ts";
import { RefusedError } from "../../src/domain/errors.ts";
import type { InstanceId, UnitId, WorkspaceId } from "../../src/domain/ids.ts";
import { ACCOUNTS_NAMESPACE, READER_ROLE, SYSTEM_NAMESPACE } from "../../src/domain/names.ts";
import { createAccountTokens } from "../../src/reconciler/adapters/kubernetes/account-tokens.ts";
import { createDeployerRole, createReaderRole } from "../../src/reconciler/adapters/kubernetes/deployer-role.ts";
import {
  CLUSTER_ROLE_BINDINGS,
  ROLE_BINDINGS,
  ENGINE_SECRETS as SECRETS,
  SERVICE_ACCOUNTS,
} from "../../src/reconciler/adapters/kubernetes/types.ts";
import { keepDeployerRole } from "../../src/reconciler/instances/keep-deployer-role.ts";
import { createReaderKinds } from "../../src/reconciler/instances/keep-reader-role.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import { NAMESPACES } from "../../src/runtime/kube/namespaces.ts";
import { type KubeObject, resourcePath } from "../../src/runtime/kube/resource.ts";
import { realApiServer } from "../../src/runtime/kube/testing/real-api-server.ts";
import { manifestOf } from "../../src/shard/managed-object.ts";
import { renderIdentity } from "../../src/shard/render-instance.ts";
import { renderReader, renderUnit } from "../../src/shard/render-unit.ts";
import { anApplicationPlacement } from "../../src/shard/testing/builders.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import { type InstalledCluster, startInstalledCluster } from "./testing/installed-cluster.ts";

const never = new AbortController().signal;
const accounts = { accounts: ACCOUNTS_NAMESPACE };
/** The entry whose token is stolen is the one for `team-a`; `team-b` is held by the same instance, `team-c` by another. */
const HELD = "team-a";
const OTHERS = ["team-b", "team-c"];
const PLACES = [HELD, ...OTHERS, ACCOUNTS_NAMESPACE, SYSTEM_NAMESPACE, "kube-system", "argosy-standard-1"];

const placementIn = (namespace: string, instance: string) => {
  const unit = {
    id: `unit-of-${namespace}` as UnitId,
    workspaceId: `workspace-${namespace}` as WorkspaceId,
    owner: instance as InstanceId,
  };
  const placement = anApplicationPlacement(unit);
  return {
    ...placement,
    instance: { ...placement.instance, id: instance as InstanceId, entries: "per-workspace" as const },
    workspace: { ...placement.workspace, id: unit.workspaceId, namespace },
  };
};
const STOLEN = placementIn(HELD, "instance-1");
/** It is no owner: a move has put a copy on its instance, or taken its right to write. */
const NO_OWNER = placementIn(HELD, "instance-2");
const PLACEMENTS = [STOLEN, placementIn("team-b", "instance-1"), placementIn("team-c", "instance-2")];

describe.runIf((await realApiServer()) !== undefined)("whoever has the token of a workspace's own cluster entry", () => {
  let cluster: InstalledCluster;
  let stolen: KubeClient;
  let noOwner: KubeClient;

  beforeAll(async () => {
    cluster = await startInstalledCluster(never);
    const { admin } = cluster;
    for (const name of [HELD, ...OTHERS, "argosy-standard-1"])
      await admin.apply(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } }, { fieldManager: "user" }, never);
    for (const namespace of PLACES)
      await admin.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "secret" } } as KubeObject, never);
    const reconciler = await cluster.as(accountOfRole("reconciler"));
    const readerKinds = createReaderKinds({ reader: createReaderRole(reconciler), clock: systemClock, log: silentLog });
    await keepDeployerRole(
      { deployer: createDeployerRole(reconciler), readerKinds, fleet: { readFleet: async () => undefined }, log: silentLog },
      never,
    );
    const around = {
      destination: { server: "https://a", caData: "" },
      namespaces: accounts,
      repoUrls: [],
      environmentRepoUrls: [],
      environments: [],
    };
    for (const placement of [...PLACEMENTS, NO_OWNER]) {
      const { account, ownerBinding } = renderUnit(placement, around);
      await reconciler.create(SERVICE_ACCOUNTS, manifestOf(account), never);
      await reconciler.create(ROLE_BINDINGS, manifestOf(renderReader(placement, accounts)), never);
      if (placement !== NO_OWNER) await reconciler.create(ROLE_BINDINGS, manifestOf(ownerBinding), never);
    }
    // With the rights of the reconciler, as an installation has them.
    const { token } = await createAccountTokens({ client: reconciler, clock: systemClock }).issue(
      renderUnit(STOLEN, around).account.at,
      600_000,
      never,
    );
    expect(token).not.toBe("");
    const open = (placement: typeof STOLEN) => cluster.as(renderUnit(placement, around).account.at.name, ACCOUNTS_NAMESPACE);
    [stolen, noOwner] = [await open(STOLEN), await open(NO_OWNER)];
    // The authoriser has heard of the last binding.
    await vi.waitFor(async () => expect(await statusOf(noOwner, HELD)).toBe(200), { timeout: 60_000 });
  });
  afterAll(() => cluster?.stop());

  const ask = async (client: KubeClient, path: string, method: "GET" | "POST" = "GET", body?: object): Promise<number> => {
    const query = method === "POST" ? { query: { dryRun: "All" } } : {};
    const answer = await client
      .request({ method, path, ...query, ...(body === undefined ? {} : { body }) }, never)
      .catch((error: unknown) => error);
    return answer instanceof RefusedError ? Number(answer.context["status"]) : answer instanceof Error ? 0 : 200;
  };
  const statusOf = (client: KubeClient, namespace: string) => ask(client, resourcePath(SECRETS, { namespace, name: "secret" }));
  const readableTo = async (client: KubeClient): Promise<readonly string[]> => {
    const statuses = await Promise.all(PLACES.map(async (namespace) => [namespace, await statusOf(client, namespace)] as const));
    expect(new Set(statuses.map(([, status]) => status)).size).toBeLessThanOrEqual(2);
    return statuses.filter(([, status]) => status === 200).map(([namespace]) => namespace);
  };
  const listing = (namespace?: string) => resourcePath(SECRETS, namespace === undefined ? {} : { namespace });
  const writing = (client: KubeClient, namespace: string) =>
    ask(client, listing(namespace), "POST", { apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "mine" } });

  it("reads Secrets of that workspace and of no other place", async () => {
    expect(await readableTo(stolen)).toEqual([HELD]);
    expect(await ask(stolen, listing(HELD))).toBe(200);
    for (const namespace of PLACES.slice(1)) expect(await ask(stolen, listing(namespace))).toBe(403);
    expect(await ask(stolen, listing())).toBe(403);
  });

  it("writes there as the owner only, and in no other place", async () => {
    expect(await writing(stolen, HELD)).toBe(200);
    expect(await writing(noOwner, HELD)).toBe(403);
    expect(await readableTo(noOwner)).toEqual([HELD]);
    for (const namespace of PLACES.slice(1)) expect(await writing(stolen, namespace)).toBe(403);
  });

  it("gets no other token, acts as nobody, and changes no right", async () => {
    const token = (namespace: string, name: string) =>
      ask(stolen, resourcePath(SERVICE_ACCOUNTS, { namespace, name, subresource: "token" }), "POST", {
        ...{ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
      });
    expect(await token(ACCOUNTS_NAMESPACE, "u-1")).toBe(403);
    expect(await token(HELD, "default")).toBe(403);
    const as = { headers: { "impersonate-user": `system:serviceaccount:${SYSTEM_NAMESPACE}:${accountOfRole("reconciler")}` } };
    const acted = await stolen.request({ method: "GET", path: listing(HELD), ...as }, never).catch((error: unknown) => error);
    expect(acted).toBeInstanceOf(RefusedError);
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: READER_ROLE };
    const metadata = { namespace: HELD, name: "mine" };
    const made = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", metadata, roleRef, subjects: [] };
    expect(await ask(stolen, resourcePath(ROLE_BINDINGS, { namespace: HELD }), "POST", made)).toBe(403);
  });

  // Last, for it takes away what is asked above: with the right of a shared entry these questions are answered otherwise.
  it("would read Secrets of every place by the right of an entry that workspaces share", async () => {
    const { reader } = renderIdentity(STOLEN.instance.id, accounts);
    const { subjects } = renderReader(STOLEN, accounts).content as { readonly subjects: unknown };
    await cluster.admin.create(CLUSTER_ROLE_BINDINGS, { ...manifestOf(reader), subjects } as KubeObject, never);
    await vi.waitFor(async () => expect(await readableTo(stolen)).toEqual(PLACES), { timeout: 60_000 });
  });
});
