import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFaultProxy, type FaultProxy } from "./fault-proxy.ts";
import { until } from "./testing/until.ts";

describe("the fault proxy", () => {
  const directory = mkdtempSync(join(tmpdir(), "proxy-"));
  let arrived = "";
  const echo = createServer((socket) => {
    socket.on("error", () => undefined).pipe(socket);
    socket.on("data", (chunk: Buffer) => {
      arrived += chunk.toString().slice(0, 100);
    });
  });
  const file = join(directory, "ports.json");
  const sockets: Socket[] = [];
  let proxy: FaultProxy;
  const target = () => ({ host: "127.0.0.1", port: (echo.address() as AddressInfo).port });

  beforeAll(async () => {
    echo.listen(0, "127.0.0.1");
    await once(echo, "listening");
    proxy = createFaultProxy({ target: target(), file });
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await proxy.close();
    echo.close();
    rmSync(directory, { recursive: true });
  });

  interface Talk {
    readonly socket: Socket;
    heard(): string;
    failure(): string | undefined;
  }

  async function talk(party: string): Promise<Talk> {
    const socket = connect({ host: "127.0.0.1", port: await proxy.portFor(party) });
    let [heard, failure]: [string, string | undefined] = ["", undefined];
    socket.on("data", (chunk: Buffer) => {
      heard += chunk.toString();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      failure = error.code;
    });
    sockets.push(socket);
    await Promise.race([once(socket, "connect"), once(socket, "close")]).catch(() => undefined);
    return { socket, heard: () => heard, failure: () => failure };
  }
  const hears = (one: Talk, text: string) =>
    until(
      text,
      () => one.heard(),
      (heard) => heard === text,
    );

  it("lets everything through while nothing is disturbed", async () => {
    const one = await talk("a");
    const big = "x".repeat(3_000_000);
    one.socket.write(big);
    await hears(one, big);
  });

  it("cuts off one party and no other", async () => {
    const [one, other] = [await talk("b"), await talk("c")];
    await proxy.disturb("b", { kind: "cut" });
    await until(
      "the reset",
      () => one.failure(),
      (code) => code === "ECONNRESET",
    );
    const again = await talk("b");
    await until("another reset", () => again.failure() ?? again.socket.closed, Boolean);
    other.socket.write("still here");
    await hears(other, "still here");
    await proxy.restore("b");
    const restored = await talk("b");
    restored.socket.write("back");
    await hears(restored, "back");
  });

  it("refuses, then listens on the same port again", async () => {
    const port = await proxy.portFor("d");
    await proxy.disturb("d", { kind: "refuse" });
    const one = await talk("d");
    expect(one.failure()).toBe("ECONNREFUSED");
    await proxy.restore("d");
    expect(await proxy.portFor("d")).toBe(port);
    const two = await talk("d");
    two.socket.write("hello");
    await hears(two, "hello");
  });

  it("keeps silent connections open and delivers later what was sent on them", async () => {
    const one = await talk("e");
    one.socket.write("before ");
    await hears(one, "before ");
    await proxy.disturb("e", { kind: "silent" });
    one.socket.write("during");
    const other = await talk("e");
    other.socket.write("new");
    await proxy.restore("e");
    await hears(one, "before during");
    await hears(other, "new");
    expect(one.failure()).toBeUndefined();
  });

  it("passes on what a muted party sends, and loses the answers", async () => {
    const one = await talk("mute");
    one.socket.write("before ");
    await hears(one, "before ");
    await proxy.disturb("mute", { kind: "mute" });
    one.socket.write("an order");
    await until(
      "the order at the server",
      () => arrived,
      (all) => all.includes("an order"),
    );
    await proxy.restore("mute");
    await until(
      "the reset",
      () => one.failure(),
      (code) => code === "ECONNRESET",
    );
    expect(one.heard()).toBe("before ");
    const other = await talk("mute");
    other.socket.write("after");
    await hears(other, "after");
  });

  it("forgets existing connections without closing them, and accepts new ones", async () => {
    const one = await talk("forget");
    one.socket.write("before");
    await hears(one, "before");
    await proxy.disturb("forget", { kind: "forget" });
    one.socket.write("into the void");
    const other = await talk("forget");
    other.socket.write("new");
    await hears(other, "new");
    await proxy.restore("forget");
    other.socket.write(" and on");
    await hears(other, "new and on");
    expect([one.heard(), one.failure(), one.socket.closed, arrived.includes("void")]).toEqual(["before", undefined, false, false]);
  });

  it("delays both ways, in order", async () => {
    await proxy.disturb("f", { kind: "delay", ms: 100 });
    const one = await talk("f");
    const started = performance.now();
    one.socket.write("1");
    await hears(one, "1");
    expect(performance.now() - started).toBeGreaterThan(190);
    one.socket.write("2");
    await proxy.restore("f");
    one.socket.write("3");
    await hears(one, "123");
  });

  it("leads a party elsewhere and back, and knows which party a connection belongs to", async () => {
    const callers: (number | undefined)[] = [];
    const other = createServer((socket) => {
      callers.push(socket.on("error", () => undefined).remotePort);
      socket.write("elsewhere");
    });
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    const one = await talk("led");
    await proxy.divert("led", (other.address() as AddressInfo).port);
    await until(
      "the reset",
      () => one.failure(),
      (code) => code === "ECONNRESET",
    );
    const led = await talk("led");
    const port = led.socket.localPort;
    await hears(led, "elsewhere");
    expect(await proxy.originOf(callers[0] ?? 0)).toBe(port);
    await proxy.divert("led", undefined);
    const back = await talk("led");
    back.socket.write("back");
    await hears(back, "back");
    other.close();
  });

  it("remembers the parties' ports", async () => {
    const port = await proxy.portFor("g");
    expect(proxy.parties()).toContain("g");
    await proxy.close();
    proxy = createFaultProxy({ target: target(), file });
    expect(await proxy.portFor("g")).toBe(port);
  });
});
