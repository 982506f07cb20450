import { beforeEach, describe, expect, it, vi } from "vitest";
import { GoneError, InputError, RefusedError } from "../domain/errors.ts";
import type { RolloutId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { RolloutOrder } from "../domain/rollout.ts";
import { createCountingIds } from "../runtime/ids.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../store/adapters/memory/memory-store.ts";
import { aFleet, aPool } from "../store/testing/builders.ts";
import { createWorld, soon } from "../store/testing/world.ts";
import { createRolloutRequests, type RolloutRequests } from "./request-rollouts.ts";

const entry = (version: string) => ({ version, image: `argocd:v${version}`, redisImage: "redis:8", crds: "/crds" });
const anOrder = (over: Partial<RolloutOrder> = {}): RolloutOrder => ({
  ...{
    version: "3.5.7",
    pool: undefined,
    mode: "in-place",
    isEmergency: false,
    isUnattended: false,
    bakeMs: undefined,
    actor: "ada",
    reason: "new",
  },
  ...over,
});

describe("requests for rollouts", () => {
  let store: MemoryStore;
  let requests: RolloutRequests;
  beforeEach(async () => {
    const clock = createVirtualClock();
    store = createMemoryStore({ clock });
    requests = createRolloutRequests({ store, clock, ids: createCountingIds() });
    const versions = { default: "3.5.6", floor: "3.5.1", catalogue: ["3.3.10", "3.4.7", "3.5.6", "3.5.7"].map(entry) };
    await store.fleet.applyFleet(aFleet({ versions, pools: [aPool("standard"), aPool("large")] }), "ada", soon());
    const { addInstance } = createWorld(store);
    const old = { version: "3.5.6", desiredVersion: "3.5.6" };
    for (const pool of ["standard", "standard", "large"]) await addInstance({ pool, ...old });
    await addInstance({ pool: "standard", state: "DRAINING", ...old });
    await addInstance({ pool: "large", version: "3.3.10", desiredVersion: "3.3.10" });
    await addInstance({ pool: "large", version: "3.5.7", desiredVersion: "3.5.7" });
  });
  const sizeOf = ({ waves }: { readonly waves: readonly { readonly instances: readonly unknown[] }[] }) =>
    waves.reduce((total, { instances }) => total + instances.length, 0);

  it("drafts a rollout over the instances that serve, do not have the release and may have it, and changes nothing", async () => {
    const { rollout, refused } = await requests.draft(anOrder(), soon());
    expect(sizeOf(rollout)).toBe(3);
    expect(refused).toEqual([{ instance: expect.any(String), reason: expect.stringContaining("leaves out minors") }]);
    expect(sizeOf((await requests.draft(anOrder({ pool: "standard" }), soon())).rollout)).toBe(2);
    expect(await store.rollouts.list(10, soon())).toEqual([]);
  });

  it("plans to empty instances where that is ordered, with empty ones first, and refuses those whose units no instance could take", async () => {
    const { rollout, refused } = await requests.draft(anOrder({ mode: "drain" }), soon());
    expect(rollout).toMatchObject({ mode: "drain", waves: [{ name: "spare" }] });
    expect(sizeOf(rollout)).toBe(3);
    expect(refused).toHaveLength(1);
    const classes = new Map((await store.fleet.listInstances(soon())).map((one) => [one.id, one]));
    const held = vi.spyOn(store.placements, "readFleet").mockImplementation(
      async (name) =>
        ({
          class: name,
          units: [],
          instances: [...classes.values()]
            .filter((one) => one.class === name)
            .map((instance) => ({ instance, load: instance.capacity, units: 4 })),
        }) as never,
    );
    const busy = await requests.draft(anOrder({ mode: "drain", pool: "standard" }), soon());
    held.mockRestore();
    expect(busy.rollout.waves).toEqual([]);
    expect(busy.refused.map(({ reason }) => reason)).toEqual(
      Array(2).fill(expect.stringMatching(/no instance of its class runs 3\.5\.7 or holds nothing/)),
    );
  });

  describe("where a channel is first", () => {
    const declare = async (offered: readonly string[]) => {
      const channels = [{ name: "early", default: "3.5.6", versions: offered, first: true as const }];
      const versions = { default: "3.5.6", floor: "3.5.1", catalogue: ["3.5.6", "3.5.7", "3.5.8"].map(entry), channels };
      const early = aPool("early", { class: { region: "eu", tier: "shared", trust: "public", channel: "early" } });
      await store.fleet.applyFleet(aFleet({ versions, pools: [aPool("standard"), early] }), "ada", soon());
    };
    const addEarly = (version: string, over: Partial<Instance> = {}) =>
      createWorld(store).addInstance({
        ...{ name: "early-1", pool: "early", class: "eu/shared/public/early", version, desiredVersion: version },
        ...over,
      });
    const drafted = async (over: Partial<RolloutOrder> = {}) => {
      const { rollout, refused } = await requests.draft(anOrder(over), soon());
      return { waves: rollout.waves.map(({ name, instances }) => [name, instances.map((one) => one.name)]), refused };
    };

    it("begins a rollout with its instances", async () => {
      await declare(["3.5.6", "3.5.7"]);
      await addEarly("3.5.6");
      const { waves } = await drafted();
      expect(waves[0]).toEqual(["cohort canary", ["early-1"]]);
      expect(sizeOf((await requests.draft(anOrder(), soon())).rollout)).toBe(4);
    });

    it.each([
      ["its channel does not have the release", ["3.5.6"], {}, "its channel early does not have 3.5.7"],
      ["the rollout is of another pool", ["3.5.6", "3.5.7"], { pool: "standard" }, "this rollout is not of its pool early"],
      ["it cannot be emptied", ["3.5.6", "3.5.7"], { mode: "drain", pool: undefined }, "no instance of its class runs 3.5.7"],
    ] as const)("refuses all others where %s, but in an emergency", async (_why, offered, over, reason) => {
      await declare(offered);
      const { id } = await addEarly("3.5.6");
      const readFleet = store.placements.readFleet.bind(store.placements);
      vi.spyOn(store.placements, "readFleet").mockImplementation(async (name, signal) => {
        const fleet = await readFleet(name, signal);
        return { ...fleet, instances: fleet.instances.map((one) => (one.instance.id === id ? { ...one, units: 4 } : one)) };
      });
      const { waves, refused } = await drafted(over);
      expect(waves).toEqual([]);
      const text = `instances of channel early get a release first, and early-1 would stay at 3.5.6: ${reason}`;
      const others = refused.filter(({ instance }) => instance !== "early-1");
      expect(others.filter((one) => one.reason.includes(text)).length).toBeGreaterThanOrEqual(2);
      await expect(requests.create(anOrder(over), soon())).rejects.toThrow("get a release first, and early-1 would stay");
      expect((await drafted({ ...over, isEmergency: true })).waves.length).toBeGreaterThan(0);
      vi.restoreAllMocks();
    });

    it("lets the others have what its instances run already, or are past, and does not wait for one that does not serve", async () => {
      await declare(["3.5.6", "3.5.7", "3.5.8"]);
      await addEarly("3.5.7");
      await addEarly("3.5.8", { name: "early-2" });
      await addEarly("3.5.6", { name: "early-3", state: "FAILED" });
      expect((await drafted({ pool: "standard" })).waves.map(([name]) => name)).toEqual(["canary", "100 %"]);
      await addEarly("3.5.6", { name: "early-4", state: "CORDONED" });
      expect((await drafted({ pool: "standard" })).waves).toEqual([]);
    });
  });

  it.each([
    [{ version: "3.3.10" }, "version", /below the security floor/],
    [{ version: "9.9.9" }, "version", /not in versions\.catalogue/],
    [{ pool: "small" }, "pool", /small is no pool/],
  ])("refuses %j", async (over, path, message) => {
    const failure = await requests.create(anOrder(over), soon()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(InputError);
    expect(failure).toMatchObject({ code: "rollout.version", path, message: expect.stringMatching(message) });
  });

  it("refuses a downgrade to an older minor's CRDs, and a second rollout while one is live", async () => {
    await expect(requests.create(anOrder({ version: "3.4.7" }), soon())).rejects.toThrow(/older minor|below the security floor/);
    const first = await requests.create(anOrder(), soon());
    await expect(requests.create(anOrder(), soon())).rejects.toThrow(new RegExp(`rollout ${first.id} of 3.5.7 is RUNNING`));
    const [entryOf] = await store.decisions.list({ subject: first.id }, 1, soon());
    expect(entryOf).toMatchObject({
      kind: "rollout",
      verdict: "CREATED",
      rule: "COMMAND",
      details: { actor: "ada", version: "3.5.7", reason: "new" },
    });
  });

  it("takes commands in the states they are for, each with its journal entry", async () => {
    const { id } = await requests.create(anOrder(), soon());
    const order = (command: "pause" | "resume" | "approve" | "abort") =>
      requests.command(id, { command, actor: "bob", reason: "so" }, soon());
    await expect(order("resume")).rejects.toBeInstanceOf(RefusedError);
    await expect(order("approve")).rejects.toThrow(/is RUNNING: approve is for one that is ASKING/);
    expect(await order("pause")).toMatchObject({ state: "PAUSED", note: "paused by bob: so" });
    expect(await order("resume")).toMatchObject({ state: "RUNNING" });
    const running = await store.rollouts.read(id, soon());
    if (running === undefined) throw new Error("it was there a moment ago");
    await store.rollouts.change({ rollout: { ...running, state: "ASKING" }, decision: undefined }, soon());
    expect(await order("approve")).toMatchObject({
      state: "RUNNING",
      waves: [{ isApproved: true }, {}, {}].slice(0, running.waves.length),
    });
    expect(await order("abort")).toMatchObject({ state: "ROLLING_BACK", ending: { as: "ABORTED", reason: "aborted by bob: so" } });
    await expect(order("abort")).rejects.toBeInstanceOf(RefusedError);
    const verdicts = (await store.decisions.list({ subject: id }, 10, soon())).map(({ verdict }) => verdict);
    expect(verdicts).toEqual(["ABORTING", "APPROVED", "RESUMED", "PAUSED", "CREATED"]);
    await expect(requests.command("nobody" as RolloutId, { command: "pause", actor: "bob", reason: "so" }, soon())).rejects.toBeInstanceOf(
      GoneError,
    );
  });

  it("unfreezes a frozen release, and refuses one that is not frozen", async () => {
    await expect(requests.unfreeze("3.5.7", "ada", soon())).rejects.toBeInstanceOf(GoneError);
    const rollout = await requests.create(anOrder(), soon());
    await store.rollouts.change({ rollout: { ...rollout, state: "FAILED" }, decision: undefined, freezes: "3.5.7" }, soon());
    await expect(requests.create(anOrder(), soon())).rejects.toThrow(/3\.5\.7 is frozen/);
    await requests.unfreeze("3.5.7", "ada", soon());
    expect(await requests.create(anOrder(), soon())).toMatchObject({ state: "RUNNING" });
  });
});
