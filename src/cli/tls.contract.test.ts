import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tokenHash } from "../api/auth.ts";
import { type Api, createApi } from "../api/server.ts";
import { idleDeps } from "../api/testing/served.ts";
import { systemClock } from "../runtime/clock.ts";
import { anAuthority, aServerCertificate } from "../runtime/testing/certificates.ts";
import { createMemoryStore, type MemoryStore } from "../store/adapters/memory/memory-store.ts";
import { aToken } from "../store/testing/builders.ts";
import { runCommand, type Seen } from "./testing/run-command.ts";

const TOKEN = "argosy_viewer_0123456789";
const authority = anAuthority();
const certificate = aServerCertificate(["127.0.0.1"], authority);

let directory: string;
let ca: string;
let store: MemoryStore;
let api: Api;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "argosy-cli-tls-"));
  ca = join(directory, "ca.crt");
  // Such files have words between the certificates, and more than one.
  writeFileSync(ca, `An authority\n${authority.cert}\n# another\n${anAuthority("another").cert}`);
  store = createMemoryStore({ clock: systemClock });
  await store.tokens.put(aToken({ name: "vera", role: "viewer", hash: tokenHash(TOKEN) }), undefined, AbortSignal.timeout(60_000));
});
afterEach(async () => {
  await api.close();
  await store.close();
  rmSync(directory, { recursive: true });
});

const serve = async (used: typeof certificate | undefined): Promise<string> => {
  api = await createApi(idleDeps(store), used);
  return api.listen({ host: "127.0.0.1", port: 0 });
};
const get = (url: string, more: Readonly<Record<string, string>> = {}, ...options: readonly string[]): Promise<Seen> =>
  runCommand(["get", "instances", ...options], { ARGOSY_URL: url, ARGOSY_TOKEN: TOKEN, ...more });

describe("the command line over HTTPS", () => {
  it("trusts the authorities of the file that is typed, or named in the environment", async () => {
    const url = await serve(certificate);
    expect(await get(url, {}, "--certificate-authority", ca)).toMatchObject({ code: 0, err: "there are no instances" });
    expect(await get(url, { ARGOSY_CA: ca })).toMatchObject({ code: 0, err: "there are no instances" });
    expect(await get(url, { ARGOSY_CA: join(directory, "not-there") }, "--certificate-authority", ca)).toMatchObject({ code: 0 });
  });

  it("takes the file that a state directory names", async () => {
    writeFileSync(join(directory, "env"), `ARGOSY_URL=${await serve(certificate)}\nARGOSY_TOKEN=${TOKEN}\nARGOSY_CA=${ca}\n`);
    expect(await runCommand(["get", "instances", "--state", directory], {})).toMatchObject({ code: 0, err: "there are no instances" });
  });

  it("refuses a certificate that nobody trusted has signed, and says how to trust its authority", async () => {
    const url = await serve(certificate);
    const sentence = `the certificate of ${url} is signed by no authority that is trusted here; name the file with its authority's certificate with --certificate-authority or ARGOSY_CA`;
    expect(await get(url)).toEqual({ code: 1, out: "", err: sentence });
    writeFileSync(ca, anAuthority("another").cert);
    expect(await get(url, { ARGOSY_CA: ca })).toEqual({ code: 1, out: "", err: sentence });
    await api.close();
    const selfSigned = await serve(aServerCertificate(["127.0.0.1"]));
    expect(await get(selfSigned)).toMatchObject({ code: 1, err: expect.stringContaining("signed by no authority that is trusted here") });
  });

  it("refuses a certificate for another name, and says for which it is", async () => {
    const url = await serve(aServerCertificate(["argosy.example", "10.0.0.7"], authority));
    expect(await get(url, { ARGOSY_CA: ca })).toEqual({
      code: 1,
      out: "",
      err: `the certificate of ${url} is for argosy.example, 10.0.0.7; write a name it is for into ARGOSY_URL`,
    });
  });

  it("refuses one that has expired", async () => {
    const url = await serve(aServerCertificate(["127.0.0.1"], authority, Date.now() - 3_600_000));
    expect(await get(url, { ARGOSY_CA: ca })).toEqual({
      code: 1,
      out: "",
      err: `the certificate of ${url} has expired; renew it there, and see whether the time is right here`,
    });
  });

  it("says which of both it is where one side speaks HTTPS and the other plain HTTP", async () => {
    const secure = (await serve(certificate)).replace("https:", "http:");
    expect(await get(secure)).toEqual({
      code: 1,
      out: "",
      err: `the server at ${secure} speaks HTTPS; write https:// into ARGOSY_URL`,
    });
    await api.close();
    const plain = (await serve(undefined)).replace("http:", "https:");
    expect(await get(plain)).toEqual({
      code: 1,
      out: "",
      err: `the server at ${plain} speaks plain HTTP; write http:// into ARGOSY_URL, or let it serve HTTPS`,
    });
  });

  it.each(["http", "https"])("takes a server that hangs up on %s for one that is away", async (scheme) => {
    await serve(undefined);
    const server: Server = createServer((socket) => socket.end()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    expect(await get(`${scheme}://127.0.0.1:${port}`)).toMatchObject({ code: 1, err: expect.stringContaining("no answer from") });
    server.close();
  });

  it.each([
    ["is not there", undefined, "cannot be read"],
    ["holds a key", certificate.key, "holds no certificate in PEM"],
    [
      "holds something else",
      "-----BEGIN CERTIFICATE-----\nbm9uc2Vuc2U=\n-----END CERTIFICATE-----\n",
      "holds a certificate that cannot be read",
    ],
  ])("refuses a file of authorities that %s, as wrong use", async (_, content, message) => {
    await serve(undefined);
    const file = join(directory, "other.crt");
    if (content !== undefined) writeFileSync(file, content);
    const { code, out, err } = await get("https://127.0.0.1:1", { ARGOSY_CA: file });
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(new RegExp(`^ARGOSY_CA: .*other\\.crt ${message}\\. Give --certificate-authority or ARGOSY_CA a file`));
    expect(err).not.toContain("PRIVATE KEY");
  });
});
