import { expect, it, vi } from "vitest";
import type { Partition } from "../domain/partition.ts";
import type { ObjectChange, ObservedObject } from "../shard/managed-object.ts";
import type { ApiCluster } from "./port.ts";
import { followApiCluster } from "./watch-clusters.ts";

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
