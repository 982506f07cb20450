import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { WorkspaceId } from "../../domain/ids.ts";
import { createMoveRequests } from "../../mover/request-moves.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createUuidIds } from "../../runtime/ids.ts";
import { aDecision, aFleet, anInstance, aPool, aRollout, CLASS, WIDE } from "../../store/testing/builders.ts";
import { createWorld, type Deployed, soon } from "../../store/testing/world.ts";
import { idleDeps, type Served, serveApi } from "../testing/served.ts";
import type { Caller, Grant } from "./port.ts";
import { ROUTE_SUBJECTS } from "./route-subjects.ts";

const OTHER = "us/shared/public";
const reason = "because";

/** Callers by their tokens. */
const CALLERS: Readonly<Record<string, readonly Grant[]>> = {
  "team-viewer": [{ role: "viewer", scope: { workspaces: ["team-*"] } }],
  "team-operator": [{ role: "operator", scope: { workspaces: ["team-*"] } }],
  "class-viewer": [{ role: "viewer", scope: { classes: [CLASS] } }],
  "class-operator": [{ role: "operator", scope: { classes: [CLASS] } }],
  "class-approver": [{ role: "approver", scope: { classes: [CLASS] } }],
  "team-in-class": [{ role: "operator", scope: { classes: [CLASS], workspaces: ["team-*"] } }],
  mixed: [{ role: "operator", scope: { workspaces: ["team-*"] } }, { role: "viewer" }],
  several: [
    { role: "operator", scope: { workspaces: ["team-*"] } },
    { role: "viewer", scope: { classes: [OTHER] } },
  ],
  broken: [{ role: "approver", scope: {} }],
};

let served: Served;
let team: Deployed;
let rival: Deployed;
let moves: { readonly team: string; readonly rival: string };

const ask = async (who: string, method: string, path: string, body?: unknown) => {
  const response = await fetch(`${served.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${who}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) as Readonly<Record<string, unknown>> };
};
const status = async (...asked: Parameters<typeof ask>): Promise<number> => (await ask(...asked)).status;

beforeAll(async () => {
  served = await serveApi((store) => ({
    ...idleDeps(store),
    moving: createMoveRequests({ store, clock: systemClock, ids: createUuidIds(systemClock) }),
    identities: {
      async recognise(authorization) {
        const name = authorization?.slice("Bearer ".length) ?? "";
        const grants = CALLERS[name];
        if (grants === undefined) return { kind: "other" };
        const role = (["approver", "operator", "viewer"] as const).find((one) => grants.some((grant) => grant.role === one)) ?? "viewer";
        const caller: Caller = { name, way: "oidc", role, grants };
        return { kind: "caller", caller };
      },
    },
  }));
  const world = createWorld(served.store);
  const { fleet, placements } = served.store;
  await fleet.applyFleet(
    aFleet({
      pools: [aPool("standard"), aPool("rivals", { class: { region: "us", tier: "shared", trust: "public" } })],
      workspaces: { ...aFleet().workspaces, cpuShares: [CLASS, OTHER].map((name) => ({ class: name, share: 0.01 })) },
    }),
    "anna",
    soon(),
  );
  const deploy = async (namespace: string, className: string, instanceName: string): Promise<Deployed> => {
    const pool = className === CLASS ? "standard" : "rivals";
    const instance = anInstance({ name: instanceName, class: className, pool, capacity: { ...WIDE, milliCpu: 1 } });
    await fleet.insertInstance(instance, aDecision({ subject: instance.id, kind: "instance" }), soon());
    const intent = await world.record({ namespace, class: className, name: `${namespace}-app` });
    const { id: unitId, workspaceId } = await world.unit(intent.applicationId);
    const epoch = await world.place(unitId, instance.id);
    return { intent, applicationId: intent.applicationId, unitId, workspaceId, instanceId: instance.id, epoch };
  };
  team = await deploy("team-a", CLASS, "standard-1");
  rival = await deploy("rival-b", OTHER, "rivals-1");
  for (const [name, className, pool] of [["standard-2", CLASS, "standard"] as const, ["rivals-2", OTHER, "rivals"] as const]) {
    const instance = anInstance({ name, class: className, pool });
    await fleet.insertInstance(instance, aDecision({ subject: instance.id, kind: "instance" }), soon());
  }
  // Somebody else's of the class that the callers are limited to.
  const neighbour = await world.record({ namespace: "rival-c", name: "rival-c-app" });
  await placements.readUnit((await world.unit(neighbour.applicationId)).id, soon());
  await world.place((await world.unit(neighbour.applicationId)).id, team.instanceId);
  const begin = async (workspace: string, to: string): Promise<string> =>
    String((await served.call("POST", "/v1/moves", { body: { workspace, to, reason: `${workspace} asks` } })).body["id"]);
  moves = { team: await begin("team-a", "standard-2"), rival: await begin("rival-b", "rivals-2") };
  for (const [pool, state] of [["rivals", "DONE"] as const, ["standard", "RUNNING"] as const])
    await served.store.rollouts.create(aRollout({ pool, state }), aDecision(), soon());
  const taken = { controllerCpuMs: 1_000, repoServerCpuMs: 0, memoryKibS: 1 };
  const mark = (ago: number) => ({ until: millis(Date.now() - ago), processes: {} });
  for (const [instanceId, ...names] of [[team.instanceId, "team-a", "rival-c"] as const, [rival.instanceId, "rival-b"] as const]) {
    const workspaces = names.map((namespace) => ({ workspaceId: `id of ${namespace}` as WorkspaceId, namespace, usage: taken }));
    await served.store.usages.record({ instanceId, after: undefined, mark: mark(0), workspaces, base: taken, unattributed: taken }, soon());
  }
  await served.call("PUT", "/v1/freezes/launch", { body: { seconds: 600, reason: "rival-b launches" } });
  await served.call("PUT", "/v1/workspaces/rival-b/hold", { body: { seconds: 600, reason: "rival-b launches" } });
});
afterAll(() => served.close());

it("has in its table every operation of the OpenAPI document, and no other: give a new route an entry in route-subjects.ts", async () => {
  const document = (await (await fetch(`${served.url}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string; readonly security?: unknown }>>>>;
  };
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  expect(Object.keys(ROUTE_SUBJECTS).sort()).toEqual(operations.map(({ operationId }) => operationId).sort());
  const open = operations.filter(({ security }) => security === undefined).map(({ operationId }) => operationId);
  expect(
    Object.keys(ROUTE_SUBJECTS)
      .filter((id) => ROUTE_SUBJECTS[id] === "open")
      .sort(),
  ).toEqual(open.sort());
});

