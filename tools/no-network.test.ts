import { createSocket } from "node:dgram";
import { request } from "node:http";
import { connect, createServer } from "node:net";
import { connect as connectTls } from "node:tls";
import { describe, expect, it } from "vitest";
import { takeRefused } from "./no-network.ts";

const SENTENCE = /^[\w.]+: a core test reaches no network and starts no server: rename its file to x\.contract\.test\.ts$/;

describe("a core test", () => {
  it.each<readonly [string, () => unknown]>([
    ["listens", () => createServer().listen(0)],
    ["connects", () => connect(59_999, "127.0.0.1")],
    ["connects with TLS", () => connectTls(59_999, "127.0.0.1")],
    ["asks with HTTP", () => request("http://127.0.0.1:59999").end()],
    ["binds a datagram socket", () => createSocket("udp4").bind(0)],
    ["sends a datagram", () => createSocket("udp4").send("x", 59_999, "127.0.0.1")],
  ])("that %s fails with the file name it should have", (_what, attempt) => {
    expect(attempt).toThrow(SENTENCE);
    // Asked here, or the setup of core would ask and turn this test red.
    expect(takeRefused().length).toBeGreaterThan(0);
  });

  it("whose code swallows the error is remembered", async () => {
    await expect(fetch("http://127.0.0.1:59999")).rejects.toThrow();
    expect(takeRefused()).toEqual([expect.stringMatching(SENTENCE)]);
  });
});
