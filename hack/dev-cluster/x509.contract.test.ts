import { createPrivateKey, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { createAuthority, createSigningKey, issueClient, issueServer } from "./x509.ts";

const subject = { commonName: "development cluster" };
const authority = createAuthority(subject);
const stranger = createAuthority(subject);

describe("certificates", () => {
  it("an authority signs itself and may sign others", () => {
    const certificate = new X509Certificate(authority.cert);
    expect(certificate.ca).toBe(true);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(authority.key))).toBe(true);
  });

  it("a server's certificate is its authority's, for its names alone", () => {
    const server = issueServer(authority, {
      subject: { commonName: "server" },
      names: ["localhost", "127.0.0.1", "kubernetes.default.svc"],
    });
    const certificate = new X509Certificate(server.cert);
    expect(certificate.verify(new X509Certificate(authority.cert).publicKey)).toBe(true);
    expect(certificate.verify(new X509Certificate(stranger.cert).publicKey)).toBe(false);
    expect(certificate.checkIssued(new X509Certificate(authority.cert))).toBe(true);
    expect(certificate.checkHost("localhost")).toBe("localhost");
    expect(certificate.checkIP("127.0.0.1")).toBe("127.0.0.1");
    expect(certificate.checkIP("127.0.0.2")).toBeUndefined();
    expect(certificate.checkHost("elsewhere")).toBeUndefined();
    expect(certificate.ca).toBe(false);
  });

  it("a client is named with its groups", () => {
    const client = issueClient(authority, { commonName: "admin", organizations: ["system:masters", "more"] });
    const certificate = new X509Certificate(client.cert);
    expect(certificate.subject).toBe("O=system:masters\nO=more\nCN=admin");
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(new Date(certificate.validFrom).getTime()).toBeLessThan(Date.now());
    expect(new Date(certificate.validTo).getTime()).toBeGreaterThan(Date.now() + 9 * 365 * 24 * 3_600_000);
  });

  it("two sides that trust the authority can speak TLS with each other, and see each other's name", async () => {
    const server = issueServer(authority, { subject: { commonName: "server" }, names: ["127.0.0.1"] });
    const client = issueClient(authority, { commonName: "someone" });
    const listener = createServer({ ...server, ca: authority.cert, requestCert: true });
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    const address = listener.address();
    const accepted = once(listener, "secureConnection");
    const socket = connect({
      host: "127.0.0.1",
      port: typeof address === "object" ? (address?.port ?? 0) : 0,
      ca: authority.cert,
      ...client,
    });
    await once(socket, "secureConnect");
    const [peer] = (await accepted) as [TLSSocket];
    expect(socket.authorized).toBe(true);
    expect(peer.authorized).toBe(true);
    expect(peer.getPeerCertificate().subject.CN).toBe("someone");
    socket.destroy();
    peer.destroy();
    listener.close();
  });

  it("a signing key comes with its public half", () => {
    const pair = createSigningKey();
    expect(pair.key).toContain("BEGIN PRIVATE KEY");
    expect(pair.publicKey).toContain("BEGIN PUBLIC KEY");
  });
});
