import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MoveView } from "../src/api/routes/moves.ts";
import type { DecisionView, WorkspaceView } from "../src/api/schema.ts";
import { CLASS_LABELS } from "../src/domain/names.ts";
import type { KubeObject, ResourceType } from "../src/runtime/kube/resource.ts";
import { refusalOf } from "./attacks/person.ts";
import { argosy, inOneLine } from "./command-line.ts";
import { type GroupWatch, watchGroups } from "./group-watch.ts";
import { inSeconds } from "./in-seconds.ts";
import { MOVE_TIMEOUT_MS } from "./moves-world.ts";
import { type NamespaceWriter, openNamespaceWriter } from "./namespace-writer.ts";
import { openPools, type PoolsWorld } from "./pools-world.ts";
import { configMapFile, openWorkspace, openWorld, report, TYPES, until, type Workspace, type World } from "./world.ts";

const POOL = "grouped";
const CUSTOMER = `${CLASS_LABELS}customer`;
const PRODUCT = `${CLASS_LABELS}product`;
/** Two customers that distrust each other. Each one's namespaces begin with its name. */
const [ACME, UMBRA] = ["acme", "umbra"];
const REPOSITORY = "landing";
const DEADLINE_MS = 30 * 60_000;
const EVENTS: ResourceType = { group: "", version: "v1", plural: "events", kind: "Event", namespaced: true };

