import { once } from "node:events";
import { request as plainRequest } from "node:http";
import { request } from "node:https";
import { connect, type PeerCertificate, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../runtime/clock.ts";
import { anAuthority, aServerCertificate } from "../runtime/testing/certificates.ts";
import { createMemoryStore, type MemoryStore } from "../store/adapters/memory/memory-store.ts";
import { type Api, createApi } from "./server.ts";
import { idleDeps } from "./testing/served.ts";

const authority = anAuthority();
const [first, second] = [aServerCertificate(["localhost", "127.0.0.1"], authority), aServerCertificate(["localhost"], authority)];

let store: MemoryStore;
let api: Api;
beforeEach(async () => {
  store = createMemoryStore({ clock: systemClock });
  api = await createApi(idleDeps(store), first);
});
afterEach(async () => {
  await api.close();
  await store.close();
});

const portOf = (url: string): number => Number(new URL(url).port);
/** A client that would speak anything from TLS 1.0 on. */
const handshake = async (url: string, maxVersion: "TLSv1.1" | "TLSv1.2" | "TLSv1.3" = "TLSv1.3"): Promise<TLSSocket> => {
  const lenient = { minVersion: "TLSv1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
  const at = { host: "127.0.0.1", port: portOf(url), servername: "localhost" };
  const socket = connect({ ...at, ...lenient, ca: authority.cert, maxVersion });
  await once(socket, "secureConnect");
  return socket;
};
const serialOf = async (url: string): Promise<string> => {
  const socket = await handshake(url);
  const { serialNumber }: PeerCertificate = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
};
const answer = async (url: string): Promise<string> => {
  const sent = request(url, { ca: authority.cert, agent: false });
  sent.end();
  const [response] = (await once(sent, "response")) as [AsyncIterable<Buffer>];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

describe("the REST API over TLS", () => {
  it.each(["127.0.0.1", "localhost"])("answers over HTTPS at %s, and says so in its URL", async (host) => {
    const url = await api.listen({ host, port: 0 });
    expect(url).toMatch(/^https:\/\//);
    expect(await answer(`https://localhost:${portOf(url)}/v1/version`)).toBe('{"version":"1.2.3"}');
  });

  it("speaks TLS 1.2 and later only", async () => {
    const url = await api.listen({ host: "127.0.0.1", port: 0 });
    await expect(handshake(url, "TLSv1.1")).rejects.toThrow(/alert protocol version/);
    (await handshake(url, "TLSv1.2")).destroy();
  });

  it("gives new connections a renewed certificate, and goes on with those that are there", async () => {
    const url = await api.listen({ host: "127.0.0.1", port: 0 });
    const before = await handshake(url);
    const serial = await serialOf(url);
    api.useCertificate(second);
    expect(await serialOf(url)).not.toBe(serial);
    before.write("GET /v1/version HTTP/1.1\r\nhost: localhost\r\n\r\n");
    const [text] = (await once(before, "data")) as [Buffer];
    expect(text.toString()).toContain("200 OK");
    before.destroy();
    await expect(handshake(url, "TLSv1.1")).rejects.toThrow(/alert protocol version/);
  });

  it("keeps the former certificate where the other one is broken", async () => {
    const url = await api.listen({ host: "127.0.0.1", port: 0 });
    const serial = await serialOf(url);
    expect(() => api.useCertificate({ cert: second.cert, key: first.key })).toThrow();
    expect(await serialOf(url)).toBe(serial);
  });

  it("answers nothing to who speaks plain HTTP", async () => {
    const url = await api.listen({ host: "127.0.0.1", port: 0 });
    const sent = plainRequest(url.replace("https:", "http:"), { agent: false });
    sent.end();
    await expect(once(sent, "response")).rejects.toThrow();
  });
});
