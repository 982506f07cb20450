import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { InstanceId } from "../../domain/ids.ts";
import { READER_ROLE } from "../../domain/names.ts";
import type { KubeObject } from "../../runtime/kube/resource.ts";
import { type FakeApiServer, startFakeApiServer } from "../../runtime/kube/testing/fake-api-server.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import type { PolicyRule } from "../../shard/deployer-rules.ts";
import { silentLog } from "../../telemetry/log.ts";
import { createReaderRole } from "../adapters/kubernetes/deployer-role.ts";
import { CLUSTER_ROLES } from "../adapters/kubernetes/types.ts";
import { createReaderKinds } from "./keep-reader-role.ts";

const never = new AbortController().signal;
const AT = { namespace: "", name: READER_ROLE };
const INSTANCES = Array.from({ length: 50 }, (_, index) => `instance-${index}` as InstanceId);
const declared = { present: [], declared: { allowedGroups: ["*"], refusedGroups: [] } };
const discovery = (...names: readonly string[]) => ({
  resources: names.map((name) => ({ group: "example.org", name, namespaced: true, verbs: ["create"] })),
  silentGroups: [],
});
const namesIn = (rules: readonly PolicyRule[]) => rules.flatMap(({ resources }) => resources);

let server: FakeApiServer;
beforeEach(async () => {
  server = await startFakeApiServer();
});
afterEach(() => server.close());

const install = (rules?: readonly object[]) => {
  const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: READER_ROLE } };
  return server.client().create(CLUSTER_ROLES, { ...role, ...(rules === undefined ? {} : { rules }) } as KubeObject, never);
};
const member = () => {
  const clock = createVirtualClock();
  return { clock, kinds: createReaderKinds({ reader: createReaderRole(server.client()), clock, log: silentLog }) };
};
const written = () => server.client().get<KubeObject & { readonly rules?: readonly PolicyRule[] }>(CLUSTER_ROLES, AT, never);

describe("the role that instances read by, in the cluster", () => {
  test("is filled at the first turn, which nothing waits for, and written again only when kinds change", async () => {
    await install();
    const { kinds } = member();
    expect(await kinds.isFilled(never)).toBe(false);
    expect(await kinds.keep(discovery("things"), declared, never)).toEqual([]);
    expect(await kinds.isFilled(never)).toBe(true);
    const first = await written();
    expect(namesIn(first?.rules ?? [])).toContain("things");
    await kinds.keep(discovery("things"), declared, never);
    expect((await written())?.metadata.resourceVersion).toBe(first?.metadata.resourceVersion);
  });

  test("lets a new kind be deployed only after every instance was asked to read the cluster anew, one after the other", async () => {
    await install();
    const one = member();
    await one.kinds.keep(discovery("things"), declared, never);
    await one.clock.advance(300_000);
    expect(await one.kinds.keep(discovery("things"), declared, never)).toEqual([]);
    const before = one.kinds.refreshAt(INSTANCES[0] as InstanceId, { isThere: true });
    await one.clock.advance(5_000);
    expect(namesIn(await one.kinds.keep(discovery("things", "others"), declared, never))).toContain("others");
    const asked = () => INSTANCES.filter((id) => one.kinds.refreshAt(id, { isThere: true }) !== undefined).length;
    expect(asked()).toBeLessThan(10);
    expect(one.kinds.refreshAt("new" as InstanceId, { isThere: false })).toBeDefined();
    await one.clock.advance(30_000);
    expect(asked()).toBeGreaterThan(10);
    expect(asked()).toBeLessThan(40);
    await one.clock.advance(30_000);
    expect(asked()).toBe(INSTANCES.length);
    expect(one.kinds.refreshAt(INSTANCES[0] as InstanceId, { isThere: true })).not.toBe(before);
    expect(namesIn(await one.kinds.keep(discovery("things", "others"), declared, never))).toContain("others");
    await one.clock.advance(60_000);
    expect(await one.kinds.keep(discovery("things", "others"), declared, never)).toEqual([]);
  });

  test("is known by another member, which asks its own instances", async () => {
    await install();
    const [one, other] = [member(), member()];
    await one.kinds.keep(discovery("things"), declared, never);
    expect(await other.kinds.isFilled(never)).toBe(true);
    await other.kinds.keep(discovery("things"), declared, never);
    await other.clock.advance(60_000);
    const id = INSTANCES[0] as InstanceId;
    expect(other.kinds.refreshAt(id, { isThere: true })).toBe(one.kinds.refreshAt(id, { isThere: false }));
  });

  test("lets nothing new be deployed while it may not be written, and says so", async () => {
    await install([{ apiGroups: ["example.org"], resources: ["things"], verbs: ["get"] }]);
    server.faults.fail({ method: "PATCH", path: /clusterroles/, status: 403 });
    expect(namesIn(await member().kinds.keep(discovery("things", "others"), declared, never))).toContain("others");
    expect(namesIn((await written())?.rules ?? [])).toEqual(["things"]);
  });

  test("says nothing to instances where it is missing", async () => {
    const { kinds } = member();
    expect(await kinds.keep(discovery("things"), declared, never)).toEqual([]);
    expect(await kinds.isFilled(never)).toBe(false);
    expect(kinds.refreshAt(INSTANCES[0] as InstanceId, { isThere: false })).toBeUndefined();
  });
});
