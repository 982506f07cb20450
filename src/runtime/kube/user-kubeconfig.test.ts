import process from "node:process";
import { afterAll, describe, expect, it, vi } from "vitest";
import * as yaml from "yaml";
import { stringify } from "yaml";
import { createSelfSigned } from "./testing/self-signed.ts";
import { parseUserKubeconfig } from "./user-kubeconfig.ts";

const SERVER = "https://api.prod.example:6443";
const pair = createSelfSigned(["api.prod.example"]);
const base64 = (text: string): string => Buffer.from(text).toString("base64");

interface Over {
  readonly user?: unknown;
  readonly cluster?: Readonly<Record<string, unknown>>;
  readonly contexts?: unknown;
  readonly clusters?: unknown;
}

function config({ user = { token: "a-token" }, cluster = {}, contexts, clusters }: Over = {}): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: clusters ?? [{ name: "c", cluster: { server: SERVER, ...cluster } }],
    users: [
      { name: "u", user },
      { name: "second", user: { token: "second-token" } },
    ],
    contexts: contexts ?? [{ name: "x", context: { cluster: "c", user: "u", namespace: "default" } }],
    "current-context": "nobody",
  });
}

const read = (over?: Over, server = SERVER) => parseUserKubeconfig(config(over), server);

describe("what a user's kubeconfig gives", () => {
  it("is a token and the authority beside it", () => {
    expect(read({ cluster: { "certificate-authority-data": base64(pair.cert), "tls-server-name": "inner" } })).toEqual({
      kind: "found",
      access: { server: SERVER, token: "a-token", ca: pair.cert, serverName: "inner" },
    });
  });

  it("is a client certificate", () => {
    const user = { "client-certificate-data": base64(pair.cert), "client-key-data": base64(pair.key) };
    expect(read({ user })).toEqual({ kind: "found", access: { server: SERVER, certificate: { cert: pair.cert, key: pair.key } } });
  });

  it.each([
    ["in other letter case", "HTTPS://API.prod.example:6443"],
    ["with a slash at its end", `${SERVER}/`],
  ])("is found for a server that is written %s", (_how, server) => {
    expect(read({}, server).kind).toBe("found");
  });

  it("is that of the first context, in the order of the file, whose cluster is the server", () => {
    const clusters = [
      { name: "other", cluster: { server: "https://other.example" } },
      { name: "c", cluster: { server: SERVER } },
    ];
    const contexts = [
      { name: "first", context: { cluster: "other", user: "u" } },
      { name: "second", context: { cluster: "c", user: "second" } },
      { name: "third", context: { cluster: "c", user: "u" } },
    ];
    expect(read({ clusters, contexts })).toMatchObject({ access: { token: "second-token" } });
  });

  it("is never that of a namesake of the context that was chosen", () => {
    const clusters = [
      { name: "other", cluster: { server: "https://other.example" } },
      { name: "c", cluster: { server: SERVER } },
    ];
    const contexts = [
      { name: "same", context: { cluster: "other", user: "u" } },
      { name: "same", context: { cluster: "c", user: "second" } },
    ];
    expect(read({ clusters, contexts })).toEqual({ kind: "no-context" });
  });

  it("needs a context of that server, whatever the others are like", () => {
    expect(read({}, "https://api.prod.example:6444")).toEqual({ kind: "no-context" });
    expect(read({}, "https://api.prod.example")).toEqual({ kind: "no-context" });
    for (const contexts of [[], {}, "x", [null, 3, { name: 7 }, { name: "x", context: "c" }]])
      expect(read({ contexts })).toEqual({ kind: "no-context" });
  });
});

// Core tests share their worker's modules: others may have imported the parser before, and will not want a watched one.
vi.hoisted(() => void vi.resetModules());
vi.mock("yaml", { spy: true });
afterAll(() => {
  vi.doUnmock("yaml");
  vi.resetModules();
});

describe("a kubeconfig made to cost time", () => {
  it("is parsed once, however many of its contexts are for the server", () => {
    const contexts = Array.from({ length: 300 }, () => ({ name: "same", context: { cluster: "c", user: "nobody" } }));
    const clusters = [
      { name: "other", cluster: { server: "https://other.example" } },
      { name: "c", cluster: { server: SERVER } },
    ];
    const text = config({ clusters, contexts: [{ name: "same", context: { cluster: "other", user: "u" } }, ...contexts] });
    vi.mocked(yaml.parse).mockClear();
    expect(parseUserKubeconfig(text, SERVER)).toEqual({ kind: "no-context" });
    expect(yaml.parse).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["whose keys would each be compared with all others", Array.from({ length: 3_000 }, (_, index) => `k${index}: v`).join("\n")],
    [
      "whose aliases would each be looked for among all anchors",
      Array.from({ length: 1_000 }, (_, index) => `a${index}: &a${index} x\nb${index}: *a${index}`).join("\n"),
    ],
    ["whose keys are maps within maps", `${"{? ".repeat(1_000)}a${"}".repeat(1_000)}`],
    ["whose every character is an error of its own", ",".repeat(32_000)],
  ])("is given up soon: one %s", (_what, text) => {
    const options = vi.mocked(yaml.parse).mock.calls.length;
    expect(["unusable", "no-context"]).toContain(parseUserKubeconfig(text, SERVER).kind);
    expect(vi.mocked(yaml.parse).mock.calls[options]?.[1]).toMatchObject({
      uniqueKeys: false,
      maxAliasCount: 0,
      prettyErrors: false,
      stringKeys: true,
    });
  });

  it("says nothing of its content to whoever reads our warnings", () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    parseUserKubeconfig("token: !odd s3cr3t", SERVER);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });
});

