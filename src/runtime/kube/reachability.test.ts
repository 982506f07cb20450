import { beforeEach, describe, expect, it } from "vitest";
import { createVirtualClock, type VirtualClock } from "../testing/virtual-clock.ts";
import { createReachability, type Reachability, type Visit } from "./reachability.ts";

const never = new AbortController().signal;

let clock: VirtualClock;
let server: Reachability;
beforeEach(() => {
  clock = createVirtualClock();
  server = createReachability({ cluster: "far", clock });
});

const enter = (): Visit => server.enter(never);
const enterMany = (count: number): readonly Visit[] => Array.from({ length: count }, enter);
const isTurnedAway = (): boolean => {
  try {
    enter().left();
    return false;
  } catch (error) {
    expect(error).toMatchObject({ name: "UnavailableError", code: "kube.away", context: { cluster: "far" } });
    return true;
  }
};

describe("a server that does not answer", () => {
  it("is asked by everybody until three in a row found nobody, then by one at a time", () => {
    for (const visit of enterMany(2)) visit.failed();
    const [asking] = enterMany(2);
    asking?.failed();
    expect(isTurnedAway()).toBe(true);
  });

  it("is asked by the next as soon as the one who asked has found nobody", () => {
    for (const visit of enterMany(3)) visit.failed();
    for (let round = 0; round < 5; round += 1) {
      const asking = enter();
      expect(isTurnedAway()).toBe(true);
      asking.failed();
    }
    expect(isTurnedAway()).toBe(false);
  });

  it("is open to all again with its first answer", () => {
    for (const visit of enterMany(3)) visit.failed();
    const asking = enter();
    expect(isTurnedAway()).toBe(true);
    asking.answered();
    expect(enterMany(20)).toHaveLength(20);
  });

  it("does not count as away by failures between which it answered", () => {
    for (let round = 0; round < 5; round += 1) {
      for (const visit of enterMany(2)) visit.failed();
      enter().answered();
    }
    const waiting = enter();
    expect(isTurnedAway()).toBe(false);
    waiting.left();
  });

  it("is asked by the next when the one who asked gave up", () => {
    for (const visit of enterMany(3)) visit.failed();
    enter().left();
    expect(isTurnedAway()).toBe(false);
  });
});

describe("a server that is silent", () => {
  it("sends several away at once when none was answered for ten seconds", async () => {
    const visits = enterMany(6);
    await clock.advance(9_999);
    expect(visits.some(({ signal }) => signal.aborted)).toBe(false);
    await clock.advance(1);
    for (const { signal } of visits) expect(signal.reason).toMatchObject({ code: "kube.away" });
    for (const visit of visits) visit.failed();
    enter();
    expect(isTurnedAway()).toBe(true);
  });

  it("is believed to be slow while it answers anybody", async () => {
    const visits = enterMany(6);
    for (let round = 0; round < 10; round += 1) {
      await clock.advance(9_000);
      enter().answered();
    }
    expect(visits.some(({ signal }) => signal.aborted)).toBe(false);
  });

  it("may take as long as it likes over a few", async () => {
    const visits = enterMany(3);
    await clock.advance(600_000);
    expect(visits.some(({ signal }) => signal.aborted)).toBe(false);
  });

  it("sends away only those who waited that long", async () => {
    const visits = enterMany(4);
    await clock.advance(5_000);
    const late = enter();
    await clock.advance(5_000);
    expect(visits.every(({ signal }) => signal.aborted)).toBe(true);
    expect(late.signal.aborted).toBe(false);
  });

  it("is no reason to wait: a caller who stops is let go at once, and no timer stays behind", async () => {
    const abort = new AbortController();
    const visit = server.enter(abort.signal);
    abort.abort("enough");
    expect(visit.signal.reason).toBe("enough");
    visit.left();
    expect(clock.nextAt()).toBeUndefined();
    for (const each of enterMany(6)) each.answered();
    expect(clock.nextAt()).toBeUndefined();
  });

  it("lets go of a caller who stops while an answer is still coming, byte by byte", () => {
    const abort = new AbortController();
    const visit = server.enter(abort.signal);
    visit.answered();
    abort.abort("enough");
    expect(visit.signal.reason).toBe("enough");
    visit.left();
  });
});
