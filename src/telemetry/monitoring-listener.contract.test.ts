import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHealthRegistry, type HealthRegistry } from "./health.ts";
import { createMonitoringListener, type MonitoringListener } from "./monitoring-listener.ts";
import { createPromMetrics } from "./prom-metrics.ts";

let readiness: HealthRegistry;
let listener: MonitoringListener;
let url: string;
beforeEach(async () => {
  readiness = createHealthRegistry();
  const metrics = createPromMetrics({ process: false });
  metrics.counter("things_total", "Things.").add(3);
  listener = createMonitoringListener({ readiness, metrics });
  url = await listener.listen({ host: "127.0.0.1", port: 0 });
});
afterEach(() => listener.close());

describe("the monitoring listener", () => {
  it("says that the process lives, whatever that waits for", async () => {
    readiness.register({ name: "database", check: () => ({ ok: false, detail: "away" }) });
    const answer = await fetch(`${url}/livez`);
    expect([answer.status, await answer.json()]).toEqual([200, { ok: true }]);
  });

  it("says what the process waits for, a sentence for each check, and when it waits no more", async () => {
    const forget = readiness.register({ name: "database", check: () => ({ ok: false, detail: "nobody answers there" }) });
    const waiting = await fetch(`${url}/readyz`);
    expect(waiting.status).toBe(503);
    expect(await waiting.json()).toEqual({ ok: false, checks: [{ name: "database", ok: false, detail: "nobody answers there" }] });
    forget();
    expect((await fetch(`${url}/readyz?verbose`)).status).toBe(200);
  });

  it("gives Prometheus the metrics", async () => {
    const answer = await fetch(`${url}/metrics`);
    expect(answer.headers.get("content-type")).toMatch(/^text\/plain/);
    expect(await answer.text()).toContain("things_total 3");
  });

  it("answers a HEAD without a body, and refuses what it does not serve", async () => {
    const head = await fetch(`${url}/livez`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect((await fetch(`${url}/livez`, { method: "POST", body: "x" })).status).toBe(405);
    for (const path of ["/", "/constructor", "/livez/", "//readyz"]) expect((await fetch(`${url}${path}`)).status).toBe(404);
  });

  it("answers others while somebody sends nothing, or half a request, and ends those too", async () => {
    const silent = ["", "GET /livez HTTP/1.1\r\nHo"].map((text) => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1");
      socket.on("error", () => {});
      socket.write(text);
      return new Promise((ended) => socket.once("close", ended));
    });
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    await listener.close();
    await Promise.all(silent);
  });

  it("names its port and its setting where that is taken", async () => {
    const other = createMonitoringListener({ readiness, metrics: createPromMetrics({ process: false }) });
    await expect(other.listen({ host: "127.0.0.1", port: Number(new URL(url).port) })).rejects.toMatchObject({
      name: "UnavailableError",
      code: "monitoring.port-busy",
      message: expect.stringContaining("monitoring.port"),
    });
  });
});