describe("a role that is limited to workspaces", () => {
  /** Every GET there is, asked about the caller's own and about everything. */
  const READS = [
    "/v1/whoami",
    ...["/v1/instances", "/v1/instances?usage=true", "/v1/workspaces", "/v1/workspaces?limit=1", "/v1/workspaces?namespace=rival-b"],
    ...["/v1/applications", "/v1/applications?limit=1", "/v1/applications?namespace=rival-b", "/v1/applications?name=rival-b-app"],
    ...["/v1/operations", "/v1/operations?namespace=team-a", "/v1/operations?namespace=rival-b"],
    ...["/v1/health", "/v1/health/standard-1", "/v1/top/instances", "/v1/top/workspaces", "/v1/plans", "/v1/rollouts", "/v1/freezes"],
    ...["/v1/rebalancing", "/v1/capacity", "/v1/cost", "/v1/cost?by=class", "/v1/cost?by=instance"],
    ...["/v1/moves", "/v1/moves?live=true", "/v1/fleet", "/v1/doctor", "/v1/versions", "/v1/adoptions/rules"],
    ...["/v1/explain/team-a", "/v1/explain/rival-b", "/v1/instances/standard-1/explanation", "/v1/instances/standard-1/drain"],
    ...["/v1/instances/standard-1/calibration", "/v1/workspaces/team-a/export", "/v1/workspaces/rival-b/export"],
    ...["/v1/decisions", "/v1/decisions?workspace=team-a", "/v1/decisions?workspace=rival-b", "/v1/decisions?instance=standard-1"],
  ];

  it.each(["team-viewer", "team-operator", "team-in-class"])("learns nothing of other tenants by any route: %s", async (who) => {
    const all = [
      ...READS,
      ...[`/v1/moves/${moves.team}`, `/v1/moves/${moves.rival}`, `/v1/decisions?subject=${rival.workspaceId}`],
      ...[`/v1/decisions?workspace=team-a&subject=${rival.workspaceId}`, `/v1/explain/${rival.workspaceId}`],
    ];
    for (const path of all) {
      const { text } = await ask(who, "GET", path);
      const said = text.replaceAll(decodeURIComponent(path.split("/").at(-1)?.split("=").at(-1) ?? ""), "");
      expect(said, path).not.toMatch(/rival/);
      for (const id of [rival.workspaceId, rival.unitId, rival.applicationId]) expect(said, path).not.toContain(id);
    }
  });

  it("shows its own", async () => {
    const items = async (path: string) => (await ask("team-viewer", "GET", path)).body["items"];
    expect(await items("/v1/workspaces")).toMatchObject([{ namespace: "team-a" }]);
    expect(await items("/v1/applications")).toMatchObject([{ name: "team-a-app" }]);
    expect(await items("/v1/moves")).toMatchObject([{ workspace: "team-a" }]);
    expect(await items("/v1/decisions?workspace=team-a")).not.toEqual([]);
    expect(await items("/v1/operations?namespace=team-a")).not.toEqual([]);
    expect(await status("team-viewer", "GET", "/v1/explain/team-a")).toBe(200);
    expect(await status("team-viewer", "GET", "/v1/workspaces/team-a/export")).toBe(200);
    expect(await status("team-viewer", "GET", `/v1/moves/${moves.team}`)).toBe(200);
  });

  it("shows what was taken as far as that may be seen, and instances' own to whoever may see their class", async () => {
    const lines = async (who: string, query = "") =>
      ((await ask(who, "GET", `/v1/cost${query}`)).body["items"] as readonly { readonly name: string | null; readonly of: string }[]).map(
        ({ name, of }) => `${of} ${name}`,
      );
    for (const who of ["team-viewer", "team-in-class"]) {
      expect(await lines(who)).toEqual(["workspace team-a"]);
      expect(await lines(who, "?by=class")).toEqual([`workspace ${CLASS}`]);
      expect(await lines(who, "?by=instance")).toEqual(["workspace standard-1"]);
    }
    expect(await lines("class-viewer")).toEqual(["base null", "unattributed null", "workspace rival-c", "workspace team-a"]);
    expect(await lines("class-viewer", "?by=class")).toEqual([`base ${CLASS}`, `unattributed ${CLASS}`, `workspace ${CLASS}`]);
    expect(await lines("several")).toEqual(["base null", "unattributed null", "workspace rival-b", "workspace team-a"]);
    expect(await lines("broken")).toEqual([]);
    const exceeded = async (who: string) =>
      ((await ask(who, "GET", "/v1/cost")).body["exceeded"] as readonly { readonly workspace: string }[]).map(({ workspace }) => workspace);
    expect(await exceeded("team-viewer")).toEqual(["team-a"]);
    expect(await exceeded("class-viewer")).toEqual(["rival-c", "team-a"]);
    expect(await exceeded("mixed")).toEqual(["rival-b", "rival-c", "team-a"]);
  });

  it("ends a page without telling how many others there are", async () => {
    const { body } = await ask("team-viewer", "GET", "/v1/workspaces?limit=1");
    expect(body["items"]).toMatchObject([{ namespace: "team-a" }]);
    const next = await ask("team-viewer", "GET", `/v1/workspaces?limit=1&after=${body["next"]}`);
    expect(next.body).toEqual({ items: [], next: "" });
  });

  it("answers the same about somebody else's and about what is not there", async () => {
    const answers = ["rival-b", "nobody", rival.workspaceId].map(async (name) => {
      const { body } = await ask("team-operator", "PUT", `/v1/workspaces/${name}/hold`, { seconds: 60, reason });
      return body;
    });
    const [first, ...others] = await Promise.all(answers);
    expect(first).toMatchObject({ status: 403, code: "api.scope", detail: expect.stringContaining("workspaces team-*") });
    for (const other of others) expect(other).toEqual(first);
  });

  it("is for orders about its workspaces, and for no others", async () => {
    const hold = (namespace: string) => ["PUT", `/v1/workspaces/${namespace}/hold`, { seconds: 60, reason }] as const;
    expect(await status("team-operator", ...hold("team-a"))).toBe(200);
    expect(await status("team-operator", ...hold("rival-b"))).toBe(403);
    expect(await status("team-operator", "PUT", "/v1/workspaces/team-a/pin", { pool: "standard", reason })).toBe(200);
    expect(await status("team-operator", "POST", "/v1/moves/dry-run", { workspace: "team-a", to: "standard-2" })).toBe(200);
    expect(await status("team-operator", "POST", "/v1/moves/dry-run", { workspace: "rival-b", to: "rivals-2" })).toBe(403);
    expect(await status("team-operator", "POST", "/v1/moves", { workspace: "rival-b", to: "rivals-2" })).toBe(403);
    expect(await status("team-operator", "POST", `/v1/moves/${moves.rival}/abort`)).toBe(403);
    expect(await status("team-operator", "PUT", "/v1/instances/standard-1/cordon", { cordoned: true, reason })).toBe(403);
    expect(await status("team-viewer", ...hold("team-a"))).toBe(403);
    expect(await status("team-operator", "POST", `/v1/moves/${moves.team}/abort`)).toBe(200);
  });

  it("with classes beside them has to meet both", async () => {
    expect(await status("team-in-class", "GET", "/v1/explain/team-a")).toBe(200);
    expect(await status("team-in-class", "GET", "/v1/explain/rival-c")).toBe(403);
    expect(await status("team-in-class", "PUT", "/v1/instances/standard-1/cordon", { cordoned: true, reason })).toBe(403);
  });
});

