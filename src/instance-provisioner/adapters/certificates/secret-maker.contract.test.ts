import { X509Certificate } from "node:crypto";
import type { AddressInfo } from "node:net";
import { connect, createServer, type TLSSocket } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import type { EngineCertificates } from "../../../domain/engine.ts";
import { createSecretMaker } from "./secret-maker.ts";

const maker = createSecretMaker();
const HOUR = 3_600_000;
const NAMES = ["argocd-repo-server", "argocd-repo-server.argosy-standard-1.svc"];
const validity = { from: millis(Date.now() - HOUR), until: millis(Date.now() + HOUR) };
const certificates = make();

/** What one side is given that trusts one authority and has certificates of it. */
function make(valid: typeof validity = validity): EngineCertificates {
  const authority = maker.authority(valid);
  return { ...maker.certificates(authority, NAMES, valid), authorities: authority.certificate };
}

describe("certificates of an instance", () => {
  it("are signed by their authority and name their subject and purpose", () => {
    const [authority, server, client] = [certificates.authorities, certificates.server.certificate, certificates.client.certificate].map(
      (pem) => new X509Certificate(pem),
    );
    expect(authority?.ca).toBe(true);
    for (const leaf of [server, client]) {
      expect(leaf?.ca).toBe(false);
      expect(leaf?.verify(authority?.publicKey as never)).toBe(true);
      expect(leaf?.checkIssued(authority as X509Certificate)).toBe(true);
    }
    for (const name of NAMES) expect(server?.checkHost(name)).toBe(name);
    expect(server?.checkHost("argocd-redis")).toBeUndefined();
    expect(server?.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
    expect(client?.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(Date.parse(server?.validTo ?? "")).toBe(Math.floor(validity.until / 1000) * 1000);
  });

  it("have new serial numbers and keys each time", () => {
    const again = make();
    expect(new X509Certificate(again.authorities).serialNumber).not.toBe(new X509Certificate(certificates.authorities).serialNumber);
    expect(again.server.key).not.toBe(certificates.server.key);
    expect(maker.randomText()).not.toBe(maker.randomText());
    expect(maker.randomText()).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("a server with such certificates", () => {
  const servers: { close(): void }[] = [];
  afterEach(() => servers.splice(0).forEach((server) => server.close()));

  it("answers the client of the same instance", async () => {
    expect(await handshake(certificates, certificates)).toBe("answered");
  });

  it("does not answer a client of another instance", async () => {
    expect(await handshake(certificates, { ...certificates, client: make().client })).not.toBe("answered");
  });

  it("is not trusted by a client of another instance", async () => {
    expect(await handshake(certificates, { ...certificates, authorities: make().authorities })).not.toBe("answered");
  });

  it("understands the other side before, while and after both get certificates of the next authority", async () => {
    const [next, afterNext] = [maker.authority(validity), maker.authority(validity)];
    const joined = (...each: readonly string[]): string => each.map((one) => `${one.trimEnd()}\n`).join("");
    const before = { ...certificates, authorities: joined(certificates.authorities, next.certificate) };
    const authorities = joined(certificates.authorities, next.certificate, afterNext.certificate);
    const after = { ...maker.certificates(next, NAMES, validity), authorities };
    for (const server of [before, after]) for (const client of [before, after]) expect(await handshake(server, client)).toBe("answered");
    // Who never trusted the next authority, as every instance was not before there were announcements.
    expect(await handshake(after, certificates)).not.toBe("answered");
  });

  it("is not trusted after the certificates have expired", async () => {
    const old = make({ from: millis(Date.now() - 2 * HOUR), until: millis(Date.now() - HOUR) });
    expect(await handshake(old, old)).not.toBe("answered");
  });

  async function handshake(ours: EngineCertificates, theirs: EngineCertificates): Promise<string> {
    const server = createServer(
      { key: ours.server.key, cert: ours.server.certificate, ca: ours.authorities, requestCert: true, rejectUnauthorized: true },
      (socket: TLSSocket) => socket.end("answered"),
    );
    server.on("tlsClientError", () => undefined);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return new Promise((resolve) => {
      const socket = connect({
        host: "127.0.0.1",
        port,
        servername: "argocd-repo-server",
        ca: theirs.authorities,
        key: theirs.client.key,
        cert: theirs.client.certificate,
      });
      socket.on("data", (data) => resolve(data.toString()));
      socket.on("error", (error) => resolve(error.message));
      socket.on("close", () => resolve("closed"));
    });
  }
});
