import { describe, expect, it, vi } from "vitest";
import type { Instance, InstancePlace } from "../domain/instance.ts";
import type { Partition } from "../domain/partition.ts";
import type { ObjectChange, ObservedObject } from "../shard/managed-object.ts";
import { silentLog } from "../telemetry/log.ts";
import type { ApiCluster, EngineShard } from "./port.ts";
import { createShardWatch, followApiCluster } from "./watch-shards.ts";

/** The accounts of a cluster of which `tell` is the watch, and what they make a process ask for that has the instance `mine`. */
function follow() {
  let tell: (change: ObjectChange<ObservedObject>) => void = () => undefined;
  const accounts = {
    subscribe(listener: typeof tell) {
      tell = listener;
      return () => undefined;
    },
  };
  const silent = { subscribe: () => () => undefined };
  const parts = { accounts, bindings: silent, roles: silent, readers: silent, tokens: silent, isSynced: () => true };
  const requestUnit = vi.fn();
  const partition: Partition = { isMine: (id) => id === "mine", onChange: () => () => undefined };
  followApiCluster({ requests: { requestUnit, requestInstance: () => undefined } as never, partition }, parts as unknown as ApiCluster);
  return { tell, requestUnit };
}

it("leaves what belongs to an instance to whoever has that instance, and what belongs to none to everybody", () => {
  const { tell, requestUnit } = follow();
  const at = { namespace: "accounts", name: "u" };
  for (const [unit, instance] of [["a", "mine"], ["b", "others"], ["c"]] as const) {
    const labels = { "argosy.dev/unit": unit, ...(instance === undefined ? {} : { "argosy.dev/instance": instance }) };
    tell({ kind: "delete", at, before: { labels } as unknown as ObservedObject });
  }
  expect(requestUnit.mock.calls.map(([unit]) => unit)).toEqual(["a", "c"]);
});

describe("the watch of a process's instances", () => {
  const instanceAt = (id: string, state: Instance["state"] = "ACTIVE") =>
    ({ id, state, name: id, engineCluster: "eu-1", namespace: `argocd-${id}` }) as Instance;

  /** The content of one instance, with one Application; `listeners`: who follows what of it. */
  function content({ namespace }: Pick<Instance, "namespace">) {
    const listeners = new Set<unknown>();
    const objects = {
      list: () => [{ at: { namespace, name: "web" }, labels: {} }],
      subscribe(listener: unknown) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    };
    const kinds = { applications: objects, projects: objects, entries: objects, repositories: objects };
    const shard = {
      cluster: "eu-1",
      namespace,
      ...kinds,
      isSynced: () => true,
      synced: async () => undefined,
      onReturn: objects.subscribe,
    };
    return { shard: shard as unknown as EngineShard, listeners };
  }

  function open(instances: readonly Instance[]) {
    let ours: readonly Instance[] = instances;
    const contents = new Map(instances.map((instance) => [instance.namespace, content(instance)]));
    const asked: string[] = [];
    const retain = vi.fn();
    const forget = vi.fn();
    const revisit = vi.fn();
    const reviewStatus = vi.fn();
    const engines = {
      async get({ namespace }: InstancePlace) {
        asked.push(namespace);
        return contents.get(namespace)?.shard;
      },
      retain,
    };
    const hosts = {
      refresh: async () => undefined,
      mine: () => ours,
      filled: () => ours.filter(({ state }) => state === "ACTIVE"),
    };
    const requests = { reviewStatus, requestInstance: vi.fn() };
    const log = { ...silentLog, warn: vi.fn() };
    const requestLagging = vi.fn();
    const parts = {
      engines,
      apiCluster: { isSynced: () => true },
      sweep: { revisit, requestLagging },
      pacing: { forget },
      requests: requests as never,
      log,
    };
    const watch = createShardWatch({ ...parts, hosts, signal: new AbortController().signal });
    const observe = () => watch.observeFleet(new AbortController().signal);
    const followed = () => [...contents].filter(([, { listeners }]) => listeners.size > 0).map(([namespace]) => namespace);
    const have = (next: readonly Instance[]): void => {
      ours = next;
    };
    return { ...requests, watch, observe, followed, have, contents, asked, retain, forget, revisit, requestLagging, log };
  }

  it("follows what those hold, retains it, and leaves the content of one that is another's now", async () => {
    const [a, b] = [instanceAt("a"), instanceAt("b")];
    const { observe, followed, have, retain, forget, watch, requestInstance, requestLagging } = open([a, b]);
    await observe();
    expect(followed()).toEqual(["argocd-a", "argocd-b"]);
    expect(retain).toHaveBeenLastCalledWith([a, b]);
    expect(requestInstance.mock.calls.map(([id]) => id)).toEqual(["a", "b"]);
    have([b]);
    await observe();
    expect(followed()).toEqual(["argocd-b"]);
    expect(requestLagging.mock.calls.map(([ids]) => ids)).toEqual([["a", "b"], ["b"]]);
    expect([...watch.watched.keys()]).toEqual(["eu-1|argocd-b"]);
    expect(forget.mock.calls).toEqual([["a"]]);
    watch.stop();
    expect(followed()).toEqual([]);
  });

  it("does not watch an instance without content, and asks for its key nevertheless", async () => {
    const { observe, asked, requestInstance } = open([instanceAt("gone", "RETIRED")]);
    await observe();
    expect(asked).toEqual([]);
    expect(requestInstance.mock.calls).toEqual([["gone"]]);
  });

  it("follows content that is watched anew, and sweeps the instance: what changed between the two watches was reported to nobody", async () => {
    const a = instanceAt("a");
    const { observe, contents, revisit, forget, reviewStatus } = open([a]);
    await observe();
    await observe();
    expect(reviewStatus).toHaveBeenCalledTimes(1);
    const former = contents.get(a.namespace);
    contents.set(a.namespace, content(a));
    await observe();
    expect([former?.listeners.size, revisit.mock.calls, forget.mock.calls]).toEqual([0, [["a"]], [["a"]]]);
    expect(reviewStatus).toHaveBeenCalledTimes(2);
  });

  it("says once of a cluster that it cannot be reached, however many instances are left out, and rechecks the statuses of those concerned", async () => {
    const { observe, contents, log, watch, reviewStatus } = open([instanceAt("a"), instanceAt("b"), instanceAt("c")]);
    contents.delete("argocd-a");
    contents.delete("argocd-b");
    await observe();
    expect(log.warn.mock.calls.map(([about]) => about)).toEqual([{ cluster: "eu-1" }]);
    watch.recheckStatuses((id) => id === "a");
    expect(reviewStatus).toHaveBeenCalledTimes(1);
    watch.recheckStatuses((id) => id === "c");
    expect(reviewStatus).toHaveBeenCalledTimes(2);
  });
});
