import { expect, it } from "vitest";
import { describeResource } from "./describe.ts";
import type { RestClient } from "./rest-client.ts";

const described = async (resource: "workspaces" | "applications", rows: readonly unknown[]): Promise<unknown> => {
  const client = { all: async () => rows, get: async () => ({ items: [] }) } as unknown as RestClient;
  return JSON.parse(await describeResource(client, { resource, name: "shop/web", output: "json" })).id;
};

it("describes who has a name now, of those that had it one after another", async () => {
  const [gone, present] = [
    { id: "1", state: "deleting" },
    { id: "2", state: "active" },
  ];
  expect(await described("workspaces", [gone, present])).toBe("2");
  expect(await described("workspaces", [present, { id: "3", state: "deleting" }])).toBe("2");
  expect(await described("workspaces", [gone, { id: "3", state: "deleting" }])).toBe("3");
  expect(
    await described("applications", [
      { id: "1", deleting: true },
      { id: "2", deleting: false },
    ]),
  ).toBe("2");
});

it("tells what was decided about a workspace or an instance of late, in the words of the journal, and of nothing else", async () => {
  const asked: unknown[] = [];
  const client = {
    all: async () => [{ id: "1", namespace: "shop", name: "one", state: "ACTIVE" }],
    get: async (path: string, query: unknown) => {
      asked.push([path, query]);
      return { items: [{ at: "now", verdict: "PINNED", text: "pinned to one by anna", kind: "directive", details: {} }] };
    },
  } as unknown as RestClient;
  const decisions = async (resource: "workspaces" | "instances" | "operations", name: string): Promise<unknown> =>
    JSON.parse(await describeResource(client, { resource, name, output: "json" })).decisions;
  expect(await decisions("workspaces", "shop")).toEqual([{ at: "now", verdict: "PINNED", text: "pinned to one by anna" }]);
  expect(await decisions("instances", "one")).toHaveLength(1);
  expect(await decisions("operations", "1")).toBeUndefined();
  expect(asked).toEqual([
    ["/v1/decisions", { workspace: "shop", limit: 10 }],
    ["/v1/decisions", { instance: "one", limit: 10 }],
  ]);
});
