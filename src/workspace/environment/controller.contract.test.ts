import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { EnvironmentId, InstanceId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { Withholding } from "../../domain/withholding.ts";
import { NAMESPACES } from "../../runtime/kube/namespaces.ts";
import { createChangingShare } from "../../runtime/testing/changing-share.ts";
import { aSpec } from "../testing/builders.ts";
import { eventually } from "../testing/world.ts";
import type { EnvironmentStatus } from "./environment-status.ts";
import { type ControllerPorts, type EnvironmentWorld, SERVER, startEnvironmentWorld } from "./testing/environment-world.ts";

const JANE = { namespace: "", name: "jane" };
let world: EnvironmentWorld;
beforeEach(async () => {
  world = await startEnvironmentWorld();
});
afterEach(() => world.close());

const connection = async () => (await world.saidOfEnvironment())[0];
const says = (status: string, reason: string) =>
  eventually(
    `the condition is ${status}/${reason}`,
    async () => (await connection()) === `ConnectionInitializationSucceeded=${status}/${reason}`,
  );
const state = async () => (await world.rows()).map((row) => row.state).join();

async function connected(): Promise<void> {
  world.clusters.serve(SERVER, "token-1");
  await world.putSecret("token-1");
  await world.putEnvironment({ namespaces: ["web"] });
  await says("True", "Succeeded");
}

describe("an environment", () => {
  it("is recorded once its credential was seen to work, and its user hears of it", async () => {
    world.startEnvironmentController();
    await connected();
    expect(await world.saidOfEnvironment()).toEqual(["ConnectionInitializationSucceeded=True/Succeeded", "Ready=True/Succeeded"]);
    expect(await world.rows()).toMatchObject([{ name: "prod", state: "connected", generation: 1, namespace: "jane" }]);
    expect(await world.storedToken()).toBe("token-1");
    expect(world.clusters.asked()[0]).toMatchObject({ server: SERVER, token: "token-1", isInsecure: false, namespace: "web" });
  });

  it("of a namespace that its process has just gained is visited, and no other", async () => {
    const share = createChangingShare(["jane"]);
    world.startEnvironmentController((ports) => ports, share);
    await connected();
    await world.namespace("joe");
    await world.putEnvironment({}, "joe");
    const visits = world.clusters.asked().length;
    share.set(["jane", "joe"]);
    await eventually("the other one's user hears of it", async () => (await world.saidOfEnvironment("joe")).length > 0);
    await world.putEnvironment({ namespaces: ["changed"] });
    const asked = () => world.clusters.asked().map(({ namespace }) => namespace);
    await eventually("its cluster is asked after a change", () => asked().includes("changed"));
    expect(asked().slice(visits)).toEqual(["changed"]);
  });

  it("says what was seen of the spec that was probed, also when it has another by then", async () => {
    const said: (number | undefined)[] = [];
    let resources: ControllerPorts["resources"] | undefined;
    world.clusters.hold(true);
    world.startEnvironmentController((ports) => {
      const patchStatus: ControllerPorts["resources"]["patchStatus"] = (at, status, signal) => {
        said.push((status as EnvironmentStatus).observedGeneration);
        return ports.resources.patchStatus(at, status, signal);
      };
      resources = ports.resources;
      return { ...ports, resources: { ...ports.resources, patchStatus } };
    });
    world.clusters.serve(SERVER, "token-1");
    await world.putSecret("token-1");
    await world.putEnvironment({ namespaces: ["web"] });
    await eventually("its cluster is asked", () => world.clusters.asked().length === 1);
    await world.putEnvironment({ apiURL: "https://another.example" });
    await eventually("the change is seen", () => resources?.list("jane")[0]?.generation === 2);
    world.clusters.hold(false);
    await says("False", "UnableToLocateContext");
    expect(said[0]).toBe(1);
  });

  it("W6: without a Secret says so, also when none is named, and goes on as soon as there is one", async () => {
    world.startEnvironmentController();
    world.clusters.serve(SERVER, "token-1");
    await world.putEnvironment({ credentialsSecret: "" });
    await says("False", "SecretNotSpecified");
    await world.putEnvironment();
    await says("False", "SecretNotFound");
    expect(await world.saidOfEnvironment()).toContain("Stalled=True/SecretNotFound");
    expect(await world.rows()).toEqual([]);
    await world.putSecret("token-1");
    await says("True", "Succeeded");
  });

  it("says what became of a Secret that was made after it with another type, and goes on with one of the right type", async () => {
    world.startEnvironmentController();
    world.clusters.serve(SERVER, "token-1");
    await world.putEnvironment();
    await says("False", "SecretNotFound");
    await world.putSecret("token-1", { type: "Opaque" });
    await says("False", "InvalidSecretType");
    await world.removeSecret();
    await says("False", "SecretNotFound");
    await world.putSecret("token-1");
    await says("True", "Succeeded");
  });

  it("says what is wrong with its Secret, and asks no cluster", async () => {
    world.startEnvironmentController();
    await world.putEnvironment();
    await world.putSecret("token-1", { data: {} });
    await says("False", "MissingKubeConfigField");
    await world.putSecret("token-1", { data: { kubeconfig: Buffer.from("a: [").toString("base64") } });
    await says("False", "UnableToParseKubeconfigData");
    await world.putEnvironment({ apiURL: "https://another.example" });
    await world.putSecret("token-1");
    await says("False", "UnableToLocateContext");
    expect(world.clusters.asked()).toEqual([]);
  });

  it("W6: takes a new token as soon as the Secret has it, although the old one still works", async () => {
    world.startEnvironmentController();
    await connected();
    world.clusters.serve(SERVER, "token-2");
    await world.putSecret("token-2");
    await eventually("the new token is stored", async () => (await world.storedToken()) === "token-2");
    expect(await connection()).toBe("ConnectionInitializationSucceeded=True/Succeeded");
  });

  it("keeps what worked when a new token does not, and when the cluster is away", async () => {
    world.startEnvironmentController();
    await connected();
    await world.putSecret("token-wrong");
    await says("Unknown", "UnableToValidateClusterCredentials");
    expect(await world.storedToken()).toBe("token-1");
    expect(await state()).toBe("connected");
    world.clusters.serve(SERVER, "away");
    await world.putSecret("token-3");
    await says("False", "UnableToCreateClient");
    expect(await state()).toBe("connected");
    expect(await world.saidOfEnvironment()).toContain("Reconciling=True/UnableToCreateClient");
  });

  it.each([
    ["its Secret is deleted", () => world.removeSecret()],
    ["its URL leads inside", () => world.putEnvironment({ apiURL: "https://127.0.0.1:6443" })],
    ["its Secret loses its content", () => world.putSecret("", { data: {} })],
  ])("may not be used any more when %s", async (_what, change) => {
    world.startEnvironmentController();
    await connected();
    await change();
    await eventually("it is withdrawn", async () => (await state()) === "withdrawn");
  });

  it("is probed again when the administrator's rules change", async () => {
    world.startEnvironmentController();
    world.clusters.serve("https://10.1.2.3:6443", "token-1");
    await world.putSecret("token-1");
    await world.putEnvironment({ apiURL: "https://10.1.2.3:6443" });
    await says("False", "UnableToCreateClient");
    await world.applyFleet({ egress: { allow: ["10.1.0.0/16"], http: [] } });
    await says("False", "UnableToLocateContext");
  });

  it("goes with its resource, and what went while nobody watched is found at the start", async () => {
    const controller = world.startEnvironmentController();
    await connected();
    await world.removeEnvironment();
    await eventually("nothing is left", async () => (await state()) === "");
    await connected();
    await controller.stop();
    await world.removeEnvironment();
    world.startEnvironmentController();
    await eventually("nothing is left", async () => (await state()) === "");
  });

  it("that is paused says so, keeps what was said and used last, and is probed again afterwards", async () => {
    world.startEnvironmentController();
    world.clusters.serve(SERVER, "token-1");
    await world.putSecret("token-1");
    await world.putEnvironment({}, "jane", "new", { "argosy.dev/paused": "true" });
    await eventually("it says that it waits", async () => (await world.saidOfEnvironment("jane", "new")).includes("Ready=False/Paused"));
    expect(world.clusters.asked()).toEqual([]);
    await world.putEnvironment();
    await says("True", "Succeeded");
    await world.putEnvironment({}, "jane", "prod", { "argosy.dev/paused": "true" });
    await eventually("it says so", async () => (await world.saidOfEnvironment()).includes("Paused=True/Paused"));
    expect(await world.saidOfEnvironment()).toContain("Ready=True/Succeeded");
    await world.putEnvironment();
    await eventually("it does not any more", async () => !(await world.saidOfEnvironment()).includes("Paused=True/Paused"));
  });

  it("in a namespace that is no workspace is nobody's business", async () => {
    await world.namespace("kube-system");
    world.startEnvironmentController();
    await world.putEnvironment({}, "kube-system");
    await connected();
    expect(await world.saidOfEnvironment("kube-system")).toEqual([]);
  });

  it("beyond the fiftieth of its namespace is not probed", async () => {
    const names = Array.from({ length: 51 }, (_, index) => `env-${index}`);
    for (const name of names) await world.putEnvironment({}, "jane", name);
    world.startEnvironmentController();
    const said = () => Promise.all(names.map(async (name) => (await world.saidOfEnvironment("jane", name))[0] ?? ""));
    await eventually("everybody was notified", async () => (await said()).every((condition) => condition !== ""));
    expect((await said()).filter((condition) => condition.endsWith("QuotaExceeded"))).toHaveLength(1);
  });

  it("beyond what one workspace may have waits, and a lower quota takes none that is in use", async () => {
    const quotaOf = (environments: number) =>
      world.applyFleet({
        workspaces: { selector: {}, everyNamespace: true, quota: { deployments: 9, syncsPerMinute: 9, environments } },
      });
    const saidOf = async (name: string) => (await world.saidOfEnvironment("jane", name))[0];
    await quotaOf(2);
    world.startEnvironmentController();
    await connected();
    await world.putEnvironment({}, "jane", "second");
    await eventually("the second is used", async () => (await saidOf("second"))?.endsWith("True/Succeeded") === true);
    await quotaOf(1);
    await world.putEnvironment({}, "jane", "third");
    const said = "This namespace may have at most 1 managed environments: delete another one";
    await eventually("the third is over the lower quota", async () => (await world.messagesOfEnvironment("third")).includes(said));
    await world.putEnvironment({ namespaces: ["web", "db"] }, "jane", "second");
    await eventually("the second was probed again", async () =>
      (await world.rows()).some(({ name, generation }) => name === "second" && generation === 2),
    );
    expect(await saidOf("second")).toBe("ConnectionInitializationSucceeded=True/Succeeded");
    await quotaOf(3);
    await eventually("the third is used", async () => (await saidOf("third"))?.endsWith("True/Succeeded") === true);
  });

  it("beyond what its workspace's class may have is used once another class is assigned, and a smaller class takes none that is in use", async () => {
    const LARGE = "eu/large/public";
    const quota = { deployments: 9, syncsPerMinute: 9, environments: 1 };
    const classQuotas = [{ class: LARGE, environments: 2 }];
    const saidOf = async (name: string) => (await world.saidOfEnvironment("jane", name))[0];
    await world.applyFleet({ workspaces: { selector: {}, everyNamespace: true, quota, classQuotas } });
    world.startEnvironmentController();
    await connected();
    await world.putEnvironment({}, "jane", "second");
    await eventually("the second is refused", async () => (await saidOf("second"))?.endsWith("QuotaExceeded") === true);
    await world.assign(LARGE);
    await eventually("the second is used", async () => (await saidOf("second"))?.endsWith("True/Succeeded") === true);
    await world.assign("eu/shared/public");
    await world.putEnvironment({}, "jane", "third");
    const said = "This namespace may have at most 1 managed environments: delete another one";
    await eventually("the third is over the smaller quota", async () => (await world.messagesOfEnvironment("third")).includes(said));
    expect((await world.rows()).map(({ name, state }) => `${name} ${state}`).sort()).toEqual(["prod connected", "second connected"]);
  });

  describe("that takes more of its instance than it may", () => {
    const measured = (times: Partial<Withholding> = {}): Withholding => ({
      ...{ objects: 31_000, apis: 420, budget: 20_000, times: 1, at: millis(Date.now()) },
      ...{ changeFrom: millis(Date.now() + 3_600_000), until: millis(Date.now() + 7_200_000) },
      ...times,
    });
    const withhold = async (withholding: Withholding): Promise<void> => {
      const [row] = await world.rows();
      expect(await world.store.environments.withhold(row!.id, withholding, world.signal)).toBe(true);
    };

    const deploy = async (): Promise<void> => {
      world.startController();
      await world.apply("guestbook", { spec: aSpec({ destination: { environment: "prod", namespace: "web" } }) });
      await eventually("the deployment is recorded", async () => (await world.row("guestbook")) !== undefined);
      await connected();
    };

    const changeSecret = async (): Promise<void> => {
      world.clusters.serve(SERVER, "token-2");
      await world.putSecret("token-2");
    };

    it("reads what was measured and what to do, and a restart does not forget it", async () => {
      const controller = world.startEnvironmentController();
      await deploy();
      await withhold(measured());
      await says("False", "ResourceBudgetExceeded");
      await eventually("who deploys there reads it", async () =>
        (await world.said("guestbook")).includes("Ready=False/EnvironmentUnavailable"),
      );
      expect((await world.row("guestbook"))?.application.deletedAt).toBeUndefined();
      const messages = await world.messagesOfEnvironment();
      expect(messages[0]).toContain("31000 objects of 420 APIs");
      expect(messages[0]).toContain("spec.namespaces");
      await controller.stop();
      world.startEnvironmentController();
      const probed = world.clusters.asked().length;
      await eventually("it was probed again", () => world.clusters.asked().length > probed);
      await world.putEnvironment({ namespaces: ["web", "db"] });
      await eventually("a change was probed", () => world.clusters.asked().length > probed + 1);
      expect(await state()).toBe("withdrawn");
      expect(await connection()).toBe("ConnectionInitializationSucceeded=False/ResourceBudgetExceeded");
    });

    const allowMore = (): Promise<void> => {
      const quota = { deployments: 9, syncsPerMinute: 9, environmentObjects: 34_360 };
      return world.applyFleet({ workspaces: { selector: {}, everyNamespace: true, quota } });
    };

    const allowMoreByClass = async (): Promise<void> => {
      const quota = { deployments: 9, syncsPerMinute: 9, environmentObjects: 20_000 };
      const classQuotas = [{ class: "eu/large/public", environmentObjects: 34_360 }];
      await world.applyFleet({ workspaces: { selector: {}, everyNamespace: true, quota, classQuotas } });
      await world.assign("eu/large/public");
    };

    it.each([
      ["the administrator allows what was measured", {}, allowMore],
      ["its workspace is given a class that allows what was measured", {}, allowMoreByClass],
      ["its spec is changed", { changeFrom: millis(0) }, () => world.putEnvironment({ namespaces: ["db"] })],
      ["its Secret is changed", { changeFrom: millis(0) }, changeSecret],
      ["the time is over", { until: millis(0) }, () => world.putEnvironment({}, "jane", "prod", { "example.org/touched": "yes" })],
    ])("is used again once %s", async (_what, times: Partial<Withholding>, change) => {
      world.startEnvironmentController();
      await deploy();
      await withhold(measured(times));
      if (times.until === undefined) await says("False", "ResourceBudgetExceeded");
      await change();
      await says("True", "Succeeded");
      await eventually("it is connected", async () => (await state()) === "connected");
    });
  });

  it("that the watch still shows drives out none that the API server has by now under its name", async () => {
    let answers: string | undefined = "another-uid";
    world.startEnvironmentController((ports) => ({
      ...ports,
      resources: { ...ports.resources, readUid: async (at, signal) => answers ?? ports.resources.readUid(at, signal) },
    }));
    world.clusters.serve(SERVER, "token-1");
    await world.putSecret("token-1");
    await world.putEnvironment();
    await eventually("its cluster was visited twice", () => world.clusters.asked().length >= 2);
    expect(await world.rows()).toEqual([]);
    answers = undefined;
    await eventually("it is recorded once it is the one", async () => (await state()) === "connected");
  });

  it("at a cluster that never answers leaves slots to other workspaces, however many there are", async () => {
    await world.namespace("bob");
    await world.putSecret("token-1");
    for (let index = 0; index < 20; index += 1) await world.putEnvironment({}, "jane", `env-${index}`);
    world.clusters.hold(true);
    world.startEnvironmentController();
    await eventually("jane's share is used up", () => world.clusters.asked().length >= 4);
    await world.putEnvironment({}, "bob");
    await eventually("bob was notified", async () => (await world.saidOfEnvironment("bob")).length > 0);
    expect(world.clusters.asked()).toHaveLength(4);
    world.clusters.hold(false);
  });

  it("S5: that is slow delays no deployment", async () => {
    world.startEnvironmentController();
    world.startController();
    world.clusters.hold(true);
    await world.putSecret("token-1");
    await world.putEnvironment();
    await eventually("somebody waits for the cluster", () => world.clusters.asked().length > 0);
    await world.apply("guestbook");
    await eventually("the deployment is recorded", async () => (await world.row("guestbook")) !== undefined);
    expect(await connection()).toBeUndefined();
    world.clusters.hold(false);
  });
});

describe("a deployment that names an environment", () => {
  it("is recorded although there is none, says so, and recovers by itself", async () => {
    world.startEnvironmentController();
    world.startController();
    await world.apply("guestbook", { spec: aSpec({ destination: { environment: "prod", namespace: "web" } }) });
    await eventually("its user knows", async () => (await world.said("guestbook")).includes("Ready=False/EnvironmentUnavailable"));
    expect(await world.said("guestbook")).toContain("ErrorOccurred=True/ErrorOccurred");
    await connected();
    await eventually("the error is resolved", async () =>
      (await world.said("guestbook")).includes("ErrorOccurred=False/ErrorOccurredResolved"),
    );
    expect((await world.row("guestbook"))?.environment).toMatchObject({ name: "prod", state: "connected" });
    await world.removeEnvironment();
    await eventually("its user knows again", async () => (await world.said("guestbook")).includes("Ready=False/EnvironmentUnavailable"));
  });
});

describe("an environment of a namespace that is deleted", () => {
  it("stays as it is until the deployments that use it are being deleted, whatever goes first", async () => {
    let asked = 0;
    world.startEnvironmentController(({ store, ...ports }) => {
      const recordEnd: typeof store.environments.recordEnd = (...args) => {
        asked += 1;
        return store.environments.recordEnd(...args);
      };
      return { ...ports, store: { ...store, environments: { ...store.environments, recordEnd } } };
    });
    await world.hands.mergePatch(NAMESPACES, JANE, { metadata: { finalizers: ["example.com/hold"] } }, world.signal);
    await connected();
    const controller = world.startController();
    await world.apply("guestbook", { spec: aSpec({ destination: { environment: "prod", namespace: "web" } }) });
    await eventually("the deployment is recorded", async () => (await world.row("guestbook")) !== undefined);
    await world.answer("guestbook");
    const uid = (await world.row("guestbook"))?.application.uid ?? "";
    await controller.stop();

    await world.hands.delete(NAMESPACES, JANE, {}, world.signal);
    await world.removeSecret();
    await world.removeEnvironment();
    await world.remove("guestbook");
    await eventually("its end was asked for", () => asked > 1);
    expect(await state()).toBe("connected");
    expect((await world.rowOf(uid))?.application.deletion).toBe("none");

    world.startController();
    await eventually("the deployment is being deleted", async () => (await world.rowOf(uid))?.application.deletion === "cascade");
    await eventually("then it is leaving", async () => (await state()) === "leaving");
    await world.finishDeletion(uid);
    await eventually("and gone", async () => (await state()) === "");
  });
});

describe("an environment that wants an account of its own", () => {
  const withAccount = { createNewServiceAccount: true };
  const accounts = () => world.clusters.accountsAt(SERVER);
  const isUsed = async () => accounts().length === 1 && (await world.storedToken()) === `token-of-${accounts()[0]}`;
  const place = async () => {
    world.startController();
    await world.apply("guestbook", { spec: aSpec({ destination: { environment: "prod", namespace: "web" } }) });
    await eventually("it is recorded", async () => (await world.row("guestbook")) !== undefined);
    await world.answer("guestbook");
  };

  it("gets it once its unit has an owner, and its deployments use nothing else", async () => {
    world.startEnvironmentController();
    world.clusters.serve(SERVER, "token-1");
    await world.putSecret("token-1");
    await world.putEnvironment(withAccount);
    await says("True", "Succeeded");
    expect(accounts()).toEqual([]);
    expect(await state()).toBe("withdrawn");
    await place();
    await eventually("it is used", isUsed);
    await eventually("deployments may go there", async () => (await state()) === "connected");
    expect(accounts()[0]).toMatch(/^u-[0-9a-f]{20}$/);
  });

  it("says which right is missing for a token, and goes on once it is there", async () => {
    world.startEnvironmentController();
    await place();
    world.clusters.makeTokens(false);
    world.clusters.serve(SERVER, "token-1");
    await world.putSecret("token-1");
    await world.putEnvironment(withAccount);
    await says("False", "UnableToInstallServiceAccount");
    expect((await world.messagesOfEnvironment()).join()).toContain("serviceaccounts/token in the namespace argosy-accounts");
    expect(await state()).toBe("withdrawn");
    world.clusters.makeTokens(true);
    await says("True", "Succeeded");
    await eventually("it is used", isUsed);
  });

  it("keeps the token without an end of an earlier version until it gets another, and removes its Secret once the entry has that", async () => {
    world.startEnvironmentController();
    await place();
    world.clusters.serve(SERVER, "token-1");
    await world.putSecret("token-1");
    await world.putEnvironment(withAccount);
    await eventually("it is used", isUsed);
    const [row] = await world.rows();
    const id = row?.id as EnvironmentId;
    const [workspace] = await world.store.intents.listKnownWorkspaces("api", { limit: 1_000, after: "" }, world.signal);
    const [unit] = await world.store.placements.readUnitsOf(workspace?.workspaceId as WorkspaceId, world.signal);
    const account = { unitId: unit?.id as UnitId, instanceId: unit?.owner as InstanceId };
    const plaintext = JSON.stringify({ server: SERVER, token: "endless" });
    await world.store.environments.putCredential({ id, use: { purpose: "environment-account", account }, plaintext }, world.signal);

    world.clusters.makeTokens(false);
    await world.putEnvironment({ ...withAccount, allowInsecureSkipTLSVerify: true });
    await says("False", "UnableToInstallServiceAccount");
    expect([await state(), await world.storedToken()]).toEqual(["connected", "endless"]);

    world.clusters.makeTokens(true);
    await world.putEnvironment(withAccount);
    await says("True", "Succeeded");
    await eventually("it has another", isUsed);
    await world.putEnvironment({ ...withAccount, allowInsecureSkipTLSVerify: true });
    await eventually("it was visited again", async () => (await world.rows())[0]?.generation === 4);
    expect(world.clusters.cleaned()).toEqual([]);
    const entry = { ...account, kind: "cluster-entry", subject: id, appliedRevision: 1_000, epoch: unit?.epoch ?? 0, uid: "u", hash: "h" };
    await world.store.shards.acknowledge([entry as never], world.signal);
    await eventually("the Secret is gone", async () => {
      await world.putEnvironment({ ...withAccount, allowInsecureSkipTLSVerify: true }, "jane", "prod", {
        visited: String(performance.now()),
      });
      return world.clusters.cleaned().length > 0;
    });
    expect(world.clusters.cleaned()).toEqual(accounts());
  });

  it("is as the user last said: an account is made when it is wanted, and goes when it is not any more", async () => {
    world.startEnvironmentController();
    await connected();
    await world.putEnvironment({ namespaces: ["web"], ...withAccount });
    await eventually("nothing may go there with the user's own credential", async () => (await state()) === "withdrawn");
    await place();
    await eventually("it is used", isUsed);
    await world.putEnvironment({ namespaces: ["web"] });
    await eventually("the user's own is used", async () => (await world.storedToken()) === "token-1");
    await eventually("the account is gone", () => accounts().length === 0);
    expect(await state()).toBe("connected");
  });

  it("gets another when what it may do changes, so that no right stays behind", async () => {
    world.startEnvironmentController();
    await place();
    await connected();
    await world.putEnvironment({ namespaces: ["web", "db"], ...withAccount });
    await eventually("it is used", isUsed);
    expect(world.clusters.removals()).toBe(0);
    await world.putEnvironment({ namespaces: ["web"], ...withAccount });
    await eventually("what it had is removed", () => world.clusters.removals() === 1);
    await eventually("it is used again", isUsed);
    expect((await world.rows())[0]?.state).toBe("connected");
  });

  it("S8: loses it when it goes, after everything that used it", async () => {
    world.startEnvironmentController();
    await place();
    world.clusters.serve(SERVER, "token-1");
    await world.putSecret("token-1");
    await world.putEnvironment(withAccount);
    await eventually("it is used", isUsed);
    const [row] = await world.rows();
    const epoch = 1;
    const entry = {
      instanceId: "instance-1",
      kind: "cluster-entry",
      subject: row?.id ?? "",
      appliedRevision: 1,
      epoch,
      uid: "u",
      hash: "h",
    } as const;
    await world.store.shards.acknowledge([entry as never], world.signal);
    await world.removeEnvironment();
    await eventually("it is leaving", async () => (await state()) === "leaving");
    expect(accounts()).toHaveLength(1);
    await world.store.shards.forgetObjects([entry as never], world.signal);
    await eventually("nothing is left", async () => (await state()) === "" && accounts().length === 0);
  });

  it("keeps trying to remove it while the cluster is away, and gives up when it may not", async () => {
    world.startEnvironmentController();
    await place();
    world.clusters.serve(SERVER, "token-1");
    await world.putSecret("token-1");
    await world.putEnvironment(withAccount);
    await eventually("it is used", isUsed);
    world.clusters.serve(SERVER, "away");
    await world.removeEnvironment();
    await eventually("it is leaving", async () => (await state()) === "leaving");
    world.clusters.serve(SERVER, "another token");
    await eventually("nothing is left of the row", async () => (await state()) === "");
  });
});
