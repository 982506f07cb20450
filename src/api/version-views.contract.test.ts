import { describe, expect, it } from "vitest";
import { aDecision, aFleet, anInstance, aPool, aRollout } from "../store/testing/builders.ts";
import { idleDeps, serveApi } from "./testing/served.ts";
import { frozenComplaints, versionViews } from "./version-views.ts";

const DIGEST = `@sha256:${"a".repeat(64)}`;
const entry = (version: string) => ({ version, image: `argocd:v${version}${DIGEST}`, redisImage: `redis:8${DIGEST}`, crds: "/crds" });
const versions = {
  ...{ default: "3.5.7", floor: "3.5.1 / 3.4.7", catalogue: ["3.5.7", "3.4.7", "3.4.6"].map(entry) },
  channels: [{ name: "slow", default: "3.4.7", versions: ["3.4.7", "3.5.7"] }],
};
const spec = aFleet({ versions, pools: [aPool("a"), aPool("b", { version: "3.4.7" })] });
const frozenOf = (version: string) => [{ version, rollout: aRollout().id, reason: "it crashes", at: aRollout().createdAt }];

describe("the inventory of releases", () => {
  it("is everything that is catalogued, runs or is frozen, newest first", () => {
    const rows = [
      anInstance({ name: "b", version: "3.4.6", desiredVersion: "3.5.7" }),
      anInstance({ name: "a", version: "3.4.6", desiredVersion: "3.4.6" }),
      anInstance({ name: "c", version: "3.2.0", desiredVersion: "3.2.0" }),
      anInstance({ name: "d", version: "3.1.0", desiredVersion: "3.1.0", state: "RETIRED" }),
    ];
    const views = versionViews(spec, rows, frozenOf("3.6.0"));
    expect(views.map(({ version, state }) => `${version} ${state}`)).toEqual([
      ...["3.6.0 frozen", "3.5.7 default", "3.4.7 supported", "3.4.6 below-floor", "3.2.0 unknown"],
    ]);
    expect(views[1]).toMatchObject({ channels: ["slow"], defaultOf: [], instances: [], upgrading: ["b"], image: `argocd:v3.5.7${DIGEST}` });
    expect(views[2]).toMatchObject({ defaultOf: ["slow"] });
    expect(views[3]).toMatchObject({ instances: ["a", "b"], upgrading: [] });
    expect(views[0]).toMatchObject({ frozen: { reason: "it crashes" }, image: null });
    expect(versionViews(undefined, [], [])).toEqual([]);
  });
});

describe("a fleet that asks for a release that failed", () => {
  it("gets the field that asks for it", () => {
    expect(frozenComplaints(spec, [])).toEqual([]);
    expect(frozenComplaints(spec, frozenOf("3.5.7")).map(({ path }) => path)).toEqual(["versions.default"]);
    expect(frozenComplaints(spec, frozenOf("3.4.7")).map(({ path }) => path)).toEqual(["versions.channels[0].default", "pools[1].version"]);
  });

  it("is not declared, not even in a dry run", async () => {
    const served = await serveApi((store) => ({ ...idleDeps(store), parseFleet: () => ({ ok: true, spec, saysGroups: true }) }));
    const signal = AbortSignal.timeout(30_000);
    const rollout = aRollout();
    await served.store.rollouts.create(rollout, aDecision(), signal);
    await served.store.rollouts.change(
      { rollout: { ...rollout, ending: { as: "FAILED", reason: "it crashes" } }, decision: undefined, freezes: "3.5.7" },
      signal,
    );
    for (const dryRun of ["true", "false"]) {
      const { status, body } = await served.call("PUT", `/v1/fleet?dryRun=${dryRun}`, { body: {} });
      expect([status, body["code"]]).toEqual([422, "fleet.invalid"]);
      expect(body["complaints"]).toMatchObject([{ path: "versions.default", message: "is frozen: 3.5.7 failed (it crashes)" }]);
    }
    expect(await served.store.fleet.readFleet(signal)).toBeUndefined();
    await served.close();
  });
});
