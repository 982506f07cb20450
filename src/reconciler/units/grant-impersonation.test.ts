import { expect, it } from "vitest";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { Manifest, ObjectAt, ObjectChange, ObservedObject } from "../../shard/managed-object.ts";
import { accountName } from "../../shard/names.ts";
import { type ObservedRole, parseRole } from "../../shard/parse-rights.ts";
import { createImpersonation } from "./grant-impersonation.ts";

const INSTANCE = "i" as InstanceId;
const NAMESPACES = { accounts: "accounts" };
const { signal } = new AbortController();

/** One instance that holds units, its Role, and the accounts of its units. */
function anInstance(...held: readonly string[]) {
  let acting = held;
  let reads = 0;
  let versions = 0;
  let role: ObservedRole | undefined;
  let tell: (change: ObjectChange<ObservedObject>) => void = () => undefined;
  const standing = new Set(held);
  const accountAt = (unit: string): ObjectAt => ({ namespace: "accounts", name: accountName(unit as UnitId, INSTANCE) });
  const write = async (manifest: Manifest): Promise<ObservedRole> => {
    versions += 1;
    role = parseRole({ ...manifest, metadata: { ...manifest.metadata, uid: "role", resourceVersion: `${versions}` } });
    return role as ObservedRole;
  };
  const impersonation = createImpersonation({
    shards: {
      async listActing() {
        reads += 1;
        return acting as readonly UnitId[];
      },
    },
    apiCluster: {
      roles: {
        get: () => role,
        read: async () => role,
        create: write,
        patch: () => Promise.reject(new Error("it is made anew here")),
      } as never,
      accounts: {
        get: (at: ObjectAt) => ([...standing].some((unit) => accountAt(unit).name === at.name) ? {} : undefined),
        subscribe(listener: typeof tell) {
          tell = listener;
          return () => undefined;
        },
      } as never,
    },
    namespaces: NAMESPACES,
    signal,
  });
  return {
    align: async (): Promise<number> => {
      const before = reads;
      await impersonation.alignIfChanged(INSTANCE, signal);
      return reads - before;
    },
    /** The account of a unit goes. */
    lose(unit: string) {
      standing.delete(unit);
      tell({ kind: "delete", at: accountAt(unit), before: { labels: { "argosy.dev/instance": INSTANCE } } as unknown as ObservedObject });
    },
    leave(unit: string) {
      acting = acting.filter((each) => each !== unit);
    },
    /** Somebody else deletes the Role. */
    removeRole() {
      role = undefined;
    },
    named: () => [...(role?.resourceNames ?? [])],
  };
}

it("reads who may act on an instance once, and not again while its Role and its accounts stay", async () => {
  const { align, named } = anInstance("a", "b");
  expect(await align()).toBe(1);
  expect(named()).toEqual(["a", "b"].map((unit) => accountName(unit as UnitId, INSTANCE)));
  expect([await align(), await align()]).toEqual([0, 0]);
});

it("reads it again when the Role is another one", async () => {
  const { align, removeRole, named } = anInstance("a");
  await align();
  removeRole();
  expect([await align(), await align()]).toEqual([1, 0]);
  expect(named()).toHaveLength(1);
});

it("reads it again from the moment that an account goes until its unit has left, which may be later", async () => {
  const instance = anInstance("a", "b");
  await instance.align();
  instance.lose("b");
  instance.removeRole();
  expect([await instance.align(), await instance.align()]).toEqual([1, 1]);
  instance.leave("b");
  instance.removeRole();
  expect([await instance.align(), await instance.align()]).toEqual([1, 0]);
  expect(instance.named()).toEqual([accountName("a" as UnitId, INSTANCE)]);
});