describe("a role that is limited to classes", () => {
  it("hears of everybody in its class, and of nobody else", async () => {
    const names = async (path: string, key: string) =>
      ((await ask("class-viewer", "GET", path)).body["items"] as readonly Record<string, unknown>[])
        .map((item) => String(item[key]))
        .sort();
    expect(await names("/v1/workspaces", "namespace")).toEqual(["rival-c", "team-a"]);
    expect(await names("/v1/applications", "name")).toEqual(["rival-c-app", "team-a-app"]);
    expect(await names("/v1/instances", "name")).toEqual(["standard-1", "standard-2"]);
    expect(await names("/v1/health", "instance")).toEqual(["standard-1", "standard-2"]);
    expect(await names("/v1/top/instances", "name")).toEqual(["standard-1", "standard-2"]);
    expect(await names("/v1/rollouts", "pool")).toEqual(["standard"]);
    expect(await names("/v1/freezes", "name")).toEqual(["launch"]);
    for (const { path } of [{ path: "/v1/decisions?workspace=rival-b" }, { path: "/v1/health/rivals-1" }, { path: "/v1/explain/rival-b" }])
      expect(await status("class-viewer", "GET", path), path).toBe(403);
    expect(await status("class-viewer", "GET", "/v1/health/standard-1")).toBe(200);
  });

  it("is for orders about its instances, pools and workspaces, and for no others", async () => {
    const cordon = (name: string) => ["PUT", `/v1/instances/${name}/cordon`, { cordoned: true, reason }] as const;
    expect(await status("class-operator", ...cordon("standard-2"))).toBe(200);
    expect(await status("class-operator", ...cordon("rivals-2"))).toBe(403);
    expect(await status("class-operator", "POST", "/v1/instances/rivals-1/drain", {})).toBe(403);
    expect(await status("class-operator", "PUT", "/v1/workspaces/rival-c/hold", { seconds: 60, reason })).toBe(200);
    expect(await status("class-operator", "PUT", "/v1/workspaces/rival-b/hold", { seconds: 60, reason })).toBe(403);
    const rollouts = ["rivals", null, "nowhere"].map((pool) =>
      status("class-operator", "POST", "/v1/rollouts/dry-run", { version: "3.5.7", pool }),
    );
    expect(await Promise.all(rollouts)).toEqual([403, 403, 403]);
    expect(await status("class-operator", "POST", "/v1/plans", {})).toBe(403);
    expect(await status("class-operator", "POST", "/v1/plans", { class: OTHER })).toBe(403);
  });

  it("is for nothing that concerns the whole fleet, whatever the role", async () => {
    const orders: readonly (readonly [string, string, unknown])[] = [
      ["PUT", "/v1/fleet", {}],
      ["PUT", "/v1/freezes/mine", { seconds: 600, reason }],
      ["DELETE", "/v1/freezes/launch", undefined],
      ["POST", "/v1/instances", { name: "standard-3" }],
      ["POST", "/v1/instances/standard-1/retire", {}],
      ["POST", "/v1/instances/standard-1/calibration", {}],
      ["POST", "/v1/versions/3.5.7/unfreeze", undefined],
      ["POST", "/v1/adoptions", { namespace: "team-a", name: "app", uid: "u", argoName: "app" }],
      ["GET", "/v1/fleet", undefined],
      ["GET", "/v1/doctor", undefined],
    ];
    for (const [method, path, body] of orders)
      expect(await ask("class-approver", method, path, body), path).toMatchObject({ status: 403, body: { code: "api.scope" } });
  });
});

