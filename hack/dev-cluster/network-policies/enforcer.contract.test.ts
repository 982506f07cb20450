import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { UnavailableError } from "../../../src/domain/errors.ts";
import { NAMESPACES } from "../../../src/runtime/kube/namespaces.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../src/runtime/kube/testing/fake-api-server.ts";
import { systemRng } from "../../../src/runtime/rng.ts";
import { createVirtualClock } from "../../../src/runtime/testing/virtual-clock.ts";
import { type Log, silentLog } from "../../../src/telemetry/log.ts";
import { noMetrics } from "../../../src/telemetry/metrics.ts";
import { podType } from "../process-node/pod.ts";
import { policyType } from "./cluster-objects.ts";
import { createPolicyEnforcer, type PolicyEnforcer } from "./enforcer.ts";
import type { PolicyTable } from "./nft.ts";
import { aNamespace, aPod, aPolicy, createPod } from "./testing/objects.ts";

const signal = new AbortController().signal;
const generous = { timeout: 20_000, interval: 10 };

/** A kernel's table in memory, with a history. */
function aTable(content?: string) {
  const state = { content, loads: [] as string[], checks: 0, refusal: undefined as string | undefined };
  const table: PolicyTable = {
    async load(script) {
      if (state.refusal !== undefined) throw new UnavailableError(state.refusal, { code: "dev.nft" });
      state.content = script;
      state.loads.push(script);
    },
    async isLoaded() {
      state.checks++;
      return state.content !== undefined;
    },
  };
  return { state, table };
}

