import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { stringify } from "yaml";
import { noMetrics } from "../../telemetry/metrics.ts";
import { systemClock } from "../clock.ts";
import { systemRng } from "../rng.ts";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import { loadKubeconfig } from "./auth.ts";
import { createKubeClient } from "./http.ts";
import { startFakeApiServer } from "./testing/fake-api-server.ts";

const never = new AbortController().signal;
const configMaps = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "argosy-auth-"));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true });
});

async function write(name: string, content: string): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, content);
  return file;
}

function kubeconfigFor(user: object, server = "https://api.test"): string {
  return stringify({
    "current-context": "a",
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    clusters: [{ name: "a", cluster: { server } }],
    users: [{ name: "a", user }],
  });
}

/** A credential plugin: a script for Node that notes each of its runs. */
async function kubeconfigWithPlugin(script: string, server?: string): Promise<string> {
  const plugin = await write("plugin.cjs", `require("node:fs").appendFileSync(__dirname + "/runs", "x");\n${script}`);
  return write(
    "config",
    kubeconfigFor(
      {
        exec: {
          apiVersion: "client.authentication.k8s.io/v1",
          command: process.execPath,
          args: [plugin],
          env: [{ name: "PLUGIN_SAYS", value: "hello" }],
        },
      },
      server,
    ),
  );
}

const runs = async () => (await readFile(join(directory, "runs"), "utf8")).length;
const credential = (status: object) =>
  `console.log(JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: ${JSON.stringify(status)} }));`;

describe("credential plugins", () => {
  it("run once for fifty requests at the same time", async () => {
    const server = await startFakeApiServer();
    const file = await kubeconfigWithPlugin(credential({ token: "from-plugin" }), server.url);
    const client = createKubeClient({
      cluster: "c",
      credentials: loadKubeconfig({ file }),
      clock: systemClock,
      rng: systemRng,
      metrics: noMetrics,
    });
    await Promise.all(Array.from({ length: 50 }, () => client.get(configMaps, { namespace: "n", name: "a" }, never)));
    expect(await runs()).toBe(1);
    expect(new Set(server.requests().map(({ headers }) => headers["authorization"]))).toEqual(new Set(["Bearer from-plugin"]));
    await client.close();
    await server.close();
  });

  it("run again shortly before the expiry they gave", async () => {
    const clock = createVirtualClock();
    const expirationTimestamp = new Date(clock.now() + 900_000).toISOString();
    const file = await kubeconfigWithPlugin(credential({ token: "t", expirationTimestamp }));
    const credentials = loadKubeconfig({ file }, undefined, clock.now);
    await credentials.token(never);
    await clock.advance(800_000);
    await credentials.token(never);
    expect(await runs()).toBe(1);
    await clock.advance(20_000);
    await credentials.token(never);
    expect(await runs()).toBe(2);
  });

  it("get their environment and are given the version of the protocol", async () => {
    const script =
      'const info = JSON.parse(process.env.KUBERNETES_EXEC_INFO); console.log(JSON.stringify({ status: { token: info.apiVersion + " " + info.kind + " " + process.env.PLUGIN_SAYS } }));';
    const credentials = loadKubeconfig({ file: await kubeconfigWithPlugin(script) });
    expect(await credentials.token(never)).toBe("client.authentication.k8s.io/v1 ExecCredential hello");
  });

  it.each([
    [
      "fails",
      'console.error("log in first"); process.exit(3);',
      { cause: { code: "kube.plugin-failed", cause: { message: "log in first" } } },
    ],
    ["prints no JSON", 'console.log("s3cret");', { cause: { code: "kube.plugin-output" } }],
    ["gives no token", credential({ clientCertificateData: "x" }), { cause: { code: "kube.token-empty" } }],
  ])("make the token unavailable when one %s", async (_, script, expected) => {
    const credentials = loadKubeconfig({ file: await kubeconfigWithPlugin(script) });
    await expect(credentials.token(never)).rejects.toMatchObject({ name: "UnavailableError", code: "kube.token-unavailable", ...expected });
  });

  it("make the token unavailable when the command is not there", async () => {
    const file = await write("config", kubeconfigFor({ exec: { command: "./none" } }));
    await expect(loadKubeconfig({ file }).token(never)).rejects.toMatchObject({
      cause: { code: "kube.plugin-failed", context: { command: join(directory, "none") } },
    });
  });
});

describe("loadKubeconfig", () => {
  it("gives fixed tokens and none", async () => {
    expect(await loadKubeconfig({ text: kubeconfigFor({ token: "t" }) }).token(never)).toBe("t");
    expect(await loadKubeconfig({ text: kubeconfigFor({}) }).token(never)).toBeUndefined();
  });

  it("names the file that is not there", () => {
    expect(() => loadKubeconfig({ file: join(directory, "none") })).toThrow(
      expect.objectContaining({ name: "InputError", code: "kube.file-unreadable", path: "kubeconfig" }),
    );
  });

  it("names the context that is not there", () => {
    expect(() => loadKubeconfig({ text: kubeconfigFor({}) }, "b")).toThrow(
      expect.objectContaining({ name: "InputError", path: "contexts[b]" }),
    );
  });

  it("reads a token file again after a minute", async () => {
    const clock = createVirtualClock();
    await write("token", "one\n");
    const file = await write("config", kubeconfigFor({ tokenFile: "token" }));
    const credentials = loadKubeconfig({ file }, undefined, clock.now);
    expect(await credentials.token(never)).toBe("one");
    await write("token", "two\n");
    expect(await credentials.token(never)).toBe("one");
    await clock.advance(60_000);
    expect(await credentials.token(never)).toBe("two");
  });

  it("gives the token of an OpenID Connect provider", async () => {
    const claims = Buffer.from(JSON.stringify({ exp: 4_000_000_000 })).toString("base64url");
    const header = Buffer.from("{}").toString("base64url");
    const token = `${header}.${claims}.c2ln`;
    const file = await write("config", kubeconfigFor({ "auth-provider": { name: "oidc", config: { "id-token": token } } }));
    expect(await loadKubeconfig({ file }).token(never)).toBe(token);
  });
});

describe("in a cluster", () => {
  it("uses the service account of the pod", async () => {
    const account = join(directory, "var/run/secrets/kubernetes.io/serviceaccount");
    const { mkdir } = await import("node:fs/promises");
    await mkdir(account, { recursive: true });
    await writeFile(join(account, "ca.crt"), "ca");
    await writeFile(join(account, "token"), "pod-token");
    vi.stubEnv("KUBERNETES_SERVICE_HOST", "fd00::1");
    vi.stubEnv("KUBERNETES_SERVICE_PORT", "443");
    const credentials = loadKubeconfig({ inCluster: true, root: directory });
    expect(credentials).toMatchObject({ server: "https://[fd00::1]:443", ca: "ca" });
    expect(await credentials.token(never)).toBe("pod-token");
  });

  it("says so when it is not", () => {
    vi.stubEnv("KUBERNETES_SERVICE_HOST", undefined);
    expect(() => loadKubeconfig({ inCluster: true })).toThrow(expect.objectContaining({ name: "InputError", code: "kube.not-in-cluster" }));
  });
});