describe("refused is", () => {
  it.each([
    ["nobody", {}],
    ["a user that is none", "root"],
    ["a command", { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "/bin/sh", args: ["-c", "id"] } }],
    ["a command by its bare name", { exec: { command: "aws" } }],
    ["an auth provider", { "auth-provider": { name: "gcp", config: {} } }],
    ["a file with a token", { tokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token" }],
    ["a file beside a token", { token: "a-token", tokenFile: "token" }],
    ["a file with a certificate", { "client-certificate": "/etc/cert", "client-key": "/etc/key" }],
    ["a password", { username: "admin", password: "admin" }],
    ["impersonation", { token: "a-token", as: "system:masters" }],
    ["a token with line ends, which would be another header", { token: "a\r\nx-evil: 1" }],
    ["a token that is a number", { token: 7 }],
    ["a token longer than any", { token: "x".repeat(20_000) }],
    [
      "a key that costs what its maker likes",
      { "client-certificate-data": base64(pair.cert), "client-key-data": base64(`-----BEGIN PRIVATE KEY-----\n${"A".repeat(60_000)}`) },
    ],
    ["a certificate without its key", { "client-certificate-data": base64(pair.cert) }],
    ["a key of another certificate", { "client-certificate-data": base64(pair.cert), "client-key-data": base64(createSelfSigned([]).key) }],
    [
      "a certificate that is none",
      { "client-certificate-data": base64("-----BEGIN CERTIFICATE-----\nAAAA\n"), "client-key-data": base64(pair.key) },
    ],
  ])("%s", (_what, user) => {
    expect(read({ user }).kind).toBe("unusable");
  });

  it.each([
    ["a proxy", { "proxy-url": "http://169.254.169.254" }],
    ["a file with an authority", { "certificate-authority": "/etc/passwd" }],
    ["an authority that is none", { "certificate-authority-data": base64("secret") }],
    [
      "an authority that only looks like one",
      { "certificate-authority-data": base64("-----BEGIN CERTIFICATE-----\nsecret\n-----END CERTIFICATE-----") },
    ],
  ])("%s", (_what, cluster) => {
    expect(read({ cluster }).kind).toBe("unusable");
  });

  it.each([
    ["nothing", ""],
    ["a list", "[]"],
    ["a text", "hello"],
    ["what is no YAML", "a: [\n\tb"],
    [
      "aliases without end",
      `a: &a [x,x]\n${Array.from({ length: 40 }, (_, i) => `b${i}: &b${i} [*${i === 0 ? "a" : `b${i - 1}`}, *${i === 0 ? "a" : `b${i - 1}`}]`).join("\n")}`,
    ],
    ["more than anybody has", `# ${"x".repeat(300_000)}\n${config()}`],
    ["a prototype", '{"__proto__": {"contexts": []}}'],
  ])("%s instead of a kubeconfig", (_what, text) => {
    expect(["unusable", "no-context"]).toContain(parseUserKubeconfig(text, SERVER).kind);
  });

  it("said without a value of the kubeconfig", () => {
    for (const user of [{ token: "s3cr3t\n" }, { password: "s3cr3t", username: "s3cr3t" }, { exec: { command: "s3cr3t" } }])
      expect(JSON.stringify(read({ user }))).not.toContain("s3cr3t");
    expect(JSON.stringify(parseUserKubeconfig("token: s3cr3t\n\t- x", SERVER))).not.toContain("s3cr3t");
  });

  it("said without its names either, which are anything", () => {
    const contexts = [{ name: "s3cr3t].user.x\r\n", context: { cluster: "c", user: "s3cr3t" } }];
    expect(read({ contexts })).toEqual({ kind: "unusable", why: expect.not.stringContaining("s3cr3t") });
    expect(read({ contexts: [{ name: "x", context: { cluster: "c", user: "s3cr3t" } }] })).toMatchObject({
      why: "users[…]: add it to users, or name one that is there",
    });
  });

  it("said to nobody but its owner", () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    parseUserKubeconfig(`${config()}\nextra: !mine "s3cr3t"\n`, SERVER);
    parseUserKubeconfig('!!js/function "s3cr3t"', SERVER);
    expect(warn.mock.calls).toEqual([]);
  });
});
