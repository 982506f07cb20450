import process from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingForRealNode } from "../../hack/dev-cluster/real-node/requirements.ts";
import { ROLES } from "../../src/domain/role.ts";
import { IS_LONG, until } from "../world.ts";
import { imageOfCheckout } from "./argosy-image.ts";
import { type AttackWorld, type Entry, openAttack } from "./attack-world.ts";
import { CHART, type ChartCluster, imageValues, RELEASE, startChartCluster } from "./chart-cluster.ts";
import { killWholeContainers } from "./harm.ts";
import { isReady, type Pod } from "./pods.ts";

const { signal } = new AbortController();
const missing = missingForRealNode();
const skip = IS_LONG ? missing && `${missing.why}. ${missing.remedy}` : "only long runs fill memories (ARGOSY_LONG=1)";
const found = skip === undefined ? await imageOfCheckout(signal) : { skip };
if ("skip" in found) process.stdout.write(`chart: the attack on a memory is not tried: ${found.skip}\n`);

const MINUTE_MS = 60_000;
/** How long what is awaited may take, in ms. Far more than it takes. */
const DEADLINE_MS = 20 * MINUTE_MS;
/** Two cores suffice for two instances beside it. */
const SMALL = {
  replicas: 1,
  workloads: Object.fromEntries(ROLES.map((role) => [role, { resources: { requests: { cpu: "20m" }, limits: { memory: "1Gi" } } }])),
};
/** What a repo-server may take. It takes some 100 MiB for itself, and Git a process of the size of the file that it fetches. */
const MEMORY = "256Mi";
const ATTACK = { repositories: 2, bytes: 200 * 2 ** 20, everyMs: 3_000 };
const say = (text: string): void => void process.stdout.write(`chart: ${text}\n`);

