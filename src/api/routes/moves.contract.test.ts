import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { InstanceId, MoveId } from "../../domain/ids.ts";
import { createMoveRequests } from "../../mover/request-moves.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createUuidIds } from "../../runtime/ids.ts";
import { aDecision, WIDE } from "../../store/testing/builders.ts";
import { createWorld, type Deployed, soon, type World } from "../../store/testing/world.ts";
import { idleDeps, type Served, serveApi } from "../testing/served.ts";

let api: Served;
let rows: World;
let deployed: Deployed;
let to: InstanceId;
beforeEach(async () => {
  api = await serveApi((store) => ({
    ...idleDeps(store),
    moving: createMoveRequests({ store, clock: systemClock, ids: createUuidIds(systemClock) }),
  }));
  rows = createWorld(api.store);
  deployed = await rows.deploy();
  ({ id: to } = await rows.addInstance());
});
afterEach(() => api.close());

const move = (over: object = {}) => api.call("POST", "/v1/moves", { body: { workspace: "team", to, ...over } });

describe("moves over REST", () => {
  it("are asked for once, waiting for their turn, and shown with their phases", async () => {
    const { status, body } = await move();
    expect([status, body]).toMatchObject([200, { workspace: "team", from: deployed.instanceId, to, phase: "WAITING", actor: "otto" }]);
    expect(await api.call("GET", `/v1/moves/${body["id"]}`)).toMatchObject({
      body: {
        ...{ id: body["id"], gapMs: null, tookMs: null },
        phases: [{ phase: "WAITING", at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) }],
      },
    });
    expect((await api.call("GET", "/v1/moves?live=true", { role: "viewer" })).body).toMatchObject({ items: [{ id: body["id"] }] });
    expect(await move()).toMatchObject({
      status: 422,
      body: { code: "move.refused", detail: expect.stringContaining(String(body["id"])) },
    });
    const [decision] = await api.store.decisions.list({ subject: deployed.unitId }, 1, soon());
    expect(decision).toMatchObject({ verdict: "MOVE_REQUESTED", rule: "COMMAND", details: { actor: "otto", move: body["id"] } });
  });

  it("are listed for one workspace, and an unknown one is said to be unknown", async () => {
    const { id } = (await move()).body;
    const another = await rows.deploy({ namespace: "another" });
    await api.call("POST", "/v1/moves", { body: { workspace: "another", to } });
    const listed = async (namespace: string) => (await api.call("GET", `/v1/moves?workspace=${namespace}`)).body;
    expect(await listed("team")).toMatchObject({ items: [{ id, workspace: "team" }] });
    expect(await listed("another")).toMatchObject({ items: [{ unit: another.unitId }] });
    expect(await api.call("GET", "/v1/moves?workspace=nobody")).toMatchObject({ status: 404, body: { code: "api.no-workspace" } });
  });

  it("say in a dry run what speaks against them, and do nothing", async () => {
    const tryTo = async (instance: string) =>
      (await api.call("POST", "/v1/moves/dry-run", { body: { workspace: "team", to: instance } })).body;
    expect(await tryTo(to)).toEqual({ workspace: "team", from: deployed.instanceId, to, refusal: null });
    expect(await tryTo(deployed.instanceId)).toMatchObject({ refusal: { code: "THERE_ALREADY" } });
    const { id: cordoned } = await rows.addInstance({ state: "CORDONED" });
    expect(await tryTo(cordoned)).toMatchObject({ refusal: { code: "TARGET_TAKES_NOTHING" } });
    expect(await api.store.moves.list({}, 10, soon())).toEqual([]);
    expect(await move({ to: cordoned })).toMatchObject({ status: 422, body: { code: "move.refused" } });
  });

  it("are refused to viewers, for what is not there, and to instances without room", async () => {
    expect(await api.call("POST", "/v1/moves", { role: "viewer", body: { workspace: "team", to } })).toMatchObject({ status: 403 });
    expect(await move({ workspace: "nobody" })).toMatchObject({ status: 404 });
    expect(await move({ to: "nowhere" })).toMatchObject({ status: 404 });
    const { id: small } = await rows.addInstance({ capacity: { ...WIDE, applications: 1_000 } });
    expect(await move({ to: small })).toMatchObject({ status: 422, body: { detail: expect.stringContaining("no room") } });
  });

  it("are given up until their point of no return, and taken back once they have ended", async () => {
    const first = (await move()).body["id"];
    expect(await api.call("POST", `/v1/moves/${first}/abort`)).toMatchObject({
      body: { phase: "ABORTED", message: "given up by otto", messageCode: "GIVEN_UP" },
    });
    const second = (await move()).body["id"] as MoveId;
    await api.store.moves.begin(second, soon());
    for (const [from, next] of [
      ["PREPARE", "FENCE"],
      ["FENCE", "QUIESCE"],
      ["QUIESCE", "REVOKE"],
      ["REVOKE", "COMMIT"],
    ] as const)
      await api.store.moves.advance(second, { from, to: next, message: "" }, soon());
    await api.store.moves.commit(second, aDecision(), soon());
    expect(await api.call("POST", `/v1/moves/${second}/abort`)).toMatchObject({ status: 422, body: { code: "move.too-late" } });
    expect(await api.call("POST", `/v1/moves/${second}/reverse`)).toMatchObject({ status: 422, body: { code: "move.nothing-to-reverse" } });
    for (const [from, next] of [
      ["GRANT", "ACTIVATE"],
      ["ACTIVATE", "VERIFY"],
      ["VERIFY", "CLEANUP"],
      ["CLEANUP", "DONE"],
    ] as const)
      await api.store.moves.advance(second, { from, to: next, message: "" }, soon());
    const back = await api.call("POST", `/v1/moves/${second}/reverse`);
    expect(back.body).toMatchObject({ from: to, to: deployed.instanceId, phase: "WAITING" });
    expect(await api.store.moves.read(back.body["id"] as MoveId, soon())).toMatchObject({ reverses: second });
    expect(await api.call("POST", "/v1/moves/nobody/abort")).toMatchObject({ status: 404, body: { code: "move.unknown" } });
  });
});
