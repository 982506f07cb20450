import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { addressOf, askDigest } from "./published-images.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

async function registry(digest: string | undefined): Promise<string> {
  const server = createServer((request, response) => {
    const host = `http://${request.headers.host}`;
    if (request.url === "/token?service=here&scope=repository%3Aa%3Apull") return response.end(JSON.stringify({ token: "anybody" }));
    if (request.headers.authorization !== "Bearer anybody") {
      const challenge = `Bearer realm="${host}/token",service="here",scope="repository:a:pull"`;
      return response.writeHead(401, { "www-authenticate": challenge }).end();
    }
    return response.writeHead(200, digest === undefined ? {} : { "docker-content-digest": digest }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/a/manifests/v1`;
}

it("asks a registry for the digest of a tag, with the token that anybody gets", async () => {
  expect(addressOf("quay.io/argoproj/argocd:v3.5.7")).toBe("https://quay.io/v2/argoproj/argocd/manifests/v3.5.7");
  expect(await askDigest(await registry(DIGEST), AbortSignal.timeout(30_000))).toBe(DIGEST);
});

it.each([[undefined], ["sha256:short"]])("takes nothing else for one: %s", async (digest) => {
  await expect(askDigest(await registry(digest), AbortSignal.timeout(30_000))).rejects.toThrow("no digest");
});
