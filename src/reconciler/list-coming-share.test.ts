import { expect, it } from "vitest";
import type { Instance, InstanceState } from "../domain/instance.ts";
import { abandonable } from "../runtime/kube/signals.ts";
import { listComingShare } from "./list-coming-share.ts";
import type { EngineShard } from "./port.ts";

/** Instances of two processes, of which `mine-…` are this one's. None is listed before `list` is called. */
function open(states: Readonly<Record<string, InstanceState>>) {
  const instances = Object.entries(states).map(([id, state]) => ({ id, state, namespace: id }) as unknown as Instance);
  const listed = Promise.withResolvers<void>();
  const watched: string[] = [];
  const get = async ({ namespace }: { readonly namespace: string }) => {
    if (namespace.endsWith("away")) throw new Error("its engine cluster cannot be found");
    watched.push(namespace);
    return namespace.endsWith("gone")
      ? undefined
      : ({ synced: (signal: AbortSignal) => abandonable(listed.promise, signal) } as EngineShard);
  };
  const { signal } = new AbortController();
  const listShare = (isServed: boolean): Promise<void> =>
    listComingShare(
      { isServed, willBeMine: (id) => id.startsWith("mine") },
      { fleet: { listInstances: async () => instances }, engines: { get } },
      signal,
    );
  return { watched, listShare, list: listed.resolve };
}

const STATES = { "mine-1": "ACTIVE", "mine-2": "DRAINING", "theirs-1": "ACTIVE", "mine-retired": "RETIRED" } as const;

it("watches what will be this process's, and nothing else", async () => {
  const { watched, listShare } = open(STATES);
  await listShare(false);
  expect(watched).toEqual(["mine-1", "mine-2"]);
});

it("waits until that is listed where others work on it meanwhile", async () => {
  const { watched, listShare, list } = open(STATES);
  let isDone = false;
  const done = listShare(true).then(() => {
    isDone = true;
  });
  await expect.poll(() => watched).toEqual(["mine-1", "mine-2"]);
  expect(isDone).toBe(false);
  list();
  await done;
});

it("leaves out what cannot be reached", async () => {
  const { watched, listShare, list } = open({ "mine-away": "ACTIVE", "mine-gone": "ACTIVE", "mine-1": "ACTIVE" });
  list();
  await listShare(true);
  expect(watched).toEqual(["mine-gone", "mine-1"]);
});
