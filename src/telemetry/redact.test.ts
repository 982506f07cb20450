import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSecretName, REDACTED, redact, redactText } from "./redact.ts";

const SECRET = "S3cr3tV4lue.of-some_length~1";
const JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl";

describe("redaction inside text", () => {
  it.each([
    ["an authorization header", "authorization: Bearer abc.def-ghi_jkl", "abc.def"],
    ["basic authorization", "Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"],
    ["a bearer token alone", `sent bearer ${SECRET} to`, SECRET],
    ["a JSON web token", `token was ${JWT} here`, "c2lnbmF0dXJl"],
    ["a database URL", `postgres://argosy:${SECRET}@db:5432/x`, SECRET],
    ["a password with an at sign", `postgres://u:p@${SECRET}@db/x`, SECRET],
    ["a git URL with a token as user", `cloning https://${SECRET}@example.com/x.git`, SECRET],
    ["a URL in upper case", `HTTPS://u:${SECRET}@h/`, SECRET],
    ["an RSA key", "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\nMIIEdef\n-----END RSA PRIVATE KEY-----", "MIIE"],
    ["a key that was cut off", "-----BEGIN PRIVATE KEY-----\nMIIEabc", "MIIE"],
    ["an OpenSSH key", "x -----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\n-----END OPENSSH PRIVATE KEY----- y", "b3Blbn"],
    ["JSON text", `{"password":"${SECRET}","user":"u"}`, SECRET],
    ["JSON text inside JSON text", JSON.stringify(JSON.stringify({ password: SECRET })), SECRET],
    ["a kubeconfig's key data", `client-key-data: LS0tLS1CRUdJTg==\n`, "LS0tLS1CRUdJTg"],
    ["a kubeconfig's token", `    token: ${SECRET}\n`, SECRET],
    ["a query parameter", `/cb?token=${SECRET}&x=1`, SECRET],
    ["a personal access token", "ghp_0123456789abcdefABCDEF0123456789abcd", "0123456789abcdef"],
  ])("hides %s", (_name, text, secret) => {
    expect(text).toContain(secret);
    expect(redactText(text)).not.toContain(secret);
    expect(redactText(text)).toContain(REDACTED);
  });

  it.each([
    "Reconciling workspace team-a with 3 applications",
    "https://example.com/org/repo.git?ref=main#x",
    "git@example.com:org/repo.git is not reachable",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "the token has expired",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  ])("leaves alone: %s", (text) => {
    expect(redactText(text)).toBe(text);
  });

  it("keeps what tells which thing it was", () => {
    expect(redactText(`postgres://argosy:${SECRET}@db:5432/x failed`)).toBe(`postgres://${REDACTED}@db:5432/x failed`);
  });

  it("changes nothing the second time", () => {
    const parts = fc.constantFrom(
      "password=",
      "Bearer ",
      "a b",
      "://",
      "@",
      "-----BEGIN PRIVATE KEY-----",
      "\n",
      "https",
      SECRET,
      JWT,
      '"',
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 12 }), (texts) => {
        const once = redactText(texts.join(""));
        expect(redactText(once)).toBe(once);
      }),
    );
  });
});

describe("redaction of fields", () => {
  it.each([
    "password",
    "Password",
    "token",
    "bearerToken",
    "client-key-data",
    "clientSecret",
    "Authorization",
    "sshPrivateKey",
    "kubeconfig",
    "stringData",
    "GITHUB_TOKEN",
    "argocd_password",
    "api_key",
    "set-cookie",
  ])("hides %s", (name) => {
    expect(isSecretName(name)).toBe(true);
    expect(JSON.stringify(redact({ deep: [{ [name]: SECRET }] }))).not.toContain(SECRET);
    expect(JSON.stringify(redact({ [name]: { nested: SECRET, list: [SECRET] } }))).not.toContain(SECRET);
  });

  it.each(["key", "name", "workspace", "tokenCount", "secretName", "revision", "passwordless"])("shows %s", (name) => {
    expect(redact({ [name]: "x" })).toEqual({ [name]: "x" });
  });

  it("shows whether there is a secret", () => {
    expect(redact({ token: undefined, password: "", hasToken: true })).toEqual({ token: undefined, password: "", hasToken: true });
  });

  it("turns errors into objects with their causes, without their secrets (P9)", () => {
    const cause = Object.assign(new Error(`connecting to postgres://u:${SECRET}@h`), {
      code: "ECONNREFUSED",
      headers: { authorization: SECRET },
    });
    const copy = redact({ err: new Error("reading rows", { cause }) }) as {
      readonly err: { readonly message: string; readonly cause: { readonly code: string } };
    };
    expect(copy.err.message).toBe("reading rows");
    expect(copy.err.cause.code).toBe("ECONNREFUSED");
    expect(JSON.stringify(copy)).not.toContain(SECRET);
  });

  it("copes with whatever it is given", () => {
    const circular: Record<string, unknown> = {
      list: new Array(1000).fill(1),
      big: 1n,
      when: new Date(0),
      bad: new Date(Number.NaN),
      bytes: new Uint8Array(9),
      url: new URL(`https://u:${SECRET}@h/`),
    };
    circular["self"] = circular;
    circular["map"] = new Map([["token", SECRET]]);
    circular["set"] = new Set([`Bearer ${SECRET}`]);
    Object.defineProperty(circular, "trap", {
      enumerable: true,
      get() {
        throw new Error("no");
      },
    });
    let deep: unknown = SECRET;
    for (let level = 0; level < 50; level += 1) deep = { deep };
    expect(() => JSON.stringify(redact(circular))).not.toThrow();
    expect(JSON.stringify(redact({ deep, circular }))).not.toContain(SECRET);
    const { trap: _trap, ...sound } = Object.getOwnPropertyDescriptors(circular);
    const own: Record<string, unknown> = Object.defineProperties({}, sound);
    own["self"] = own;
    const copy = redact(own) as Record<string, unknown>;
    expect(copy["self"]).toBe("[circular]");
    expect(copy["bytes"]).toBe("[9 bytes]");
    expect(copy["when"]).toBe("1970-01-01T00:00:00.000Z");
    expect((copy["list"] as unknown[]).length).toBe(201);
  });

  it("never throws and always gives what can be written as JSON", () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true, withNullPrototype: true }),
        (value) => {
          JSON.stringify(redact(value));
        },
      ),
    );
  });
});
