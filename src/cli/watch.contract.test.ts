import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { planningDeps } from "../api/testing/planning-deps.ts";
import { type Served, serveApi } from "../api/testing/served.ts";
import { UnavailableError } from "../domain/errors.ts";
import type { InstanceId } from "../domain/ids.ts";
import { systemClock } from "../runtime/clock.ts";
import { type PlannedFleet, plannedFleet } from "../scheduler/testing/fleet.ts";
import type { DeploymentIntent } from "../store/intent/port.ts";
import { instanceColumns } from "./columns.ts";
import { type GetOptions, watchedResources } from "./get.ts";
import { moves } from "./moves.ts";
import type { OutputFormat } from "./output.ts";
import { createRestClient } from "./rest-client.ts";
import type { Column } from "./table.ts";
import { Interruption } from "./terminal.ts";
import { runCommand } from "./testing/run-command.ts";
import { type Listed, listed, type Row, type Watched, watchList } from "./watch.ts";

const EVERY_MS = 10;

/** A watch that goes on, and what it has printed by now. */
function start(watched: Watched, output: OutputFormat) {
  const ending = new AbortController();
  const [out, notes]: [string[], string[]] = [[], []];
  const terminal = {
    ...{ env: {}, version: "", setExitCode: () => undefined, interrupted: () => ending.signal },
    write: (text: string) => void out.push(text),
    note: (text: string) => void notes.push(text),
  };
  const ended = watchList(watched, output, terminal, EVERY_MS);
  return {
    ...{ out, notes },
    end(name: "SIGINT" | "SIGTERM" = "SIGINT") {
      ending.abort(new Interruption(name));
      return ended;
    },
  };
}

/** Lists that are read one after the other; the last one stays. Resolves once it was read twice. */
function inTurn(...lists: readonly (Listed | Error)[]): Watched & { readonly isOver: () => boolean } {
  let reads = 0;
  return {
    emptyText: "there are no ships",
    async read() {
      const list = lists[Math.min(reads, lists.length - 1)];
      reads += 1;
      if (list === undefined || list instanceof Error) throw list ?? new Error("there is no list");
      return list;
    },
    isOver: () => reads > lists.length + 1,
  };
}

interface Ship extends Row {
  readonly name: string;
  readonly state: string;
  readonly age: number;
}
const columns: readonly Column<Ship>[] = [
  { title: "NAME", value: ({ name }) => name, fit: "name" },
  { title: "STATE", value: ({ state }) => state },
  { title: "AGE", value: ({ age }) => `${age}s`, isClock: true },
];
const ship = (name: string, state: string, age = 1): Ship => ({ id: `id-${name}`, name, state, age });
const ships = (...rows: readonly Ship[]) => listed(rows, columns, { clocks: ["age"] });

async function watched(output: OutputFormat, ...lists: readonly (Listed | Error)[]) {
  const source = inTurn(...lists);
  const watch = start(source, output);
  await expect.poll(source.isOver, { timeout: 20_000 }).toBe(true);
  return { ...watch, code: await watch.end() };
}