describe("the enforcer of network policies", () => {
  let server: FakeApiServer;
  let enforcer: PolicyEnforcer | undefined;
  const clock = createVirtualClock();

  beforeEach(async () => {
    server = await startFakeApiServer();
    server.load(NAMESPACES, [aNamespace("shop")]);
    await createPod(server.client(), aPod("shop/web", "10.1.0.1", { labels: { app: "web" } }), signal);
  });
  afterEach(async () => {
    await enforcer?.stop();
    enforcer = undefined;
    await server.close();
  });

  const create = (table: PolicyTable, log: Log = silentLog, podRanges = ["10.1.0.0/24"]) => {
    const client = server.client();
    enforcer = createPolicyEnforcer({ client, table, podRanges, clock, rng: systemRng, log, metrics: noMetrics });
    return enforcer;
  };
  /** Lets the enforcer's time go on until something holds. */
  const reach = (check: () => void) =>
    vi.waitFor(async () => {
      await clock.advance(50);
      check();
    }, generous);
  const createPolicy = (name: string) =>
    server.client().create(policyType, aPolicy(`shop/${name}`, { podSelector: { matchLabels: { app: "web" } } }), signal);
  const begin = async (created: PolicyEnforcer, life = signal) => {
    const starting = created.start(life);
    let hasStarted = false;
    void starting.then(() => {
      hasStarted = true;
    });
    await reach(() => expect(hasStarted).toBe(true));
  };

  it("closes the pods' addresses before it knows any pod, and opens what policies leave open", async () => {
    const { state, table } = aTable();
    await begin(create(table));
    expect(state.loads).toHaveLength(2);
    expect(state.loads[0]).toContain("10.1.0.0/24");
    expect(state.loads[0]).not.toContain("10.1.0.1,");
    expect(state.loads[1]).toContain("10.1.0.1,");
    expect(enforcer?.status()).toEqual({
      ...{ isCurrent: true, policies: 0, pods: 1, problems: [], lastError: undefined },
      lastLoadAt: expect.any(Number),
    });
  });

  it("keeps the rules of an earlier enforcer until it knows better", async () => {
    const { state, table } = aTable("rules of before");
    await begin(create(table));
    expect(state.loads).toHaveLength(1);
  });

  it("loads what has changed, and nothing when nothing has", async () => {
    const { state, table } = aTable();
    await begin(create(table));
    await createPolicy("closed");
    await reach(() => expect(state.content).toContain('comment "shop/closed"'));
    expect(enforcer?.status()).toMatchObject({ isCurrent: true, policies: 1 });
    const { checks, loads } = { checks: state.checks, loads: state.loads.length };
    // A pod's status changes often, and seldom what policies judge it by.
    await server.client().mergePatch(podType, { namespace: "shop", name: "web" }, { metadata: { annotations: { seen: "yes" } } }, signal);
    await reach(() => expect(state.checks).toBeGreaterThan(checks));
    expect(state.loads).toHaveLength(loads);
    await server.client().delete(policyType, { namespace: "shop", name: "closed" }, {}, signal);
    await reach(() => expect(state.content).not.toContain("shop/closed"));
    expect(state.loads).toHaveLength(loads + 1);
  });

  it("gathers changes that come at once", async () => {
    const { state, table } = aTable();
    await begin(create(table));
    const loads = state.loads.length;
    const startedAt = clock.monotonicMs();
    await Promise.all(Array.from({ length: 20 }, (_, at) => createPolicy(`p${at}`)));
    await reach(() => expect(enforcer?.status()).toMatchObject({ isCurrent: true, policies: 20 }));
    expect(state.loads.length - loads).toBeLessThanOrEqual(2 + (clock.monotonicMs() - startedAt) / 250);
  });

  it("says why nft refuses, keeps trying, and recovers", async () => {
    const { state, table } = aTable();
    await begin(create(table));
    state.refusal = "Error: Could not process rule: No space left on device";
    await createPolicy("closed");
    await reach(() => expect(enforcer?.status()).toMatchObject({ isCurrent: false, lastError: { message: state.refusal } }));
    state.refusal = undefined;
    await reach(() => expect(enforcer?.status()).toMatchObject({ isCurrent: true, lastError: undefined }));
    expect(state.content).toContain("shop/closed");
  });

  it("closes the pods' addresses as soon as it can, also while the API server does not answer", async () => {
    const { state, table } = aTable();
    state.refusal = "Error: No such file or directory";
    const release = server.faults.hold({ path: /networkpolicies/ });
    const starting = create(table).start(signal);
    await reach(() => expect(enforcer?.status().lastError?.message).toBe(state.refusal));
    state.refusal = undefined;
    await reach(() => expect(state.content).toContain("10.1.0.0/24"));
    expect(state.content).not.toContain("10.1.0.1,");
    release();
    await reach(() => expect(state.content).toContain("10.1.0.1,"));
    await starting;
  });

  it("puts rules back that somebody removed", async () => {
    const { state, table } = aTable();
    await begin(create(table));
    state.content = undefined;
    await reach(() => expect(state.content).toBe(state.loads.at(-1)));
  });

  it("reports what it cannot enforce as it is written, once, and stays in force", async () => {
    const warnings: unknown[] = [];
    const log: Log = { ...silentLog, child: () => log, warn: (fields) => warnings.push(fields) };
    const { table } = aTable();
    await begin(create(table, log));
    const odd = aPolicy("shop/odd", { podSelector: {}, ingress: [{ ports: [{ protocol: "ICMP" as never }] }] });
    await server.client().create(policyType, odd, signal);
    const problem = { kind: "NetworkPolicy", namespace: "shop", name: "odd" };
    await reach(() => expect(enforcer?.status()).toMatchObject({ isCurrent: true, problems: [problem] }));
    await createPolicy("more");
    await reach(() => expect(enforcer?.status()).toMatchObject({ isCurrent: true, policies: 2 }));
    expect(warnings).toEqual([expect.objectContaining(problem)]);
  });

  it("stops with its signal and leaves the rules", async () => {
    const life = new AbortController();
    const { state, table } = aTable();
    await begin(create(table), life.signal);
    await reach(() => expect(server.openWatches()).toBe(3));
    life.abort();
    await reach(() => expect(server.openWatches()).toBe(0));
    expect(state.content).toBe(state.loads.at(-1));
    await enforcer?.stop();
  });

  it("rejects a start that is cut short", async () => {
    const { table } = aTable();
    await expect(create(table).start(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
    const created = create(table);
    const starting = created.start(signal);
    const failing = expect(starting).rejects.toThrow(UnavailableError);
    await created.stop();
    await failing;
  });

  it.each(["10.1.0.0/33", "web", ""])("refuses %j as a range of pods", (text) => {
    const { table } = aTable();
    expect(() => create(table, silentLog, [text])).toThrow("podRanges[0]");
  });
});
