import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import { AT } from "../../store/testing/builders.ts";
import { aCount, anObservation, RESYNC_MS } from "../testing/facts.ts";
import { GATES, type Gate, type GateFacts, LATE_MS, READY_MS, shutGate, type Upgraded } from "./gates.ts";

const MINUTE = 60_000;
const anUpgraded = (over: Partial<Upgraded> = {}): Upgraded => ({
  ...{ name: "one", askedMsAgo: 20 * MINUTE, readyMsAgo: 19 * MINUTE, baseline: aCount(), observation: anObservation(AT) },
  ...over,
});
const factsOf = (...upgraded: readonly Upgraded[]): GateFacts => ({ version: "3.5.7", upgraded, resyncMs: RESYNC_MS });
const seen = (over: Parameters<typeof anObservation>[1]) => anUpgraded({ observation: anObservation(AT, over) });

/** For each gate, facts that just shut it, facts that just do not, and the text. */
const CASES: Readonly<Record<Gate, { readonly shut: Upgraded; readonly open: Upgraded; readonly text: RegExp }>> = {
  CRASHING: { shut: seen({ crashes: ["repo-server-x ends again and again (3 times)"] }), open: seen({}), text: /^one: repo-server-x/ },
  OUT_OF_MEMORY: { shut: seen({ outOfMemory: ["redis-x used more memory than it may"] }), open: seen({}), text: /^one: redis-x/ },
  NOT_READY: {
    shut: anUpgraded({ askedMsAgo: READY_MS, readyMsAgo: undefined }),
    open: anUpgraded({ askedMsAgo: READY_MS - 1, readyMsAgo: undefined }),
    text: /not all of its pods run 3\.5\.7 after 10 minutes/,
  },
  CANARY_SLOW: { shut: seen({ canaryLatencyMs: 30_000 }), open: seen({ canaryLatencyMs: 29_999 }), text: /waits for 30 s/ },
  FROZEN: {
    shut: seen({ newestReconciledAt: millis(AT - RESYNC_MS - LATE_MS - 1) }),
    open: seen({ newestReconciledAt: millis(AT - RESYNC_MS - LATE_MS) }),
    text: /compared no application for 240 s/,
  },
  PRUNED: { shut: seen({ pruned: 1 }), open: seen({ pruned: 0 }), text: /deleted what Git still holds of 1/ },
  CANNOT_COMPARE: {
    shut: seen({ faulty: 2 }),
    open: seen({ faulty: 1 }),
    text: /2 of 100 applications cannot be compared, before it were 0 of 100/,
  },
  STRAYED: { shut: seen({ strayed: 1, resynced: 1 }), open: seen({ strayed: 1 }), text: /2 of 100 applications differ/ },
  FEWER_COMPARISONS: { shut: seen({ fresh: 49 }), open: seen({ fresh: 50 }), text: /49 of 100 applications are compared in time/ },
};

describe("the gates of a release", () => {
  it.each(GATES)("%s shuts where it should, and not just before", (gate) => {
    const { shut, open, text } = CASES[gate];
    expect(shutGate(factsOf(shut))).toMatchObject({ gate, text: expect.stringMatching(text) });
    expect(shutGate(factsOf(open))).toBeUndefined();
  });

  it("say of an instance that cannot be observed only that it is not ready", () => {
    expect(shutGate(factsOf(anUpgraded({ observation: undefined })))).toBeUndefined();
    expect(shutGate(factsOf(anUpgraded({ observation: undefined, readyMsAgo: undefined })))?.gate).toBe("NOT_READY");
  });

  it("compare shares over all instances of the wave with those before", () => {
    const bad = anUpgraded({ baseline: aCount({ faulty: 10 }), observation: anObservation(AT, { faulty: 12 }) });
    expect(shutGate(factsOf(bad))?.gate).toBe("CANNOT_COMPARE");
    expect(shutGate(factsOf(bad, anUpgraded(), anUpgraded()))).toBeUndefined();
  });

  it("stay open when it is as bad as before", () => {
    const baseline = aCount({ faulty: 40, strayed: 30, fresh: 20 });
    expect(shutGate(factsOf(anUpgraded({ baseline, observation: anObservation(AT, baseline) })))).toBeUndefined();
  });

  it("take one more application for its user's mistake, however small the wave", () => {
    const few = { applications: 10, fresh: 10 };
    const gateOf = (faulty: number) =>
      shutGate(factsOf(anUpgraded({ baseline: aCount(few), observation: anObservation(AT, { ...few, faulty }) })))?.gate;
    expect(gateOf(1)).toBeUndefined();
    expect(gateOf(2)).toBe("CANNOT_COMPARE");
  });

  it("give a controller that has just started the time of one resync to compare something", () => {
    const never = { newestReconciledAt: undefined, fresh: 0 };
    expect(shutGate(factsOf(anUpgraded({ readyMsAgo: RESYNC_MS + LATE_MS, observation: anObservation(AT, never) })))).toBeUndefined();
    expect(shutGate(factsOf(anUpgraded({ readyMsAgo: RESYNC_MS + LATE_MS + 1, observation: anObservation(AT, never) })))?.gate).toBe(
      "FROZEN",
    );
    expect(shutGate(factsOf(anUpgraded({ observation: anObservation(AT, { ...never, applications: 0 }) })))).toBeUndefined();
    const few = (readyMsAgo: number) => factsOf(anUpgraded({ readyMsAgo, observation: anObservation(AT, { ...never, applications: 19 }) }));
    expect(shutGate(few(2 * RESYNC_MS + LATE_MS + 1))?.gate).toBe("FROZEN");
    expect(shutGate(few(2 * RESYNC_MS + LATE_MS))?.gate).not.toBe("FROZEN");
  });

  it("count at once where they name a pod or an instance, and after a minute where a restart alone can shut them", () => {
    const persistence = GATES.map((gate) => [gate, shutGate(factsOf(CASES[gate].shut))?.persistenceMs]);
    expect(persistence.filter(([, ms]) => ms === MINUTE).map(([gate]) => gate)).toEqual(["CANNOT_COMPARE", "STRAYED", "FEWER_COMPARISONS"]);
  });
});
