import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CalibrationView } from "../src/api/routes/calibration.ts";
import type { HealthReportView } from "../src/api/routes/health.ts";
import type { DecisionView, InstanceView } from "../src/api/schema.ts";
import { again } from "./again.ts";
import { inSeconds } from "./in-seconds.ts";
import { BUSY, type OverloadWorld, openOverload, type Probe, ROOMY, WATCHED } from "./overload-world.ts";
import { IS_LONG, openWorld, report, until, type World } from "./world.ts";

const OVERLOAD_MS = 60_000;
const HEALTH = { periodMs: 5_000, graceMs: 5_000, overloadMs: OVERLOAD_MS };
/** The story takes a quarter of an hour on an idle machine; a busy one may take twice as long. */
const DEADLINE_MS = 45 * 60_000;
const TIMEOUT_MS = 15 * 60_000;
/** By then pushes of neighbours have to be as fast as before. */
const BACK_MS = 5 * 60_000;
/** Pushes of each workspace, before and after. */
const ENOUGH = 20;

interface Said {
  readonly atMs: number;
  readonly words: string;
}

describe.runIf(IS_LONG)("an instance that one workspace overloads", () => {
  let world: World;
  let overload: OverloadWorld;
  beforeAll(async () => {
    world = openWorld(DEADLINE_MS + 2 * TIMEOUT_MS);
    overload = openOverload(world);
    await overload.settle(HEALTH);
  }, TIMEOUT_MS);
  afterAll(() => overload.close(), TIMEOUT_MS);

  const healthOf = (name: string) => world.rest.get<HealthReportView>(`/v1/health/${name}`);
  const judged = (name: string, isReached: (found: HealthReportView) => boolean) =>
    until(`a verdict on ${name}`, () => healthOf(name), isReached, TIMEOUT_MS);
  const journalOf = async (name: string): Promise<readonly DecisionView[]> => {
    const instance = (await world.rest.all<InstanceView>("/v1/instances")).find((each) => each.name === name);
    const asked = { kind: "health", subject: instance?.id ?? "" };
    return (await world.rest.get<{ readonly items: readonly DecisionView[] }>("/v1/decisions", asked)).items;
  };

  it(
    "is reported, and relieved by live moves without a person, while others notice little",
    async () => {
      for (const name of [BUSY, ROOMY]) await judged(name, ({ state, cause }) => state === "healthy" && cause === "none");
      const uids = await overload.uids();
      expect([...uids.values()]).not.toContain(undefined);
      const [probes, said]: [Probe[], Said[]] = [[], []];
      const began = performance.now();
      const since = (from: number): number => Math.round((performance.now() - from) / 1_000);
      const watching = [
        await overload.watch(probes),
        again(1_000, async () => {
          const { state, cause } = await healthOf(BUSY);
          const words = `${state} ${cause}`;
          if (said.at(-1)?.words === words) return;
          said.push({ atMs: performance.now(), words });
          report(`overload: ${since(began)} s: ${BUSY} is ${words}`);
        }),
      ];
      const enough = (from: number) =>
        until(
          `${ENOUGH} pushes of each`,
          async () => WATCHED.map(({ name }) => probes.filter((each) => each.workspace === name && each.atMs >= from).length),
          (counts) => counts.every((count) => count >= ENOUGH),
          TIMEOUT_MS,
        );
      await enough(began);
      const noisyAt = performance.now();
      report(`overload: ${since(began)} s: the noise begins`);
      const noise = overload.noise();
      try {
        const reported = await judged(BUSY, ({ state }) => state === "overloaded");
        const reportedAt = performance.now();
        report(
          `overload: reported ${since(noisyAt)} s after the noise began, ${OVERLOAD_MS / 1_000} s of them to be believed: ` +
            reported.evidence.map(({ signal, value }) => `${signal} ${value?.toFixed(2) ?? "-"}`).join(", "),
        );
        expect(reported.cause).toBe("queue");
        expect(reported.evidence.filter(({ value }) => value !== null).length).toBeGreaterThan(0);
        expectLearnt(await world.rest.get<CalibrationView>(`/v1/instances/${BUSY}/calibration`));
        const ended = await judged(BUSY, ({ state }) => state !== "overloaded");
        report(`overload: ${ended.state} ${ended.cause} ${since(reportedAt)} s after it was reported`);
        await judged(BUSY, ({ state }) => state === "healthy");
        report(`overload: healthy ${since(reportedAt)} s after it was reported`);
        for (const { workspace, to, actor, reason, phase, tookMs, gapMs, createdAt } of await overload.moves())
          report(`overload: ${workspace} to ${to} by ${actor} for ${reason} at ${createdAt}: ${phase}, ${tookMs} ms, gap ${gapMs} ms`);
        const made = (await overload.moves()).filter(({ phase, reason }) => phase === "DONE" && reason === "HOT");
        expect(made.length).toBeGreaterThan(0);
        expect(made.every(({ to, actor }) => to === ROOMY && actor === "scheduler")).toBe(true);
        const backAt = Math.max(performance.now(), reportedAt + BACK_MS);
        await enough(backAt);
        for (const { name } of WATCHED)
          for (const [when, from, to] of [
            ["quiet", began, noisyAt],
            ["from the noise to the verdict", noisyAt, reportedAt],
            ["from the verdict to five minutes later", reportedAt, reportedAt + BACK_MS],
            ["later", reportedAt + BACK_MS, Number.POSITIVE_INFINITY],
          ] as const)
            report(`overload: ${name} ${when}: ${latencies(probes, name, [from, to], noisyAt)}`);
      } finally {
        await noise.end();
        for (const each of watching) await each.end();
      }
      expect(await overload.uids()).toEqual(uids);
      const journal = (await journalOf(BUSY)).map(({ verdict, rule }) => `${verdict} ${rule}`);
      expect(journal).toEqual(expect.arrayContaining(["OVERLOADED QUEUE", "SHED QUEUE"]));
      expect(journal.filter((each) => /^(RESTART|DRAIN|STALLED|FAILED)/.test(each))).toEqual([]);
      expect((await journalOf(ROOMY)).filter(({ verdict }) => verdict === "OVERLOADED")).toEqual([]);
    },
    DEADLINE_MS,
  );
});

