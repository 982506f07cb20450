import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { type Served, serveApi } from "../api/testing/served.ts";
import { RefusedError } from "../domain/errors.ts";
import { anIntent } from "../store/testing/builders.ts";
import { createWorld } from "../store/testing/world.ts";
import { exportWorkspaces } from "./export.ts";
import type { RestClient } from "./rest-client.ts";
import { runCommand } from "./testing/run-command.ts";

interface Named {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
}

describe("argosy export", () => {
  let served: Served;
  const signal = AbortSignal.timeout(60_000);
  beforeAll(async () => {
    served = await serveApi();
    const requests = ["web", "api"].map((name) => anIntent({ namespace: "shop", name, argoName: `shop-${name}` }));
    await served.store.intents.recordDeployments(
      [...requests, anIntent({ namespace: "blog", name: "blog", argoName: "blog-blog" })],
      signal,
    );
  });
  afterAll(() => served.close());
  const run = (...args: readonly string[]) => runCommand(args, { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token("viewer") });

  it("prints every workspace as one stream of YAML for kubectl", async () => {
    const { out, err, code } = await run("export");
    const objects = parseAllDocuments(out).map((document) => document.toJS() as Named);
    expect(objects.map(({ kind }) => kind)).toEqual(["AppProject", "Application", "AppProject", "Application", "Application"]);
    expect(objects.flatMap(({ kind, metadata }) => (kind === "Application" ? [metadata.name] : []))).toEqual([
      "blog-blog",
      "shop-api",
      "shop-web",
    ]);
    expect(new Set(objects.map(({ metadata }) => metadata.namespace))).toEqual(new Set(["argocd"]));
    expect({ err, code }).toEqual({ err: "3 applications in 2 projects of 2 workspaces", code: 0 });
  });

  it("prints the workspaces that are named, for the Argo CD that is named", async () => {
    const { out } = await run("export", "shop", "shop", "--into", "gitops", "--server", "https://kubernetes.default.svc", "-o", "json");
    const list = JSON.parse(out);
    expect(list).toMatchObject({ apiVersion: "v1", kind: "List" });
    expect(list.items).toHaveLength(3);
    for (const { metadata } of list.items) expect(metadata.namespace).toBe("gitops");
    expect(list.items[1].spec).toMatchObject({
      project: list.items[0].metadata.name,
      destination: { server: "https://kubernetes.default.svc", namespace: "shop" },
    });
  });

  it("passes over what ended since it was listed", async () => {
    const gone = new RefusedError("there is no workspace attic", { code: "api.no-workspace", context: { status: 404 } });
    const view = { namespace: "shop", objects: [{ kind: "Application" }], leftOut: [], needs: [] };
    const client = {
      all: async () => [{ namespace: "attic" }, { namespace: "shop" }],
      get: async (path: string) => (path.includes("attic") ? Promise.reject(gone) : view),
    } as unknown as RestClient;
    const options = { into: "argocd", output: "yaml" } as const;
    expect(await exportWorkspaces(client, [], options)).toMatchObject({
      ...{ text: "kind: Application", remarks: ["1 applications in 0 projects of 1 workspaces"], isWhole: true },
    });
    await expect(exportWorkspaces(client, ["attic"], options)).rejects.toBe(gone);
  });

  it.each([
    [["nobody"], 1, /there is no workspace nobody; `argosy get workspaces` lists them/],
    [["shop", "--into", "Not a name"], 2, /into: .*is no name of a namespace/],
    [["shop", "--server", "here"], 2, /server: /],
  ])("refuses %j with what to do", async (args, code, err) => {
    const seen = await run("export", ...args);
    expect(seen).toMatchObject({ out: "", code });
    expect(seen.err).toMatch(err);
  });

  it("says what it left out, and that what it printed is not all", async () => {
    const { addInstance, record, unit, place, remove } = createWorld(served.store);
    const gone = await record({ namespace: "attic", name: "old", argoName: "attic-old" });
    await record({ namespace: "attic", name: "new", argoName: "attic-new" });
    // What was never placed goes at once.
    await place((await unit(gone.applicationId)).id, (await addInstance()).id);
    await remove(gone);
    const seen = await run("export", "attic");
    expect(seen.code).toBe(1);
    expect(seen.err).toContain("attic/old is left out: it is being deleted");
    expect(seen.out).toContain("attic-new");
    expect(seen.out).not.toContain("attic-old");
  });
});