/** Each story goes on where the one before ended, and the watch goes on through all of them. */
describe("groups that labels of namespaces make", () => {
  let world: World;
  let pools: PoolsWorld;
  let user: NamespaceWriter;
  let watch: GroupWatch;
  const workspaces = new Map<string, Workspace>();

  const declare = (instances: number) => {
    const groups = [
      { label: CUSTOMER, rule: "apart" },
      { label: PRODUCT, rule: "together" },
    ];
    const change = { workspaces: { ...(pools.document["workspaces"] as object), groups } };
    return pools.declare(pools.withPool({ name: POOL, instances: { min: instances, max: 4 } }, change));
  };
  const isActive = (found: { readonly state: string } | undefined): boolean => found?.state === "ACTIVE";
  const customerOf = (namespace: string) => [ACME, UMBRA].find((customer) => namespace.startsWith(`${customer}-`));
  const namesOf = (customer: string) => [...workspaces.keys()].filter((namespace) => customerOf(namespace) === customer);

  /** A namespace that the platform makes, and a deployment of its user in it. */
  const deploy = async (namespace: string, labels: Readonly<Record<string, string>>): Promise<Workspace> => {
    const metadata = { name: namespace, labels };
    await world.kube.apply(TYPES.namespace, { apiVersion: "v1", kind: "Namespace", metadata }, { fieldManager: "platform" }, world.signal);
    const workspace = await openWorkspace(world, namespace);
    workspaces.set(namespace, workspace);
    await workspace.apply("app", { repository: REPOSITORY, path: "app" });
    return workspace;
  };
  const deployOf = (customer: string, name: string) => deploy(`${customer}-${name}`, { [CUSTOMER]: customer });
  const label = (namespace: string, labels: Readonly<Record<string, string | null>>) =>
    world.kube.mergePatch(TYPES.namespace, { namespace: "", name: namespace }, { metadata: { labels } }, world.signal);
  /** The instances on which these live, each once. */
  const instancesOf = async (namespaces: readonly string[]): Promise<readonly (string | null | undefined)[]> => {
    const all = await world.rest.all<WorkspaceView>("/v1/workspaces");
    return [...new Set(namespaces.map((namespace) => all.find((one) => one.namespace === namespace)?.units[0]?.instance))];
  };
  const instanceOf = async (namespaces: readonly string[]): Promise<string> => {
    const [instance, ...others] = await instancesOf(namespaces);
    expect(others).toEqual([]);
    return instance ?? "";
  };
  /** The moves of these, to be read where something is not as expected. */
  const movesOf = async (namespaces: readonly string[]): Promise<readonly string[]> => {
    const all = await Promise.all(namespaces.map((workspace) => world.rest.all<MoveView>("/v1/moves", { workspace })));
    return all.flatMap((own, index) =>
      own.map(
        ({ phase, from, to, kind, plan, actor, message }) =>
          `${namespaces[index]}: ${kind} by ${actor}, plan ${plan}, ${from} to ${to}, ${phase}: ${message}`,
      ),
    );
  };
  const liveAt = (namespaces: readonly string[], instance: string) =>
    until(
      `${namespaces.join(", ")} on ${instance}`,
      async () => ({ instances: await instancesOf(namespaces), moves: await movesOf(namespaces) }),
      ({ instances }) => instances.length === 1 && instances[0] === instance,
      MOVE_TIMEOUT_MS,
    );
  const uidsOf = (namespaces: readonly string[]) =>
    Promise.all(namespaces.map(async (namespace) => (await workspaces.get(namespace)?.configMap("landing"))?.metadata.uid));
  const explained = async (namespace: string): Promise<string> => inOneLine((await argosy(world, "explain", namespace)).out);
  const saysOf = (namespace: string, words: string) =>
    until(
      `argosy explain ${namespace} say: ${words}`,
      () => explained(namespace),
      (text) => text.includes(words),
    );
  /** What is pushed now arrives at all of these. */
  const push = async (text: string): Promise<void> => {
    await world.git.commit(REPOSITORY, { "app/config.yaml": configMapFile("landing", { push: text }) });
    for (const workspace of workspaces.values()) await workspace.annotate("app", { "argosy.dev/refreshed-at": text });
    for (const workspace of workspaces.values())
      await until(
        `${workspace.namespace} at push ${text}`,
        () => workspace.configMap("landing"),
        (found) => found?.data?.["push"] === text,
      );
  };
  const expectNoMeeting = (): void => {
    expect([...watch.rows]).toEqual([]);
    expect([...watch.applications]).toEqual([]);
  };

  beforeAll(async () => {
    world = openWorld(DEADLINE_MS);
    pools = openPools(world);
    user = await openNamespaceWriter(world, "groups-user");
    await world.git.commit(REPOSITORY, { "app/config.yaml": configMapFile("landing", { push: "0" }) });
    await declare(2);
    for (const name of [`${POOL}-1`, `${POOL}-2`]) await pools.instance(name, "active", isActive);
    watch = await watchGroups(world, customerOf);
  });
  afterAll(async () => {
    await watch.close();
    await user.close();
    for (const name of workspaces.keys()) await world.kube.delete(TYPES.namespace, { namespace: "", name }, {}, world.signal);
    await pools.restore();
  }, DEADLINE_MS);

  it("keep two customers apart that come at once, and whoever of theirs comes later with them", async () => {
    await Promise.all([deployOf(ACME, "one"), deployOf(UMBRA, "one")]);
    for (const workspace of workspaces.values()) await workspace.settled("app");
    await Promise.all([deployOf(ACME, "two"), deployOf(UMBRA, "two"), deployOf(ACME, "three")]);
    for (const workspace of workspaces.values()) await workspace.settled("app");
    const instances = [await instanceOf(namesOf(ACME)), await instanceOf(namesOf(UMBRA))];
    expect(instances.sort()).toEqual([`${POOL}-1`, `${POOL}-2`]);
    expectNoMeeting();
  });

  it("are not the user's to choose: not by the label, nor by labels of other names and places", async () => {
    const [namespace] = namesOf(ACME);
    for (const value of [UMBRA, null]) {
      const refusal = await refusalOf(user.label(namespace ?? "", { [CUSTOMER]: value }));
      expect(refusal.message).toContain("needs the verb assign on classes of argosy.dev");
    }
    await user.label(namespace ?? "", { customer: UMBRA, "argosy.dev/customer": UMBRA });
    const at = { namespace: namespace ?? "", name: "app" };
    await world.kube.mergePatch(TYPES.deployment, at, { metadata: { labels: { [CUSTOMER]: UMBRA } } }, world.signal);
    await push("after labels of its own");
    expect(await explained(namespace ?? "")).toContain(`in groups by labels of its namespace: ${CUSTOMER}=${ACME} apart from other values`);
    expect(await instancesOf(namesOf(ACME))).toHaveLength(1);
    expect(await world.rest.all<MoveView>("/v1/moves", { workspace: namespace })).toEqual([]);
    expectNoMeeting();
  });

  it("are stronger than orders: a move and a pin to the other customer's instance are refused, and say of whom", async () => {
    const to = await instanceOf(namesOf(ACME));
    for (const order of ["move", "pin"]) {
      const { code, err, out } = await argosy(world, order, `${UMBRA}-one`, "--to", to, "--reason", "the story");
      expect([order, code]).toEqual([order, 1]);
      expect(inOneLine(`${out} ${err}`)).toMatch(new RegExp(`must be apart.*${CUSTOMER}=${ACME}|${CUSTOMER}=${ACME}.*must be apart`));
    }
    expectNoMeeting();
  });

  it("are stronger than a drain: who finds no other instance stays, and a new one waits. SREs read for whom, its user only that there is no room", async () => {
    const drained = await instanceOf(namesOf(UMBRA));
    const other = await instanceOf(namesOf(ACME));
    // One that is drained does not count, and would be replaced at once.
    await declare(1);
    const { out } = await until(
      "the drain of it refused for all",
      () => argosy(world, "drain", drained, "--reason", "the story"),
      (seen) => inOneLine(seen.out).includes(`has ${namesOf(UMBRA).length} left: nothing of it is under way`),
      MOVE_TIMEOUT_MS,
    );
    for (const namespace of namesOf(UMBRA))
      expect(inOneLine(out)).toMatch(new RegExp(`${namespace}, left: no instance can take it; .*${CUSTOMER}=${ACME}`));

    const late = await deployOf(UMBRA, "late");
    const waiting = await until(
      `${late.namespace} wait`,
      () => late.read("app"),
      (found) => found?.status?.conditions?.some(({ reason }) => reason === "WaitingForCapacity") === true,
    );
    const { items } = await world.kube.listPage<KubeObject>(EVENTS, { namespace: late.namespace }, world.signal);
    for (const seen of [JSON.stringify(waiting?.status), JSON.stringify(items)])
      for (const word of [ACME, POOL, CUSTOMER]) expect(seen).not.toContain(word);
    const why = await saysOf(late.namespace, `refused: ${other}, APART: nobody but ${CUSTOMER}=${UMBRA} is wanted, it has`);
    expect(why).toContain(`it has ${CUSTOMER}=${ACME}`);
    expect(why).toContain(`refused: ${drained}, it is DRAINING`);
    expect(await instancesOf([late.namespace])).toEqual([null]);
    expectNoMeeting();
  });

  it(
    "are served once there is an instance for them: who waited is placed there, who could not leave is handed over, and nothing is deleted",
    async () => {
      const drained = await instanceOf(namesOf(UMBRA).filter((namespace) => !namespace.endsWith("-late")));
      const uids = await uidsOf(namesOf(ACME));
      const since = performance.now();
      await declare(2);
      await pools.instance(`${POOL}-3`, "active", isActive);
      await workspaces.get(`${UMBRA}-late`)?.settled("app");
      expect(await instancesOf([`${UMBRA}-late`])).toEqual([`${POOL}-3`]);
      const left = await uidsOf(namesOf(UMBRA));
      await until(
        "the drain end",
        () => argosy(world, "drain", drained),
        ({ code }) => code === 0,
        MOVE_TIMEOUT_MS,
      );
      await liveAt(namesOf(UMBRA), `${POOL}-3`);
      report(`who waited for an instance of their own had it, and all had moved there, after ${inSeconds(performance.now() - since)}`);
      await push("after the drain");
      expect(await uidsOf(namesOf(UMBRA))).toEqual(left);
      expect(await uidsOf(namesOf(ACME))).toEqual(uids);
      expect([...left, ...uids]).not.toContain(undefined);
      const moves = await world.rest.all<MoveView>("/v1/moves", { workspace: `${UMBRA}-one` });
      expect(moves.map(({ phase, to }) => [phase, to])).toEqual([["DONE", `${POOL}-3`]]);
      expectNoMeeting();
    },
    DEADLINE_MS,
  );

  it(
    "bring those of one product together: a new one, one that is given the label, and all at once when they have to leave",
    async () => {
      const own = { [PRODUCT]: "shop" };
      const [place, ...others] = [`${POOL}-4`, await instanceOf(namesOf(ACME)), await instanceOf(namesOf(UMBRA))];
      await declare(3);
      await pools.instance(place, "active", isActive);
      for (const name of others) await pools.cordon(name, true);
      await (await deploy("shop-one", own)).settled("app");
      for (const name of others) await pools.cordon(name, false);
      await (await deploy("shop-two", own)).settled("app");
      await liveAt(["shop-one", "shop-two"], place);

      await pools.cordon(place, true);
      const third = await deploy("shop-three", {});
      await third.settled("app");
      expect(await instancesOf(["shop-three"])).not.toEqual([place]);
      await pools.cordon(place, false);
      const shops = ["shop-one", "shop-two", "shop-three"];
      const uids = await uidsOf(shops);
      await label("shop-three", own);
      await liveAt(shops, place);

      // Two are enough from now on: the drained one is not replaced.
      await declare(2);
      const dry = await argosy(world, "drain", place, "--dry-run");
      const targets = shops.map((namespace) => new RegExp(`${namespace}: ${place} → (\\S+),`).exec(inOneLine(dry.out))?.[1]);
      expect(new Set(targets).size).toBe(1);
      await until(
        "the drain end",
        () => argosy(world, "drain", place, "--reason", "the story"),
        ({ code }) => code === 0,
        MOVE_TIMEOUT_MS,
      );
      await liveAt(shops, targets[0] ?? "");
      expect(await uidsOf(shops)).toEqual(uids);
      expect(uids).not.toContain(undefined);
      await push("after the shops have moved");
      expectNoMeeting();
    },
    DEADLINE_MS,
  );

  it(
    "are reported by the watchdog where two share an instance all the same, and part by themselves as soon as one may leave",
    async () => {
      const { probes, changes } = watch.counts();
      report(`two customers never met, in ${probes} probes of the rows and ${changes} changes of Applications`);
      const [here, there] = [await instanceOf(namesOf(ACME)), await instanceOf(namesOf(UMBRA))];
      const planted = `${UMBRA}-late`;
      const uids = await uidsOf([planted]);
      const found = (await pools.instances()).find(({ name }) => name === here);
      const verdicts = async (): Promise<readonly string[]> => {
        const { items } = await world.rest.get<{ readonly items: readonly DecisionView[] }>("/v1/decisions", { kind: "ownership" });
        return items.filter(({ details }) => details["key"] === `NOT_APART ${found?.id} ${CUSTOMER}`).map(({ verdict }) => verdict);
      };
      const says = (verdict: string) => until(`the watchdog say ${verdict}`, verdicts, ([newest]) => newest === verdict, MOVE_TIMEOUT_MS);
      expect(await verdicts()).toEqual([]);

      // As by a database of before its label: its customer is forgotten, a person moves it, and its label is read again. No instance takes it then.
      await pools.cordon(there, true);
      await until(
        `${planted} handed over beside ${ACME}`,
        async () => {
          await forgetGroups(planted);
          await argosy(world, "move", planted, "--to", here, "--reason", "planted");
          return instancesOf([planted]);
        },
        ([instance]) => instance === here,
        MOVE_TIMEOUT_MS,
      );
      await user.label(planted, { "read-again": "now" });
      const since = performance.now();
      await says("NOT_APART");
      report(`two customers on one instance were reported after ${inSeconds(performance.now() - since)}`);
      const { out } = await argosy(world, "doctor");
      expect(inOneLine(out)).toContain(`${here} works for 2 values of ${CUSTOMER}, which must be apart`);
      expect([...watch.rows]).toEqual([`${here}: ${ACME}, ${UMBRA}`]);
      expect([...watch.applications]).toEqual([`argosy-${here}: ${ACME}, ${UMBRA}`]);

      await pools.cordon(there, false);
      await says("CLEARED");
      await liveAt(namesOf(UMBRA), there);
      expect(inOneLine((await argosy(world, "doctor")).out)).not.toContain("must be apart");
      expect(await uidsOf([planted])).toEqual(uids);
      await push("after they have parted");
    },
    DEADLINE_MS,
  );

  async function forgetGroups(namespace: string): Promise<void> {
    const client = new pg.Client(world.harness.databaseUrl);
    await client.connect();
    await client.query("update workspace set apart = null where namespace = $1", [namespace]);
    await client.end();
  }
});
