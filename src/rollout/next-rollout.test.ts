import { describe, expect, it } from "vitest";
import { type Millis, millis } from "../domain/clock.ts";
import type { InstanceObservation, Rollout } from "../domain/rollout.ts";
import { AT } from "../store/testing/builders.ts";
import { nextRollout } from "./next-rollout.ts";
import { A, anObservation, aPlannedRollout, B, someFacts } from "./testing/facts.ts";
import { type RolloutFacts, versionOf } from "./waves.ts";

const MINUTE = 60_000;
const BAKE_MS = 600_000;
const GOOD = { done: 200, failed: 0 };

/** A rollout in a fleet that follows its orders at once. Time passes between steps. */
function drive(
  over: { readonly rollout?: Rollout; readonly observation?: (now: Millis, rollout: Rollout) => Partial<InstanceObservation> } = {},
) {
  let rollout = over.rollout ?? aPlannedRollout();
  let now: Millis = AT;
  const verdicts: string[] = [];
  const observe = (afterMs: number, facts: Partial<RolloutFacts> = {}): Rollout => {
    now = millis(now + afterMs);
    const observations = new Map(
      rollout.waves.flatMap(({ instances }) =>
        instances.map((one) => {
          const runs = versionOf(rollout, one) ?? one.from;
          return [one.id, anObservation(now, { runs, syncs: GOOD, ...over.observation?.(now, rollout) })] as const;
        }),
      ),
    );
    const next = nextRollout(someFacts({ now, rollout, observations, ...facts }));
    if (next.verdict !== undefined) verdicts.push(next.verdict);
    rollout = next.rollout;
    return rollout;
  };
  return { observe, verdicts, now: () => now };
}

const toBake = ({ observe }: ReturnType<typeof drive>) => [1, 2, 3].forEach(() => observe(5_000));