describe("a list that is watched", () => {
  it("is printed once, then each row that changes, in the same columns; that time goes by is no change", async () => {
    const { out, notes, code } = await watched(
      "table",
      ships(ship("anna", "SAILING"), ship("vera", "MOORED")),
      ships(ship("anna", "SAILING", 2), ship("vera", "MOORED", 2)),
      ships(ship("anna", "SAILING", 3), ship("vera", "SAILING", 3)),
    );
    expect([out, notes]).toEqual([["NAME  STATE    AGE\nanna  SAILING  1s\nvera  MOORED   1s", "vera  SAILING  3s"], []]);
    expect(code).toBe(130);
  });

  it("begins its columns anew where a row does not fit into them, and says what is not listed any more", async () => {
    const { out, notes } = await watched("table", ships(ship("anna", "SAILING")), ships(ship("bartholomea", "PROVISIONING")));
    expect(out).toEqual(["NAME  STATE    AGE\nanna  SAILING  1s", "NAME         STATE         AGE", "bartholomea  PROVISIONING  1s"]);
    expect(notes).toEqual(["not listed any more: anna"]);
  });

  it("says so where it begins with nothing", async () => {
    const { out, notes } = await watched("table", ships(), ships(ship("anna", "MOORED")));
    expect(notes).toEqual(["there are no ships"]);
    expect(out).toEqual(["NAME  STATE  AGE", "NAME  STATE   AGE", "anna  MOORED  1s"]);
  });

  it("is for programs one object a line, and whoever is not listed any more says so", async () => {
    const { out, notes } = await watched(
      "json",
      ships(ship("anna", "MOORED"), ship("vera", "MOORED")),
      ships(ship("anna", "SAILING", 2), ship("vera", "MOORED", 2)),
      ships(ship("vera", "MOORED", 3)),
    );
    expect(out.map((line) => JSON.parse(line))).toEqual([
      ship("anna", "MOORED"),
      ship("vera", "MOORED"),
      ship("anna", "SAILING", 2),
      { ...ship("anna", "SAILING", 2), isListed: false },
    ]);
    expect(out.join("")).not.toContain("\n");
    expect(notes).toEqual([]);
    expect((await watched("yaml", ships(ship("anna", "MOORED")))).out).toEqual(["---\nid: id-anna\nname: anna\nstate: MOORED\nage: 1"]);
  });

  it("asks again while the server is away, and says so once", async () => {
    const away = new UnavailableError("no answer from there", { code: "cli.no-answer" });
    const { out, notes } = await watched("table", ships(ship("anna", "MOORED")), away, away, ships(ship("anna", "WRECKED")));
    expect(notes).toEqual(["no answer from there; it is asked again"]);
    expect(out.at(-1)).toContain("WRECKED");
  });

  it("says nothing of what leaves a list of the newest", async () => {
    const newest = (...rows: readonly Ship[]) => listed(rows, columns, { isNewest: true });
    expect((await watched("table", newest(ship("anna", "MOORED")), newest())).notes).toEqual([]);
  });

  it("ends as SIGTERM has it", async () => {
    expect(await start(inTurn(ships()), "table").end("SIGTERM")).toBe(143);
  });
});

