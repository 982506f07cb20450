import { beforeEach, describe, expect, it, vi } from "vitest";
import { createSeededRng } from "../../runtime/rng.ts";
import { createVirtualClock, type VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { silentLog } from "../../telemetry/log.ts";
import { createPromMetrics } from "../../telemetry/prom-metrics.ts";
import { resourceKey } from "../keys.ts";
import { aPolicy } from "../testing/builders.ts";
import { type CredentialOutcome, OBSERVE_AGAIN_MS } from "./outcome.ts";
import type { RepositoryTarget } from "./port.ts";
import { createRepositoryProbes, type RepositoryProbes, type WantedProbe } from "./try-repositories.ts";

const AT_ONCE = 4;
const { egress } = aPolicy();

describe("probes of repositories", () => {
  let clock: VirtualClock;
  let probes: RepositoryProbes;
  let metrics: ReturnType<typeof createPromMetrics>;
  let under: { readonly target: RepositoryTarget; readonly end: (outcome: CredentialOutcome) => void }[];
  let asked: RepositoryTarget[];
  beforeEach(() => {
    clock = createVirtualClock();
    metrics = createPromMetrics({ process: false });
    [under, asked] = [[], []];
    probes = createRepositoryProbes({
      observer: {
        observe(target) {
          asked.push(target);
          return new Promise((resolve) => under.push({ target, end: resolve }));
        },
      },
      ...{ observationsAtOnce: AT_ONCE, clock, rng: createSeededRng("probes"), log: silentLog, metrics },
    });
    probes.start();
  });
  const keyOf = (name: string, namespace = name) => resourceKey("api", { namespace, name });
  const wanted = (url: string, token = "t0ken", stamp = `${url} ${token}`): WantedProbe => ({
    address: { url: `https://git.example/${url}`, key: url, scheme: "https", host: "git.example", port: 443 } as WantedProbe["address"],
    secret: { kind: "bearer", token },
    stamp,
  });
  const settled = () => clock.advance(0);
  /** Ends what runs, and what begins then, until nothing does. */
  const answerAll = async (outcome: CredentialOutcome = "readable") => {
    await settled();
    while (under.length > 0) {
      for (const { end } of under.splice(0)) end(outcome);
      await settled();
    }
  };
  const gauge = async (name: string) => Number((await metrics.text()).match(new RegExp(`^${name} (.*)$`, "m"))?.[1]);

  it("begin at once for what is new, however many are to be repeated", async () => {
    for (let index = 0; index < 100; index += 1) {
      const { stamp } = wanted(`old-${index}`);
      probes.assume(keyOf(`old-${index}`), stamp);
    }
    await clock.advance(2 * OBSERVE_AGAIN_MS);
    for (let index = 0; index < 100; index += 1) probes.ask(keyOf(`old-${index}`), wanted(`old-${index}`), egress);
    await settled();
    expect(under).toHaveLength(AT_ONCE - 1);
    await clock.advance(30_000);
    expect(await gauge("argosy_repository_probe_lag_seconds")).toBe(30);
    probes.ask(keyOf("new"), wanted("new"), egress);
    await settled();
    expect(asked.at(-1)?.url).toBe("https://git.example/new");
    // What is repeated takes turns and comes to an end.
    await answerAll();
    expect(asked).toHaveLength(101);
    expect(await gauge("argosy_repository_probe_lag_seconds")).toBe(0);
  });

  it("begin at once for one that waits to be repeated and has changed", async () => {
    for (const name of ["a", "b", "c", "d", "e"]) probes.assume(keyOf(name), wanted(name).stamp);
    await clock.advance(2 * OBSERVE_AGAIN_MS);
    for (const name of ["a", "b", "c", "d", "e"]) probes.ask(keyOf(name), wanted(name), egress);
    await settled();
    probes.ask(keyOf("e"), wanted("e", "another"), egress);
    await settled();
    expect(asked.at(-1)?.secret).toMatchObject({ token: "another" });
    await answerAll();
    expect(asked.filter(({ url }) => url.endsWith("/e"))).toHaveLength(1);
    expect(probes.last(keyOf("e"))).toMatchObject({ stamp: wanted("e", "another").stamp });
  });

  it("serve all rows of one workspace with the same URL and secret, and no other workspace or secret", async () => {
    const heard = vi.fn();
    probes.subscribe(heard);
    for (const name of ["one", "two", "three"]) probes.ask(keyOf(name, "jane"), { ...wanted("repo"), stamp: name }, egress);
    probes.ask(keyOf("other", "jane"), wanted("repo", "another"), egress);
    probes.ask(keyOf("one", "anna"), wanted("repo"), egress);
    await settled();
    // One workspace has two at once.
    await answerAll();
    // Of the three two run at once, and the last takes what they have shown.
    const tokens = asked.map(({ secret }) => (secret as { readonly token: string }).token).sort();
    expect(tokens).toEqual(["another", "t0ken", "t0ken", "t0ken"]);
    expect(heard).toHaveBeenCalledTimes(5);
  });

  it("that were taken lately serve a repeated one, and none that somebody asks for anew", async () => {
    probes.ask(keyOf("one", "jane"), { ...wanted("repo"), stamp: "one" }, egress);
    await answerAll();
    await clock.advance(60_000);
    probes.ask(keyOf("two", "jane"), { ...wanted("repo"), stamp: "two", isRepeated: true }, egress);
    await answerAll();
    expect(asked).toHaveLength(1);
    expect(probes.last(keyOf("two", "jane"))).toMatchObject({ outcome: "readable" });
    // Another workspace proves by itself that it can read it, and another secret of this one too.
    probes.ask(keyOf("two", "anna"), { ...wanted("repo"), stamp: "two", isRepeated: true }, egress);
    probes.ask(keyOf("other", "jane"), { ...wanted("repo", "another"), stamp: "other", isRepeated: true }, egress);
    await answerAll();
    expect(asked.splice(1)).toHaveLength(2);
    probes.ask(keyOf("three", "jane"), { ...wanted("repo"), stamp: "three" }, egress);
    await answerAll();
    expect(asked).toHaveLength(2);
    await clock.advance(OBSERVE_AGAIN_MS);
    probes.ask(keyOf("four", "jane"), { ...wanted("repo"), stamp: "four", isRepeated: true }, egress);
    await answerAll();
    expect(asked).toHaveLength(3);
  });

  it("that showed nothing good are made again for a repeated one", async () => {
    probes.ask(keyOf("one", "jane"), { ...wanted("repo"), stamp: "one" }, egress);
    await answerAll("denied");
    await clock.advance(1_000);
    probes.ask(keyOf("two", "jane"), { ...wanted("repo"), stamp: "two", isRepeated: true }, egress);
    await answerAll();
    expect(asked).toHaveLength(2);
  });

  it("are repeated after about ten minutes, later where there are more than can be made, and not all at the same time", async () => {
    for (let index = 0; index < 50; index += 1) probes.ask(keyOf(`n-${index}`), wanted(`n-${index}`), egress);
    await answerAll();
    const due = Array.from({ length: 50 }, (_, index) => probes.ask(keyOf(`n-${index}`), wanted(`n-${index}`), egress));
    expect(Math.min(...due)).toBeGreaterThanOrEqual(0.9 * OBSERVE_AGAIN_MS);
    expect(Math.max(...due)).toBeLessThanOrEqual(1.1 * OBSERVE_AGAIN_MS);
    expect(Math.max(...due) - Math.min(...due)).toBeGreaterThan(0.1 * OBSERVE_AGAIN_MS);
    expect(await gauge("argosy_repository_probe_period_seconds")).toBe(600);
    for (let index = 0; index < 20_000; index += 1) probes.assume(keyOf(`more-${index}`), "stamp");
    expect(await gauge("argosy_repository_probe_period_seconds")).toBeGreaterThan(600);
    expect(probes.ask(keyOf("n-1"), wanted("n-1"), egress)).toBeGreaterThan(1.2 * OBSERVE_AGAIN_MS);
  });
});
