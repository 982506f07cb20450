import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { type FakeApiServer, startFakeApiServer } from "../runtime/kube/testing/fake-api-server.ts";
import { readEngineCredentials } from "./clusters.ts";

const SECRETS = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true } as const;
const KUBECONFIG = stringify({
  clusters: [{ name: "c", cluster: { server: "https://engine.example:6443" } }],
  users: [{ name: "u", user: { token: "token" } }],
  contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
  "current-context": "x",
});
const { signal } = new AbortController();

describe("the credentials of an engine cluster", () => {
  let server: FakeApiServer;
  beforeAll(async () => {
    server = await startFakeApiServer();
    const secret = (namespace: string, name: string, data: Readonly<Record<string, string>>) => ({
      ...{ apiVersion: "v1", kind: "Secret", metadata: { namespace, name } },
      data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
    });
    const objects = [
      secret("argosy-system", "eu-1", { kubeconfig: KUBECONFIG }),
      secret("argosy-system", "empty", {}),
      secret("team-payments", "eu-1", { kubeconfig: KUBECONFIG }),
    ];
    server.load(SECRETS, objects);
  });
  afterAll(() => server.close());

  const read = (secret: string) => readEngineCredentials({ access: { kind: "secret", secret } }, server.client(), signal);

  it("are those of the Secret that is named", async () => {
    expect(await read("argosy-system/eu-1")).toMatchObject({ credentials: { server: "https://engine.example:6443" } });
  });

  it.each(["argosy-system/empty", "argosy-system/not-there"])("are missing in %s", async (secret) => {
    expect(await read(secret)).toEqual({ why: "its kubeconfig Secret is not there or has no key kubeconfig" });
  });

  it.each(["team-payments/eu-1", "eu-1", ""])(
    "are not looked for in another namespace, which a stored fleet may name: %s",
    async (secret) => {
      const before = server.requests().length;
      expect(await read(secret)).toEqual({ why: expect.stringContaining("in another namespace than argosy-system and is not read") });
      expect(server.requests()).toHaveLength(before);
    },
  );
});
