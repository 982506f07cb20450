import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Served, serveApi } from "../api/testing/served.ts";
import { aDecision, aFleet, anInstance, aPool } from "../store/testing/builders.ts";
import { runCommand } from "./testing/run-command.ts";

const entry = (version: string) => ({ version, image: `argocd:v${version}`, redisImage: "redis:8", crds: "/crds" });

describe("rollouts on the command line", () => {
  let served: Served;
  const signal = AbortSignal.timeout(60_000);
  beforeAll(async () => {
    served = await serveApi();
    const versions = { default: "3.5.6", floor: "3.5.1", catalogue: ["3.3.10", "3.5.6", "3.5.7"].map(entry) };
    await served.store.fleet.applyFleet(aFleet({ versions, pools: [aPool("standard")] }), "ada", signal);
    for (const name of ["standard-1", "standard-2"])
      await served.store.fleet.insertInstance(
        anInstance({ name, pool: "standard", version: "3.5.6", desiredVersion: "3.5.6" }),
        aDecision(),
        signal,
      );
  });
  afterAll(() => served.close());
  const runAs = (role: "viewer" | "operator" | "approver", ...args: readonly string[]) =>
    runCommand(args, { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token(role) });
  const run = (...args: readonly string[]) => runAs("operator", ...args);
  const live = () => served.store.rollouts.readLive(signal);

  it("lists which releases there are and who runs them", async () => {
    const { out } = await runAs("viewer", "versions");
    expect(out.split("\n").map((line) => line.split(/ {2,}/).slice(0, 3))).toEqual([
      ["VERSION", "STATE", "INSTANCES"],
      ["3.5.7", "supported", "0"],
      ["3.5.6", "default", "2"],
      ["3.3.10", "below-floor", "0"],
    ]);
    const [newest] = JSON.parse((await run("versions", "-o", "json")).out);
    expect(newest).toMatchObject({ version: "3.5.7", instances: [], upgrading: [], frozen: null, upgradesFrom: null });
  });

  it("says in a dry run which waves there would be, and does nothing", async () => {
    expect(await run("rollout", "create", "--version", "3.5.7", "--bake", "10m", "--dry-run")).toMatchObject({
      code: 0,
      out: [
        "3.5.7 would be rolled out in 2 waves",
        "  canary (waiting): 1 instance with 0 units, bakes 10m",
        "    standard-1: runs 3.5.6",
        "  100 % (waiting): 1 instance with 0 units, bakes 10m",
        "    standard-2: runs 3.5.6",
        "nothing was done",
      ].join("\n"),
    });
    expect(await live()).toBeUndefined();
  });

  it("says in a dry run that the cohort is first, and what is left out because that is not", async () => {
    const own = await serveApi();
    const asked = (...args: readonly string[]) => runCommand(args, { ARGOSY_URL: own.url, ARGOSY_TOKEN: own.token("operator") });
    const declare = (offered: readonly string[]) => {
      const channels = [{ name: "early", default: "3.5.6", versions: offered, first: true as const }];
      const versions = { default: "3.5.6", floor: "3.5.1", catalogue: ["3.5.6", "3.5.7"].map(entry), channels };
      const early = aPool("early", { class: { region: "eu", tier: "shared", trust: "public", channel: "early" } });
      return own.store.fleet.applyFleet(aFleet({ versions, pools: [aPool("standard"), early] }), "ada", signal);
    };
    const add = (name: string, pool: string, className: string) => {
      const instance = anInstance({ name, pool, class: className, version: "3.5.6", desiredVersion: "3.5.6" });
      return own.store.fleet.insertInstance(instance, aDecision(), signal);
    };
    await declare(["3.5.6", "3.5.7"]);
    await add("standard-1", "standard", "eu/shared/public");
    await add("early-1", "early", "eu/shared/public/early");
    const { out } = await asked("rollout", "create", "--version", "3.5.7", "--dry-run");
    expect(out.split("\n").slice(0, 3)).toEqual([
      "3.5.7 would be rolled out in 2 waves",
      "  cohort canary (waiting): 1 instance with 0 units, bakes 1h",
      "    early-1: runs 3.5.6",
    ]);
    const alone = await asked("rollout", "create", "--version", "3.5.7", "--pool", "standard");
    expect(alone.code).toBe(1);
    expect(alone.err).toContain(
      "instances of channel early get a release first, and early-1 would stay at 3.5.6: this rollout is not of its pool early",
    );
    await declare(["3.5.6"]);
    const left = (await asked("rollout", "create", "--version", "3.5.7", "--dry-run")).out.replaceAll(/\s+/g, " ");
    expect(left).toContain("standard-1 keeps what it has: instances of channel early get a release first");
    await own.close();
  });

  it.each([
    [["rollout", "status"], "rollout: there is no rollout. argosy rollout create begins one."],
    [["rollout", "status", "x"], "there is no rollout x; `argosy rollout list` lists them"],
    [["rollout", "pause", "x"], "there is no rollout x; `argosy rollout list` lists them"],
    [["rollout", "create", "--version", "3.3.10"], /version: 3\.3\.10 is below the security floor \(3\.5\.1\)\. Use a newer release/],
    [
      ["rollout", "create", "--version", "4.0.0"],
      /version: 4\.0\.0 is not in versions\.catalogue of fleet\.yaml\. Add it there, or use one of/,
    ],
    [["rollout", "create", "--version", "3.5.7", "--pool", "x"], /pool: x is no pool of this fleet/],
    [["rollout", "create", "--version", "3.5.6"], /there is no instance that 3\.5\.6 could be given/],
    [["rollout", "create", "--version", "3.5.7", "--emergency"], /an emergency rollout: token otto has role operator, this needs approver/],
    [["rollout", "unfreeze", "3.5.7"], /unfreezing a release: token otto has role operator, this needs approver/],
  ])("answers %j with what to do", async (args, err) => {
    const seen = await run(...args);
    expect(seen.code).toBe(1);
    if (typeof err === "string") expect(seen.err).toBe(err);
    else expect(seen.err).toMatch(err);
    expect((await runAs("viewer", "rollout", "create", "--version", "3.5.7")).err).toContain("this needs operator");
  });

  it("begins one, tells how far it is, and takes orders about it", async () => {
    const begun = await run("rollout", "create", "--version", "3.5.7", "--reason", "CVE");
    expect(begun.out.split("\n")[0]).toMatch(/^rollout \S+ of 3\.5\.7 is RUNNING: planned$/);
    expect((await run("rollout", "create", "--version", "3.5.7")).err).toContain("is RUNNING: let it end, or abort it");
    expect((await run("rollout", "pause", "--reason", "lunch")).out).toMatch(/is PAUSED: paused by\s+otto: lunch/);
    expect((await run("rollout", "resume")).out.replaceAll(/\s+/g, " ")).toContain("is RUNNING: resumed by otto: no reason given");
    const short = (await live())?.id.slice(0, -1) ?? "";
    expect((await run("rollout", "status", short)).out.split("\n")[0]).toContain(`rollout ${short}`);
    expect(JSON.parse((await run("rollout", "pause", short, "-o", "json")).out)).toMatchObject({ state: "PAUSED" });
    expect(JSON.parse((await run("rollout", "resume", short, "-o", "json")).out)).toMatchObject({ state: "RUNNING" });
    expect(JSON.parse((await run("get", "rollouts", short, "-o", "json")).out)).toMatchObject([{ state: "RUNNING", version: "3.5.7" }]);
    expect(JSON.parse((await run("describe", "rollout", short, "-o", "json")).out)).toMatchObject({ state: "RUNNING" });
    expect((await run("rollout", "approve")).err).toContain("approving a wave: token otto has role operator");
    expect((await runAs("approver", "rollout", "approve")).err).toContain("is RUNNING: approve is for one that is ASKING");
    const rollout = await live();
    if (rollout === undefined) throw new Error("it was there a moment ago");
    const [canary, ...rest] = rollout.waves;
    if (canary === undefined) throw new Error("it has a canary");
    const at = rollout.createdAt;
    const instances = canary.instances.map((one) => ({ ...one, askedAt: at, readyAt: at, syncs: { done: 9, failed: 1 } }));
    const passed = { at, rule: "SYNCS", readings: [{ gate: "CRASHING", text: "0 pods" }] };
    await served.store.rollouts.change(
      { rollout: { ...rollout, waves: [{ ...canary, instances, bakingSince: at, passed }, ...rest] }, decision: undefined },
      signal,
    );
    const status = await runAs("viewer", "rollout", "status");
    expect(status.out).toMatch(
      /canary \(baking\): 1 instance.*\n {4}standard-1: ready since \S+, 1 of 9 syncs failed\n {4}passed at \S+ by SYNCS\n {6}CRASHING: 0 pods\n {2}100 % \(waiting\)/,
    );
    expect((await run("rollout", "abort", rollout.id)).out.replaceAll(/\s+/g, " ")).toContain("is ROLLING_BACK: aborted by otto");
    expect((await run("rollout", "list")).out).toMatch(/3\.5\.7 +ROLLING_BACK +1\/2 /);
  });

  it("says of a release that failed why, and gives it to nobody until it is thawed", async () => {
    const rollout = await live();
    if (rollout === undefined) throw new Error("it was there a moment ago");
    const failed = { ...rollout, state: "FAILED", ending: { as: "FAILED", reason: "it crashes" } } as const;
    await served.store.rollouts.change({ rollout: failed, decision: undefined, freezes: "3.5.7" }, signal);
    expect((await run("versions")).out).toMatch(/3\.5\.7 +frozen +0 +0 +it crashes/);
    expect((await run("rollout", "create", "--version", "3.5.7")).err).toContain("3.5.7 is frozen: it failed (it crashes)");
    expect(await runAs("approver", "rollout", "unfreeze", "3.5.7")).toMatchObject({ code: 0, err: "3.5.7 may be rolled out again" });
    expect((await run("rollout", "create", "--version", "3.5.7", "--dry-run")).code).toBe(0);
    expect((await run("rollout", "create", "--version", "3.5.7", "--mode", "drain", "--dry-run")).out).toContain("spare (waiting)");
    expect((await run("rollout", "create", "--version", "3.5.7", "--mode", "fast")).code).toBe(2);
  });
});
