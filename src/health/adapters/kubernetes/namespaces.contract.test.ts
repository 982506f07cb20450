import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LABEL_CANARY } from "../../../domain/names.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import type { KubeObject, ResourceType } from "../../../runtime/kube/resource.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../runtime/kube/testing/fake-api-server.ts";
import type { ProbedNamespace } from "../../port.ts";
import { APPLICATIONS, createNamespaces, PROJECTS } from "./namespaces.ts";

const never = new AbortController().signal;
const namespace = "argosy-standard-1";

describe("the canaries of an instance", () => {
  let server: FakeApiServer;
  let client: KubeClient;
  let probed: ProbedNamespace;
  beforeEach(async () => {
    server = await startFakeApiServer();
    client = server.client();
    const opened = await createNamespaces(async () => client, "https://api.example")({ engineCluster: "eu-1", namespace }, never);
    if (opened === undefined) throw new Error("its cluster is there");
    probed = opened;
  });
  afterEach(() => server.close());

  /** Names of what is written meanwhile. */
  const written = async (during: () => Promise<unknown>): Promise<readonly string[]> => {
    const from = server.requests().length;
    await during();
    const patches = server
      .requests()
      .slice(from)
      .filter(({ method }) => method === "PATCH");
    return patches.map(({ url }) => /\/([^/?]+)\?/.exec(url)?.[1] ?? url).sort();
  };
  const ensure = () => written(() => probed.ensureCanaries("no-repository", never));
  const ALL = ["argosy-canaries", "argosy-canary-1", "argosy-canary-2", "argosy-canary-passive"];

  it("are written once, and found as they are after that", async () => {
    expect(await ensure()).toEqual(ALL);
    expect(await ensure()).toEqual([]);
    await probed.askFor("argosy-canary-1", 1_000 as never, never);
    expect(await ensure()).toEqual([]);
    expect((await probed.listCanaries(never)).map(({ name }) => name).sort()).toEqual(ALL.slice(1));
  });

  it.each<readonly [string, ResourceType, string, () => Promise<unknown>]>([
    [
      "that was deleted",
      APPLICATIONS,
      ALL[2] as string,
      () => client.delete(APPLICATIONS, { namespace, name: ALL[2] as string }, {}, never),
    ],
    ["that was edited", APPLICATIONS, ALL[1] as string, () => edit(APPLICATIONS, ALL[1] as string, { spec: { project: "default" } })],
    ["whose project was edited", PROJECTS, ALL[0] as string, () => edit(PROJECTS, ALL[0] as string, { spec: { sourceRepos: ["*"] } })],
    [
      "that lost its label",
      APPLICATIONS,
      ALL[3] as string,
      () => edit(APPLICATIONS, ALL[3] as string, { metadata: { labels: { [LABEL_CANARY]: null } } }),
    ],
  ])("have the one written again %s, and nothing else", async (_, type, name, change) => {
    await ensure();
    const before = await client.get<KubeObject>(type, { namespace, name }, never);
    await change();
    expect(await ensure()).toEqual([name]);
    expect(await client.get<KubeObject>(type, { namespace, name }, never)).toMatchObject({
      spec: (before as unknown as { spec: object }).spec,
    });
    expect(await ensure()).toEqual([]);
  });

  it("are all written again when they are to compare something else", async () => {
    await ensure();
    const other = { repository: "https://git.example/canary.git", revision: "main", path: "." };
    expect(await written(() => probed.ensureCanaries(other, never))).toEqual(ALL);
  });

  const edit = (type: ResourceType, name: string, patch: object) => client.mergePatch(type, { namespace, name }, patch as never, never);
});