describe.skipIf("skip" in found)("a tenant whose repository takes more memory to fetch than a shared repo-server has", () => {
  let cluster: ChartCluster;
  let world: AttackWorld;
  let kernel: { end(): void } | undefined;
  let attack: { end(): Promise<void> } | undefined;
  const values = (quarantines: number): string => {
    if ("skip" in found) throw new Error(found.skip);
    const config = { apiCluster: { singleServer: true }, health: { periodMs: 5_000, quarantines } };
    const resources = {
      controller: { memory: "1Gi", cpu: "2" },
      repoServer: { memory: MEMORY, cpu: "1" },
      redis: { memory: "128Mi", cpu: "100m" },
    };
    const pool = { instances: { min: 1, max: 2 }, resources };
    return cluster.valuesFile(`values-${quarantines}`, { ...SMALL, image: imageValues(found.image), config }, { pool });
  };
  const helm = async (...args: readonly string[]): Promise<void> => {
    expect(await cluster.helm([...args, "--wait", "--timeout", "8m"])).toMatchObject({ code: 0 });
  };
  /** When the first of an instance's repo-servers was killed, once one was. */
  const awaitKill = async (instance: string | undefined): Promise<number> => {
    const of = () => world.repoServers(instance);
    return Math.min(...killTimes(await world.awaitAnswer("a killed repo-server", of, (pods) => killTimes(pods).length > 0, DEADLINE_MS)));
  };
  const awaitEntry = async (what: string, since: number, is: (entry: Entry) => boolean): Promise<Entry> => {
    const find = async () => (await world.journal()).toReversed().find((entry) => Date.parse(entry.at) >= since && is(entry));
    const entry = await world.awaitAnswer(what, find, (one) => one !== undefined, DEADLINE_MS);
    if (entry === undefined) throw new Error(`there is no ${what}`);
    return entry;
  };
  beforeAll(async () => {
    if ("skip" in found) return;
    cluster = await startChartCluster({ nodes: 1, images: [found.image] }, signal);
    world = openAttack(cluster, ATTACK, signal);
    kernel = killWholeContainers("argocd-repo-server");
    await helm("install", RELEASE, CHART, "--values", values(0));
    await world.prepare();
  });
  afterAll(async () => {
    await attack?.end();
    kernel?.end();
    await cluster?.stop();
  });

  it("has it killed for its neighbours too, again and again, and is named by the journal, while nobody is isolated", async () => {
    say(`quiet: ${(await world.pushFor(MINUTE_MS / 2)).text}`);
    const { neighbour } = await world.holders();
    attack = await world.beginAttack();
    const named = (async () => {
      const killedAt = await awaitKill(neighbour);
      const after = ({ at, text }: Entry): string => `${seconds(Date.parse(at) - killedAt)} after the first kill: ${text}`;
      say(after(await awaitEntry("verdict", killedAt - MINUTE_MS, ({ verdict, rule }) => verdict === "FAILED" && rule === "MEMORY")));
      const advice = await awaitEntry("advice", killedAt - MINUTE_MS, ({ verdict }) => verdict === "QUARANTINE");
      say(after(advice));
      expect(advice.text).toContain("give video an instance of its own");
    })();
    const pushes = await world.pushUntil(named, 3 * MINUTE_MS);
    await named;
    say(`under the attack: ${pushes.text}`);
    say(`the repo-server was killed ${killsOf(await world.repoServers(neighbour))} times`);
    expect((await world.holders()).tenant).toBe(neighbour);
  });

  it("lives on an instance of its own soon after that is allowed, and its neighbours have peace", async () => {
    await helm("upgrade", RELEASE, CHART, "--values", values(1));
    const { neighbour } = await world.holders();
    // A new pod, for which Kubernetes' pauses between restarts begin anew: the first of these kills is to be seen as such.
    for (const { metadata } of await world.repoServers(neighbour))
      await cluster.kubectl(["delete", "pod", "--namespace", metadata.namespace ?? "", metadata.name]);
    const alone = (async () => {
      const killedAt = await awaitKill(neighbour);
      const after = (entry: Entry): string => `${seconds(Date.parse(entry.at) - killedAt)} after the first kill: ${entry.text}`;
      say(after(await awaitEntry("beginning", killedAt - MINUTE_MS, ({ verdict, rule }) => verdict === "QUARANTINE" && rule === "MEMORY")));
      const isEnd = ({ verdict, rule }: Entry): boolean => verdict === "QUARANTINE" && rule !== "MEMORY";
      const { tenant } = await world.awaitAnswer(
        "two instances, or the end",
        async () => ({ ...(await world.holders()), ended: (await world.journal()).some((entry) => isEnd(entry)) }),
        (seen) => seen.tenant !== seen.neighbour || seen.ended,
        DEADLINE_MS,
      );
      say(`${seconds(Date.now() - killedAt)} after the first kill: the tenant is on ${tenant}, its neighbour on ${neighbour}`);
      const ended = await awaitEntry("end", killedAt, isEnd);
      say(after(ended));
      expect(ended.rule).toBe("DONE");
      return tenant;
    })();
    say(`until it was alone: ${(await world.pushUntil(alone)).text}`);
    const tenant = await alone;
    const leftAt = performance.now();
    const isWell = (pods: readonly Pod[]): boolean => pods.length > 0 && pods.every(isReady);
    const atPeace = await until("the neighbour's repo-server", () => world.repoServers(neighbour), isWell, DEADLINE_MS);
    say(`the neighbour's repo-server, which was replaced, was ready ${seconds(performance.now() - leftAt)} later`);
    const afterwards = await world.pushFor(1.5 * MINUTE_MS);
    say(`afterwards: ${afterwards.text}`);
    expect(afterwards.lost).toBe(0);
    expect(killsOf(await world.repoServers(neighbour))).toBe(killsOf(atPeace));
    expect((await world.instances()).find(({ name }) => name === tenant)?.state).toBe("CORDONED");
    const own = await world.awaitAnswer(
      "a kill on its own instance",
      () => world.repoServers(tenant),
      (pods) => killsOf(pods) > 0,
      DEADLINE_MS,
    );
    say(`the tenant's own repo-server was killed ${killsOf(own)} times by then`);
  });
});

const seconds = (ms: number): string => `${(ms / 1000).toFixed(0)} s`;

function killTimes(pods: readonly Pod[]): readonly number[] {
  return pods.flatMap(({ status }) =>
    (status?.containerStatuses ?? []).flatMap(({ state, lastState }) =>
      [state, lastState].flatMap((each) => {
        const { reason, finishedAt } = each?.terminated ?? {};
        return reason === "OOMKilled" && finishedAt !== undefined ? [Date.parse(finishedAt)] : [];
      }),
    ),
  );
}

/** How often their containers have ended. One that waits to be started again has ended once more than it was started again. */
function killsOf(pods: readonly Pod[]): number {
  const counts = pods.flatMap(({ status }) =>
    (status?.containerStatuses ?? []).map(({ restartCount, state, lastState }) => {
      const isDown = state?.running === undefined && (state?.terminated ?? lastState?.terminated) !== undefined;
      return restartCount + (isDown ? 1 : 0);
    }),
  );
  return counts.reduce((sum, each) => sum + each, 0);
}
