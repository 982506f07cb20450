import { expect, it } from "vitest";
import { describeResource } from "./describe.ts";
import type { RestClient } from "./rest-client.ts";

const described = async (resource: "workspaces" | "applications", rows: readonly unknown[]): Promise<unknown> => {
  const client = { all: async () => rows } as unknown as RestClient;
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
