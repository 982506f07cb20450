import { beforeEach, describe, expect, test } from "vitest";
import { GoneError, StaleError } from "../../domain/errors.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { parseEntry } from "../../shard/entry-token.ts";
import type { Manifest, ObjectAt, ObservedObject } from "../../shard/managed-object.ts";
import { workspaceEntryName, workspaceReaderName } from "../../shard/names.ts";
import { parseBinding } from "../../shard/parse-rights.ts";
import { anApplicationPlacement, DESTINATION, NAMESPACES } from "../../shard/testing/builders.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createObjectWriter } from "../apply-object.ts";
import type { PlacedUnit } from "../find-hosts.ts";
import { createEntryTokens } from "../instances/keep-entry-token.ts";
import type { ManagedObjects } from "../port.ts";
import { createWorkspaceEntries } from "./apply-workspace-entry.ts";

const { signal } = new AbortController();
const HOUR_MS = 3_600_000;

/** What was made and deleted, in the order in which it was. */
let done: string[];
let namespaceUid: string;
beforeEach(() => {
  done = [];
  namespaceUid = "ns-uid";
});

/** Objects of one kind in memory. Nothing here is changed: what differs is made anew. */
function inMemory<T extends ObservedObject>(parse: (raw: unknown) => T | undefined): ManagedObjects<T> {
  const kept = new Map<string, T>();
  const keyOf = ({ namespace, name }: ObjectAt) => `${namespace}/${name}`;
  return {
    get: (at) => kept.get(keyOf(at)),
    list: (namespace) => [...kept.values()].filter(({ at }) => namespace === undefined || at.namespace === namespace),
    read: async (at) => kept.get(keyOf(at)),
    async create(manifest: Manifest) {
      const { namespace = "", name } = manifest.metadata;
      const made = parse({ ...manifest, metadata: { ...manifest.metadata, uid: `uid-${name}`, resourceVersion: "1" } });
      if (made === undefined) throw new GoneError("creating", { code: "test.unparsed" });
      kept.set(keyOf({ namespace, name }), made);
      done.push(`make ${name}`);
      return made;
    },
    patch: async (at) => {
      done.push(`change ${at.name}`);
      return kept.get(keyOf(at)) as T;
    },
    async delete(at) {
      kept.delete(keyOf(at));
      done.push(`delete ${at.name}`);
    },
    subscribe: () => () => undefined,
  };
}

function open(entries: "shared" | "per-workspace" = "per-workspace") {
  const placement = anApplicationPlacement();
  const instance = { ...placement.instance, name: "one", entries };
  const [bindings, engineEntries] = [inMemory(parseBinding), inMemory(parseEntry)];
  const clock = createVirtualClock();
  const common = { clock, log: silentLog, metrics: noMetrics };
  const writer = createObjectWriter(common);
  const engine = { cluster: "engine", entries: engineEntries, applications: { list: () => [] } };
  const host = { instance, engine } as unknown as PlacedUnit["host"];
  const row = { unit: placement.unit, workspace: placement.workspace } as unknown as PlacedUnit["row"];
  const acting = new Set([placement.unit.id]);
  const tokens = {
    issue: async () => ({ token: "a-token", madeAt: clock.now(), endsAt: (clock.now() + 12 * HOUR_MS) as ReturnType<typeof clock.now> }),
    removeEndless: async () => undefined,
  };
  const entryTokens = createEntryTokens({
    ...common,
    apiCluster: { tokens, accounts: { get: () => ({ uid: "account-uid" }) } as never },
    hosts: { mine: () => [] },
    readerKinds: { refreshAt: () => undefined },
    ...{
      writer,
      destination: DESTINATION,
      namespaces: NAMESPACES,
      tokenLife: { lifeMs: 12 * HOUR_MS, renewAfterMs: 8 * HOUR_MS },
      formerStaysMs: 0,
    },
    rng: { next: () => 0 },
  });
  const workspaceEntries = createWorkspaceEntries({
    shards: { listActing: async () => [...acting] },
    apiCluster: { bindings, readNamespaceUid: async () => namespaceUid },
    ...{ entryTokens, writer, destination: DESTINATION, namespaces: NAMESPACES },
  });
  const account = { at: { namespace: "argosy-accounts", name: "u-1" }, uid: "account-uid" } as ObservedObject;
  const names = { entry: workspaceEntryName(placement.unit.id), reader: workspaceReaderName(placement.unit.id, instance.id) };
  return { ...workspaceEntries, placed: { row, host }, host, row, account, acting, names, entryTokens, clock };
}

describe("a workspace's own entry", () => {
  test("is written after the right to read: what may not be listed when a cache is filled is left out of it", async () => {
    const { apply, placed, account, names } = open();
    expect(await apply(placed, { account, isUnneeded: false }, signal)).toEqual([]);
    expect(done).toEqual([`make ${names.reader}`, `make ${names.entry}`]);
    expect(await apply(placed, { account, isUnneeded: false }, signal)).toEqual([]);
    expect(done).toHaveLength(2);
  });

  test("is nothing that an instance with a shared entry has", async () => {
    const { apply, removeEntry, placed, account } = open("shared");
    expect(await apply(placed, { account, isUnneeded: false }, signal)).toEqual([]);
    expect(await removeEntry(placed, signal)).toEqual([]);
    expect(done).toEqual([]);
  });

  test("waits for the account, and goes where nothing is deployed by it any more", async () => {
    const { apply, placed, account, names } = open();
    await apply(placed, { account: undefined, isUnneeded: false }, signal);
    expect(done).toEqual([`make ${names.reader}`]);
    await apply(placed, { account, isUnneeded: false }, signal);
    await apply(placed, { account, isUnneeded: true }, signal);
    expect(done.slice(1)).toEqual([`make ${names.entry}`, `delete ${names.entry}`]);
  });

  test("has no right in a namespace that is another one by now, nor in one that is gone", async () => {
    const { apply, placed, row, host, account } = open();
    namespaceUid = "another";
    await expect(apply(placed, { account, isUnneeded: false }, signal)).rejects.toThrow(StaleError);
    const gone = { row: { ...row, workspace: { ...row.workspace, state: "deleting" as const } }, host };
    await apply(gone, { account, isUnneeded: true }, signal);
    expect(done).toEqual([]);
  });

  test("is due when its token is to be replaced, and not before", async () => {
    const { apply, placed, host, account, row, entryTokens, clock } = open();
    await apply(placed, { account, isUnneeded: false }, signal);
    expect(entryTokens.listDue(host)).toEqual([]);
    await clock.advance(9 * HOUR_MS);
    expect(entryTokens.listDue(host)).toEqual([row.unit.id]);
  });
});

test("a right to read is taken once its instance has nothing to do with the unit, by rows that were read after it was seen", async () => {
  const { apply, removeLeftReaders, placed, host, account, acting, names } = open();
  await apply(placed, { account, isUnneeded: false }, signal);
  done = [];
  await removeLeftReaders(host, signal);
  expect(done).toEqual([]);
  acting.clear();
  await removeLeftReaders(host, signal);
  expect(done).toEqual([`delete ${names.reader}`]);
});