describe("several roles", () => {
  it("count each where it is given", async () => {
    const hold = (namespace: string) => ["PUT", `/v1/workspaces/${namespace}/hold`, { seconds: 60, reason }] as const;
    expect(await status("mixed", "GET", "/v1/fleet")).toBe(200);
    expect(await status("mixed", "GET", "/v1/explain/rival-b")).toBe(200);
    expect(await status("mixed", ...hold("team-a"))).toBe(200);
    expect(await status("mixed", ...hold("rival-b"))).toBe(403);
    expect(await status("several", "GET", "/v1/explain/rival-b")).toBe(200);
    expect(await status("several", ...hold("rival-b"))).toBe(403);
    expect(await status("several", "GET", "/v1/explain/rival-c")).toBe(403);
  });

  it("with a limit that is not understood are for nothing", async () => {
    for (const path of ["/v1/fleet", "/v1/explain/team-a", "/v1/health/standard-1"])
      expect(await status("broken", "GET", path), path).toBe(403);
    expect((await ask("broken", "GET", "/v1/workspaces")).body["items"]).toEqual([]);
    expect((await ask("broken", "GET", "/v1/instances")).body["items"]).toEqual([]);
    expect((await ask("broken", "GET", "/v1/freezes")).body["items"]).toEqual([]);
  });
});