describe("the fleet that is watched", () => {
  let served: Served;
  let fleet: PlannedFleet;
  beforeEach(async () => {
    served = await serveApi(planningDeps);
    fleet = await plannedFleet(served.store, systemClock);
  });
  afterEach(() => served.close());
  const begin = (output: OutputFormat, options: Omit<GetOptions, "output">) =>
    start(watchedResources(createRestClient({ url: served.url, token: served.token("operator") }), { ...options, output }), output);
  const argosy = (...args: readonly string[]) => runCommand(args, { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token("operator") });

  it("shows an instance again when it is cordoned, with the reason", async () => {
    const watch = begin("table", { resource: "instances" });
    await expect.poll(() => watch.out.length, { timeout: 20_000 }).toBe(1);
    await argosy("cordon", "standard-2", "--reason", "odd disk");
    await expect.poll(() => watch.notes, { timeout: 20_000 }).toEqual([expect.stringContaining("standard-2 is CORDONED: ")]);
    await watch.end();
    expect(watch.out.slice(1).at(-1)).toMatch(/^standard-2 +CORDONED/);
    expect(watch.out.slice(1).join()).not.toContain("standard-1");
  });

  it("shows a workspace, and each move, as they change", async () => {
    const [unit] = fleet.units.values();
    const watches = [begin("json", { resource: "workspaces", name: "shop-00" }), begin("json", { resource: "moves" })];
    await expect.poll(() => watches[0]?.out.length, { timeout: 20_000 }).toBe(1);
    await argosy("move", "shop-00", "--to", "standard-2", "--no-wait");
    await expect.poll(() => watches[1]?.out.length, { timeout: 20_000 }).toBe(1);
    expect(JSON.parse(watches[1]?.out[0] ?? "")).toMatchObject({ unit, phase: "WAITING", workspace: "shop-00" });
    await argosy("move", "abort", JSON.parse(watches[1]?.out[0] ?? "").id);
    await expect.poll(() => watches[1]?.out.length, { timeout: 20_000 }).toBe(2);
    for (const watch of watches) await watch.end();
    expect(JSON.parse(watches[1]?.out[1] ?? "")).toMatchObject({ unit, phase: "ABORTED" });
  });

  it("has clocks only in columns and fields that tell of time", () => {
    const titles = [...instanceColumns, ...moves].filter(({ isClock }) => isClock).map(({ title }) => title);
    expect(titles).toEqual(["FOR", "TOOK", "GAP"]);
  });

  const ID = "0192f3a4-9c1d-7abc-8def-0000000000";
  /** One character less than the whole of an id that ends so. */
  const but = (end: string) => `${ID}${end}`.slice(0, -1);

  /** Two workspaces whose ids differ in their last two characters only, and so do the ids of their operations and of two instances. */
  async function addTwins(): Promise<void> {
    for (const end of ["1a", "2b"]) {
      const newIds = { workspaceId: `${ID}${end}`, unitId: `unit-${end}`, applicationId: `application-${end}`, operationId: `${ID}${end}` };
      await fleet.world.record({ namespace: `twin-${end}`, newIds: newIds as DeploymentIntent["newIds"] });
      await fleet.world.addInstance({ id: `${ID}${end}` as InstanceId, name: `twins-${end}` });
    }
  }

  it("is found by unique beginnings of ids", async () => {
    await addTwins();
    const read = async (...args: readonly string[]): Promise<unknown> => JSON.parse((await argosy(...args, "-o", "json")).out);
    for (const text of [but("1a"), `${ID}1a`, but("1a").toUpperCase()]) {
      expect(await read("get", "workspaces", text)).toMatchObject([{ namespace: "twin-1a" }]);
      expect(await read("describe", "workspace", text)).toMatchObject({ namespace: "twin-1a" });
      expect(await read("get", "instances", text)).toMatchObject([{ name: "twins-1a" }]);
      expect(await read("describe", "instance", text)).toMatchObject({ name: "twins-1a" });
      expect(await read("get", "operations", text)).toMatchObject([{ id: `${ID}1a` }]);
      expect(await read("describe", "operation", text)).toMatchObject({ id: `${ID}1a` });
    }
    expect(await read("hold", but("2b"), "--for", "1h")).toMatchObject({ hold: expect.anything() });
    expect(await read("journal", "--subject", but("2b"))).toMatchObject([{ subject: `${ID}2b` }, { subject: `${ID}2b` }]);
    expect(await argosy("cordon", but("2b"))).toMatchObject({ code: 0, out: expect.stringContaining("twins-2b") });
  });

  it.each([
    ["get", "workspaces"],
    ["describe", "workspace"],
    ["explain"],
    ["get", "instances"],
    ["cordon"],
    ["get", "operations"],
    ["describe", "operation"],
  ])("says that several are meant: %s %s", async (...command) => {
    await addTwins();
    const { code, out, err } = await argosy(...command.filter((word) => typeof word === "string"), ID);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(`${ID} is the beginning of 2 ids: ${ID}1a, ${ID}2b. Give more of it`);
  });

  it.each([
    [["explain", "ffff"], "there is no workspace ffff; `argosy get workspaces` lists them"],
    [["cordon", "ffff"], "there is no instance ffff; `argosy get instances` lists them"],
    [["describe", "operation", "ffff"], "there is no operation ffff; `argosy get operations` lists them all"],
    [["describe", "rollout", "ffff"], "there is no rollout ffff; `argosy rollout list` lists them"],
    [["rollout", "pause", "ffff"], "there is no rollout ffff; `argosy rollout list` lists them"],
  ])("says of %j that it is not there, and how to see what is", async (args, err) => {
    expect(await argosy(...args)).toEqual({ code: 1, out: "", err });
  });
});
