import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import type { InputError } from "../../domain/errors.ts";
import { parseKubeconfig } from "./kubeconfig.ts";

const pem = (label: string) => `-----BEGIN ${label}-----\nAAAA\n-----END ${label}-----\n`;
const base64 = (text: string) => Buffer.from(text).toString("base64");

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
  readonly root?: object;
}

function kubeconfig({ cluster = {}, user = {}, context = {}, root = {} }: Parts): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "main",
    clusters: [{ name: "prod", cluster: { server: "https://api.test:6443", ...cluster } }],
    users: [{ name: "robot", user }],
    contexts: [{ name: "main", context: { cluster: "prod", user: "robot", ...context } }],
    ...root,
  });
}

function parse(parts: Parts | string, options: { context?: string; directory?: string } = {}) {
  const text = typeof parts === "string" ? parts : kubeconfig(parts);
  return parseKubeconfig({ text, context: options.context, directory: options.directory, readFile: (file) => `content of ${file}` });
}

function refusal(parts: Parts | string, options: { context?: string; directory?: string } = {}): InputError {
  const parsed = parse(parts, options);
  if (parsed.ok) throw new Error("it was accepted");
  return parsed.error;
}

describe("parseKubeconfig", () => {
  it("reads a token, a CA and a server name", () => {
    const parsed = parse({
      cluster: { "certificate-authority-data": base64(pem("CERTIFICATE")), "tls-server-name": "kube.test" },
      user: { token: "t" },
    });
    expect(parsed).toEqual({
      ok: true,
      entry: {
        server: "https://api.test:6443",
        tls: { ca: pem("CERTIFICATE"), serverName: "kube.test" },
        token: { kind: "fixed", token: "t" },
      },
    });
  });

  it("reads a client certificate and its key", () => {
    const parsed = parse({
      user: { "client-certificate-data": base64(pem("CERTIFICATE")), "client-key-data": base64(pem("PRIVATE KEY")) },
    });
    expect(parsed).toMatchObject({
      entry: { tls: { certificate: { cert: pem("CERTIFICATE"), key: pem("PRIVATE KEY") } }, token: { kind: "none" } },
    });
  });

  it("resolves file names relative to the kubeconfig", () => {
    const parsed = parse(
      { cluster: { "certificate-authority": "ca.crt" }, user: { tokenFile: "/abs/token", token: "ignored" } },
      { directory: "/home/me/.kube" },
    );
    expect(parsed).toMatchObject({
      entry: { tls: { ca: "content of /home/me/.kube/ca.crt" }, token: { kind: "file", file: "/abs/token" } },
    });
  });

  it("reads a plugin, whose command is looked up on PATH only if it is a bare name", () => {
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1beta1",
      command: "bin/login",
      args: ["-v"],
      env: [{ name: "A", value: "1" }],
      provideClusterInfo: true,
    };
    const parsed = parse({ user: { exec } }, { directory: "/home/me" });
    expect(parsed).toMatchObject({
      entry: { token: { kind: "exec", exec: { command: "/home/me/bin/login", args: ["-v"], env: { A: "1" }, provideClusterInfo: true } } },
    });
    expect(parse({ user: { exec: { command: "login" } } }, { directory: "/home/me" })).toMatchObject({
      entry: { token: { exec: { command: "login" } } },
    });
  });

  it("picks the context that is asked for and takes JSON too", () => {
    const root = { contexts: [{ name: "other", context: { cluster: "prod" } }] };
    expect(parse({ root }, { context: "other" })).toMatchObject({ ok: true, entry: { token: { kind: "none" } } });
    expect(
      parse(
        JSON.stringify({
          "current-context": "a",
          contexts: [{ name: "a", context: { cluster: "b" } }],
          clusters: [{ name: "b", cluster: { server: "http://127.0.0.1:1/x" } }],
        }),
      ),
    ).toMatchObject({ ok: true });
  });

  it.each<[string, Parts | string, string]>([
    ["text that is no YAML", "a: [", "kubeconfig"],
    ["an empty text", "", "kubeconfig"],
    ["a list", "- a", "kubeconfig"],
    ["no current context", { root: { "current-context": "" } }, "current-context"],
    ["a context that is not there", { root: { "current-context": "gone" } }, "contexts[gone]"],
    ["a context without a body", { root: { contexts: [{ name: "main" }] } }, "contexts[main].context"],
    ["a context without a cluster", { context: { cluster: null } }, "contexts[main].context.cluster"],
    ["a cluster that is not there", { context: { cluster: "gone" } }, "clusters[gone]"],
    ["a user that is not there", { context: { user: "gone" } }, "users[gone]"],
    ["no server", { cluster: { server: "" } }, "clusters[prod].cluster.server"],
    ["a server that is no URL", { cluster: { server: "api.test" } }, "clusters[prod].cluster.server"],
    ["a server of another protocol", { cluster: { server: "ftp://api.test" } }, "clusters[prod].cluster.server"],
    ["a password in the URL", { cluster: { server: "https://a:b@api.test" } }, "clusters[prod].cluster.server"],
    ["a proxy", { cluster: { "proxy-url": "http://proxy.test" } }, "clusters[prod].cluster.proxy-url"],
    ["a flag that is no flag", { cluster: { "insecure-skip-tls-verify": "yes" } }, "clusters[prod].cluster.insecure-skip-tls-verify"],
    ["a CA that is no base64", { cluster: { "certificate-authority-data": "?" } }, "clusters[prod].cluster.certificate-authority-data"],
    [
      "a CA that is no PEM",
      { cluster: { "certificate-authority-data": base64("hello") } },
      "clusters[prod].cluster.certificate-authority-data",
    ],
    ["a token that is a number", { user: { token: 5 } }, "users[robot].user.token"],
    ["a password", { user: { username: "a", password: "b" } }, "users[robot].user.username"],
    ["impersonation", { user: { token: "t", as: "root" } }, "users[robot].user.as"],
    [
      "a certificate without its key",
      { user: { "client-certificate-data": base64(pem("CERTIFICATE")) } },
      "users[robot].user.client-key-data",
    ],
    [
      "a key without its certificate",
      { user: { "client-key-data": base64(pem("PRIVATE KEY")) } },
      "users[robot].user.client-certificate-data",
    ],
    [
      "a CA file in a text without a place",
      { cluster: { "certificate-authority": "/etc/ca" } },
      "clusters[prod].cluster.certificate-authority",
    ],
    ["a token file in a text without a place", { user: { tokenFile: "/etc/shadow" } }, "users[robot].user.tokenFile"],
    ["a command in a text without a place", { user: { exec: { command: "rm" } } }, "users[robot].user.exec.command"],
    [
      "a provider in a text without a place",
      { user: { "auth-provider": { name: "gcp", config: { "cmd-path": "rm" } } } },
      "users[robot].user.auth-provider",
    ],
  ])("refuses %s and names the field", (_, parts, path) => {
    const error = refusal(parts);
    expect(error).toMatchObject({ name: "InputError", code: "kube.kubeconfig", path });
    expect(error.remedy).not.toBe("");
  });

  it.each<[string, object, string]>([
    ["a plugin without a command", { exec: {} }, "users[robot].user.exec.command"],
    ["arguments that are no list", { exec: { command: "a", args: "b" } }, "users[robot].user.exec.args"],
    ["an argument that is no string", { exec: { command: "a", args: [1] } }, "users[robot].user.exec.args[0]"],
    ["an environment entry without a name", { exec: { command: "a", env: [{ value: "b" }] } }, "users[robot].user.exec.env[0].name"],
    ["an environment entry that is a string", { exec: { command: "a", env: ["A=b"] } }, "users[robot].user.exec.env[0]"],
    ["a provider without a name", { "auth-provider": { config: {} } }, "users[robot].user.auth-provider.name"],
    ["a provider with a number", { "auth-provider": { name: "oidc", config: { a: 1 } } }, "users[robot].user.auth-provider.config.a"],
  ])("refuses %s", (_, user, path) => {
    expect(refusal({ user }, { directory: "/home/me" }).path).toBe(path);
  });

  it("reads a provider", () => {
    const parsed = parse({ user: { "auth-provider": { name: "oidc", config: { "id-token": "t" } } } }, { directory: "/home/me" });
    expect(parsed).toMatchObject({ entry: { token: { kind: "provider", provider: { name: "oidc", config: { "id-token": "t" } } } } });
  });

  it("never repeats a secret in what it says", () => {
    const error = refusal("users: [{name: a, user: {token: s3cret]");
    expect(`${error.message} ${error.remedy} ${error.path} ${String(error.cause)}`).not.toContain("s3cret");
  });
});
