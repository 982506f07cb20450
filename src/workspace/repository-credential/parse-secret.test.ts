import { describe, expect, it } from "vitest";
import { parseSecretOf } from "./parse-secret.ts";

const OURS = "managed-gitops.redhat.com/repository-credential";
const bytes = (data: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text)]));
const parse = (data: Readonly<Record<string, string>>, scheme: "https" | "http" | "ssh" = "https", type = OURS) =>
  parseSecretOf({ type, data: bytes(data) }, { scheme });
const key = (body: string, kind = "OPENSSH PRIVATE KEY") => `-----BEGIN ${kind}-----\n${body}\n-----END ${kind}-----\n`;
const openssh = (cipher: string) =>
  key(Buffer.concat([Buffer.from("openssh-key-v1\0\0\0\0\u0004"), Buffer.from(cipher)]).toString("base64"));

describe("a Secret for a repository", () => {
  it.each([OURS, "kubernetes.io/basic-auth", "kubernetes.io/ssh-auth"])("of type %s is read", (type) => {
    expect(parse({ username: "bot", password: "p" }, "https", type)).toEqual({
      ok: true,
      secret: { kind: "basic", username: "bot", password: "p" },
    });
  });

  it.each(["Opaque", "", "managed-gitops.redhat.com/managed-environment", "kubernetes.io/service-account-token"])(
    "of type %j is refused in the old words",
    (type) => {
      const parsed = parse({ username: "bot", password: "p" }, "https", type);
      expect(parsed).toMatchObject({ ok: false, reason: "SecretInvalidType" });
      expect(parsed.ok ? "" : parsed.message).toContain(
        "Secret has an invalid type, must be managed-gitops.redhat.com/repository-credential",
      );
    },
  );

  it("that is not there is said to be missing", () => {
    expect(parseSecretOf(undefined, { scheme: "https" })).toEqual({
      ok: false,
      reason: "SecretNotFound",
      message: "Secret specified not found",
    });
  });

  it("gives what suits the way the repository is reached", () => {
    const all = { username: "bot", password: "p", bearerToken: "t", sshPrivateKey: openssh("none") };
    expect(parse(all)).toMatchObject({ secret: { kind: "basic" } });
    expect(parse({ ...all, password: "" })).toMatchObject({ secret: { kind: "bearer", token: "t" } });
    expect(parse(all, "ssh")).toEqual({ ok: true, secret: { kind: "ssh", privateKey: openssh("none") } });
    expect(parse({ "ssh-privatekey": key("abc", "RSA PRIVATE KEY").replaceAll("\n", "\r\n") }, "ssh")).toEqual({
      ok: true,
      secret: { kind: "ssh", privateKey: key("abc", "RSA PRIVATE KEY") },
    });
  });

  it("may end its words with a line end, as files do, and keeps everything else", () => {
    expect(parse({ username: "bot\n", password: " p ä\r\n" })).toEqual({
      ok: true,
      secret: { kind: "basic", username: "bot", password: " p ä" },
    });
  });

  it.each([
    [{}, "https"],
    [{ username: "bot" }, "https"],
    [{ username: "", password: "p" }, "https"],
    [{ username: "a:b", password: "p" }, "https"],
    [{ username: "bot", password: "p\r\nx-header: 1" }, "https"],
    [{ bearerToken: "t\r\nx-header: 1" }, "https"],
    [{ bearerToken: "t t" }, "https"],
    [{ bearerToken: "t\u00e4" }, "https"],
    [{ username: "bot", password: "x".repeat(8193) }, "https"],
    [{ sshPrivateKey: openssh("none") }, "https"],
    [{ username: "bot", password: "p" }, "ssh"],
    [{ sshPrivateKey: "no key" }, "ssh"],
    [{ sshPrivateKey: "-----BEGIN CERTIFICATE-----\na\n-----END CERTIFICATE-----" }, "ssh"],
    [{ sshPrivateKey: openssh("aes256-ctr") }, "ssh"],
    [{ sshPrivateKey: key("abc", "ENCRYPTED PRIVATE KEY") }, "ssh"],
    [{ sshPrivateKey: key("Proc-Type: 4,ENCRYPTED\n\nabc", "RSA PRIVATE KEY") }, "ssh"],
    [{ sshPrivateKey: key("x".repeat(9_000)) }, "ssh"],
  ] as const)("that cannot be used is said to be incomplete, without a word of it (%#)", (data, scheme) => {
    const parsed = parse(data as Readonly<Record<string, string>>, scheme);
    expect(parsed).toMatchObject({ ok: false, reason: "SecretIncomplete" });
    for (const value of Object.values(data)) if (value.length > 3) expect(parsed.ok ? "" : parsed.message).not.toContain(value);
  });

  it("with bytes that are no text is incomplete", () => {
    const data = { username: Buffer.from("bot"), password: Buffer.from([0xff, 0xfe]) };
    expect(parseSecretOf({ type: OURS, data }, { scheme: "https" })).toMatchObject({ ok: false, reason: "SecretIncomplete" });
  });
});
