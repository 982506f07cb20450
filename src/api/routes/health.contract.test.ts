import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { VerdictState } from "../../domain/health.ts";
import type { Instance } from "../../domain/instance.ts";
import { CLEARED } from "../../domain/ownership.ts";
import { createWorld } from "../../store/testing/world.ts";
import { type Served, serveApi } from "../testing/served.ts";

const never = new AbortController().signal;

describe("the health of an instance that the watchdog calls frozen", () => {
  let served: Served;
  let unjudged: Instance;
  let judged: Instance;
  beforeAll(async () => {
    served = await serveApi();
    const world = createWorld(served.store);
    [unjudged, judged] = [await world.addInstance({ name: "standard-1" }), await world.addInstance({ name: "standard-2" })];
    await judge(judged, "stalled");
    for (const instance of [unjudged, judged]) await report(instance, "FROZEN");
  });
  afterAll(() => served.close());

  const judge = async (instance: Instance, state: VerdictState) => {
    const at = millis(Date.now());
    const said = { state, cause: "redis", component: "redis", text: "redis does not serve it" } as const;
    const verdict = { ...said, instanceId: instance.id, at, since: at, evidence: [], baseline: undefined };
    await served.store.health.record([{ sample: { at, signals: {} }, verdict, keepSince: at }], never);
  };
  const report = async ({ id, name }: Instance, verdict: string) => {
    const details = { key: `FROZEN ${id}`, instances: [id], reason: `${name} does not answer: its controller stands still` };
    await served.store.decisions.append(
      [{ at: millis(Date.now()), subject: id, kind: "ownership", verdict, rule: verdict, details }],
      never,
    );
  };
  const textOf = async ({ name }: Instance) => (await served.call("GET", `/v1/health/${name}`)).body["text"];
  const listed = async () => {
    const { body } = await served.call("GET", "/v1/health");
    return (body["items"] as readonly { readonly text: string }[]).map(({ text }) => text);
  };

  it("says so where nobody has judged it, and keeps to its verdict where it has one", async () => {
    const said = "nobody has observed it yet; the watchdog reports FROZEN: standard-1 does not answer: its controller stands still";
    expect(await textOf(unjudged)).toBe(said);
    expect(await textOf(judged)).toBe("redis does not serve it");
    expect(await listed()).toEqual(["redis does not serve it", said]);
    await report(unjudged, CLEARED);
    expect(await textOf(unjudged)).toBe("nobody has observed it yet");
  });
});