describe("the next step of a rollout", () => {
  it("upgrades the canary first, bakes it, goes on to the next wave and ends", () => {
    const driven = drive();
    const { observe, verdicts } = driven;
    const first = observe(0);
    expect(first.waves[0]?.instances[0]).toMatchObject({ askedAt: AT, baseline: { applications: 100, fresh: 100 } });
    expect(first.waves[1]?.instances.every(({ askedAt }) => askedAt === undefined)).toBe(true);
    toBake(driven);
    expect(observe(BAKE_MS - 10_001).wave).toBe(0);
    expect(observe(1).wave).toBe(1);
    expect(observe(5_000).waves[1]?.instances.map(({ askedAt }) => askedAt)).toEqual([expect.any(Number), expect.any(Number)]);
    toBake(driven);
    const done = observe(BAKE_MS);
    expect(done).toMatchObject({ state: "DONE", note: "all of it runs 3.5.7" });
    expect(done.waves.map(({ passed }) => [passed?.rule, passed?.readings.length])).toEqual(Array(2).fill(["SYNCS", 10]));
    expect(verdicts).toEqual(["WAVE", "BAKED", "WAVE", "DONE"]);
    expect(observe(5_000).state).toBe("DONE");
  });

  it("gives instances of one engine cluster the release two at a time, five in an emergency", () => {
    const instances = Array.from({ length: 7 }, (_, index) => ({
      ...aPlannedRollout().waves[0]?.instances[0],
      id: `i-${index}`,
      name: `n-${index}`,
    }));
    const asked = (isEmergency: boolean) => {
      const [wave] = aPlannedRollout().waves;
      const rollout = aPlannedRollout({ isEmergency, waves: [{ ...wave, instances } as never] });
      const ids = instances.map(({ id }) => id as never);
      const rows = new Map(ids.map((id) => [id, { state: "ACTIVE" }] as const));
      const next = nextRollout(
        someFacts({
          rollout,
          instances: rows as never,
          observations: new Map(ids.map((id) => [id, anObservation(AT, { runs: "3.5.6" })])),
        }),
      );
      return next.rollout.waves[0]?.instances.filter(({ askedAt }) => askedAt !== undefined).length;
    };
    expect(asked(false)).toBe(2);
    expect(asked(true)).toBe(5);
  });

  it("waits for a freeze to end, which an emergency does not", () => {
    const freeze = "weekend: quiet";
    expect(drive().observe(0, { freeze })).toMatchObject({ note: "canary: a freeze holds: weekend: quiet" });
    expect(drive({ rollout: aPlannedRollout({ isEmergency: true }) }).observe(0, { freeze }).note).toBe("canary: upgrading one");
  });

  it("upgrades no instance that was not observed before, and none that has left", () => {
    expect(nextRollout(someFacts({ observations: new Map() })).rollout.note).toContain("waiting for instances to be seen");
    const gone = new Map([[A, { state: "RETIRED", cause: undefined }] as const, [B, { state: "ACTIVE", cause: undefined }] as const]);
    const driven = drive();
    expect(driven.observe(0, { instances: gone })).toMatchObject({ wave: 1, note: "canary: passed" });
  });

  it("P7: rolls the wave back as soon as a gate shuts, and is FAILED once the old release runs", () => {
    const driven = drive({
      observation: (_now, { state }) => (state === "RUNNING" ? { crashes: ["pod ends again and again (2 times)"] } : {}),
    });
    driven.observe(0);
    const rolledBack = driven.observe(5_000);
    expect(rolledBack).toMatchObject({
      state: "ROLLING_BACK",
      ending: { as: "FAILED", reason: "one: pod ends again and again (2 times)" },
    });
    const [canary] = rolledBack.waves[0]?.instances ?? [];
    expect(canary && versionOf(rolledBack, canary)).toBe("3.5.6");
    expect(driven.observe(1_000, { observations: new Map([[A, anObservation(driven.now(), { runs: "3.5.7" })]]) }).state).toBe(
      "ROLLING_BACK",
    );
    expect(driven.observe(1_000, { observations: new Map() }).state).toBe("ROLLING_BACK");
    expect(driven.observe(5_000)).toMatchObject({ state: "FAILED" });
    expect(driven.verdicts).toEqual(["WAVE", "ROLLING_BACK", "FAILED"]);
  });

  it("rolls only its own wave back, and keeps the release where earlier waves have passed", () => {
    const driven = drive({ observation: (_now, { wave, state }) => (wave === 1 && state === "RUNNING" ? { crashes: ["pod"] } : {}) });
    driven.observe(0);
    toBake(driven);
    driven.observe(BAKE_MS);
    driven.observe(5_000);
    const rollout = driven.observe(5_000);
    expect(rollout.state).toBe("ROLLING_BACK");
    const versions = rollout.waves.flatMap(({ instances }) => instances.map((one) => versionOf(rollout, one)));
    expect(versions).toEqual(["3.5.7", "3.5.6", "3.5.6"]);
  });

  it("waits a minute for a share that is too large to pass, and no longer", () => {
    let faulty = 50;
    const driven = drive({ observation: () => ({ faulty, runs: "3.5.7" }) });
    driven.observe(0, { observations: new Map([[A, anObservation(AT, { runs: "3.5.6" })]]) });
    expect(driven.observe(5_000)).toMatchObject({ state: "RUNNING", note: expect.stringContaining("watching whether it passes") });
    driven.observe(MINUTE - 1);
    faulty = 0;
    expect(driven.observe(0).waves[0]?.suspect).toBeUndefined();
    faulty = 50;
    driven.observe(0);
    expect(driven.observe(MINUTE)).toMatchObject({ state: "ROLLING_BACK" });
  });

  it("does not end a bake before the controller was observed to compare an application", () => {
    const driven = drive({ observation: () => ({ newestReconciledAt: millis(AT - MINUTE) }) });
    driven.observe(0);
    toBake(driven);
    const late = (ms: number) => driven.observe(ms, { resyncMs: BAKE_MS });
    expect(late(BAKE_MS).note).toBe("canary: waiting for one to compare an application");
    expect(late(2 * MINUTE)).toMatchObject({
      state: "ROLLING_BACK",
      ending: { reason: expect.stringContaining("compared no application") },
    });
  });

  describe("when syncs are too few to tell", () => {
    const FEW = { done: 10, failed: 0 };
    const bakeTwice = (rollout: Partial<Rollout>, syncs = FEW) => {
      const driven = drive({ rollout: aPlannedRollout(rollout), observation: () => ({ syncs }) });
      driven.observe(0);
      toBake(driven);
      const once = driven.observe(BAKE_MS);
      return { driven, once, twice: driven.observe(BAKE_MS) };
    };

    it("bakes twice as long, then asks a person, who may approve", () => {
      const { driven, once, twice } = bakeTwice({});
      expect(once).toMatchObject({ state: "RUNNING", waves: [{ isExtended: true }, {}] });
      expect(twice).toMatchObject({ state: "ASKING", note: expect.stringMatching(/0 of 10 syncs failed.*argosy rollout approve/) });
      expect(driven.observe(BAKE_MS).state).toBe("ASKING");
      expect(driven.verdicts).toEqual(["WAVE", "EXTENDED", "ASKED"]);
      const [canary, ...rest] = twice.waves;
      const approved = { ...twice, state: "RUNNING", waves: [{ ...canary, isApproved: true }, ...rest] } as Rollout;
      expect(drive({ rollout: approved }).observe(30 * MINUTE).wave).toBe(1);
    });

    it("needs no answer any more when enough syncs have come, and bakes the next wave as usual", () => {
      const observation = (now: Millis) => ({ syncs: now < AT + 3 * BAKE_MS ? FEW : GOOD });
      const driven = drive({ observation });
      driven.observe(0);
      toBake(driven);
      driven.observe(BAKE_MS);
      expect(driven.observe(BAKE_MS).state).toBe("ASKING");
      expect(driven.observe(BAKE_MS)).toMatchObject({ state: "RUNNING", wave: 1 });
      expect(driven.observe(5_000).waves[1]?.instances.every(({ askedAt }) => askedAt !== undefined)).toBe(true);
      toBake(driven);
      expect(driven.observe(BAKE_MS - 20_000).state).toBe("RUNNING");
      expect(driven.observe(20_000).state).toBe("DONE");
    });

    it("goes on by itself where they do not speak against it: after the second bake if unattended, at once in an emergency", () => {
      expect(bakeTwice({ isUnattended: true }).twice.wave).toBe(1);
      expect(bakeTwice({ isUnattended: true }, { done: 10, failed: 1 }).twice.state).toBe("ASKING");
      expect(bakeTwice({ isEmergency: true }).once.wave).toBe(1);
    });

    it("fails when they speak against it, over all waves together", () => {
      const driven = drive({ observation: () => ({ syncs: { done: 60, failed: 6 } }) });
      driven.observe(0);
      expect(driven.observe(5_000)).toMatchObject({ state: "ROLLING_BACK", ending: { reason: "6 of 60 syncs failed" } });
    });
  });

  it("upgrades nothing more while it is paused, but still rolls back a failing wave", () => {
    const paused = aPlannedRollout({ state: "PAUSED", note: "paused by ada" });
    expect(drive({ rollout: paused }).observe(0)).toBe(paused);
    const driven = drive({ observation: (_now, { state }) => (state === "PAUSED" ? { outOfMemory: ["redis"] } : {}) });
    const asked = driven.observe(0);
    expect(drive({ rollout: { ...asked, state: "PAUSED" }, observation: () => ({ outOfMemory: ["redis"] }) }).observe(5_000).state).toBe(
      "ROLLING_BACK",
    );
  });

  it("says what keeps instances from a rollback to a release that is no longer declared", () => {
    const failed = drive({ observation: () => ({ outOfMemory: ["redis"] }) });
    failed.observe(0);
    failed.observe(5_000);
    const gone = failed.observe(5_000, { released: ["3.5.7"], observations: new Map() }).note;
    expect(gone).toMatch(/waiting for one to run 3\.5\.6, which is not in the catalogue of fleet\.yaml any more: put it back/);
    expect(failed.observe(5_000, { released: ["3.5.6", "3.5.7"], observations: new Map() }).note).toMatch(
      /waiting for one to run 3\.5\.6$/,
    );
  });

  it("has nothing to roll back where no release was assigned yet", () => {
    const aborted = aPlannedRollout({ state: "ROLLING_BACK", ending: { as: "ABORTED", reason: "aborted by ada" } });
    expect(drive({ rollout: aborted }).observe(0)).toMatchObject({ state: "ABORTED", note: "aborted by ada" });
  });

  it("is the same object, and decides nothing, when nothing changes", () => {
    const driven = drive();
    driven.observe(0);
    const before = driven.observe(1_000);
    expect(driven.observe(1_000)).not.toBe(before);
    const settled = driven.observe(1_000);
    expect(driven.observe(1_000)).toBe(settled);
    expect(nextRollout(someFacts({ rollout: aPlannedRollout({ waves: [] }) })).verdict).toBe("DONE");
  });
});