/**
 * After an overload, calibration shows workers above their limit. It has doubts, unless it says that the instance
 * bears fewer applications than it has.
 */
function expectLearnt({ applications, binding, readings, doubts }: CalibrationView): void {
  const workers = readings.find((reading) => reading.bound === "workers");
  report(
    `overload: ${applications} applications took ${Math.round(100 * (workers?.highest ?? 0))} % of the workers' time at most in probes before it had ` +
      `more than it can; it is taken to bear ${workers?.bears}, bound by ${binding}, doubted because ${doubts.join("; ")}`,
  );
  expect(workers?.highest).toBeGreaterThan(workers?.limit ?? 0);
  expect((workers?.bears ?? 0) < applications || doubts.length > 0).toBe(true);
}

/** The median, the slowest, and those that took more than twice as long as the slowest of the quiet time. */
function latencies(probes: readonly Probe[], workspace: string, [from, to]: readonly [number, number], quietUntil: number): string {
  const own = probes.filter((each) => each.workspace === workspace).toSorted((a, b) => a.tookMs - b.tookMs);
  const quietMs = own.findLast(({ atMs }) => atMs < quietUntil)?.tookMs ?? 0;
  const within = own.filter(({ atMs }) => atMs >= from && atMs < to);
  const late = within.filter(({ tookMs }) => tookMs > 2 * quietMs);
  const reported = late.length === 0 ? within.slice(-1) : late;
  const middle = within[Math.floor(within.length / 2)];
  return (
    `${within.length} pushes, middle ${inSeconds(middle?.tookMs)}, ${late.length} later than twice its slowest quiet one; slowest: ` +
    reported.map((probe) => inWords(probe, quietUntil)).join("; ")
  );
}

function inWords({ atMs, tookMs, stages: { askedAt, observedAt, syncedAt } }: Probe, noisyAt: number): string {
  const stages = [askedAt, observedAt, syncedAt].map((at) => inSeconds(at === undefined ? undefined : at - atMs)).join(", ");
  return `${inSeconds(tookMs)}, ${Math.round((atMs - noisyAt) / 1_000)} s into the noise (${stages} until refresh requested, compared, synced)`;
}
