import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KubeObject, ResourceType } from "../../runtime/kube/resource.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { accountName, environmentEntryName, projectName } from "../../shard/names.ts";
import { CASCADE_FINALIZER } from "../../shard/plan-application.ts";
import { APPLICATIONS, ENGINE_SECRETS, PROJECTS, ROLE_BINDINGS, SERVICE_ACCOUNTS } from "../adapters/kubernetes/types.ts";
import { type Deployed, deploying, type Raw } from "../testing/deploy.ts";
import { addEnvironment } from "../testing/environments.ts";
import { eventually, passes } from "../testing/until.ts";
import { EVERYTHING_IS_MINE, startWorld, type World } from "../testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const { deploy, isAcknowledged } = deploying(() => world);

/** A unit with one object of each kind. */
async function deployWithEverything(): Promise<Deployed & { readonly environmentEntry: string }> {
  const deployed = await deploy();
  await world.rows.addCredential(deployed.application, "a");
  const environment = await addEnvironment(world);
  await environment.connect("token");
  await world.rows.addApplication("team-a", "elsewhere", { destination: { environment: "prod", namespace: "web" } });
  return { ...deployed, environmentEntry: environmentEntryName(environment.id) };
}

const writes = () => [...world.apiServer.requests(), ...world.engineServer.requests()].filter(({ method }) => method !== "GET").length;
const reviews = () => world.rows.statements()["readUnit"] ?? 0;
const isStanding = (deployed: Deployed) => async () => {
  const desired = (await world.rows.unit(deployed.unit.id))?.desiredRevision ?? 0;
  return (
    ((await world.rows.acknowledged("project", deployed.unit.id))?.appliedRevision ?? -1) >= desired && (await isAcknowledged(deployed))
  );
};

describe("a thorough sweep", () => {
  test("puts back whatever of a unit was deleted or edited while nobody watched", async () => {
    const deployed = await deployWithEverything();
    const first = await world.startReconciler();
    await eventually("everything stands", isStanding(deployed));
    await first.idle();
    await first.stop();

    const { engine, api } = world.hands;
    const { namespace } = deployed.instance;
    const repositories = async () =>
      (await engine.listPage<Raw>(ENGINE_SECRETS, { namespace, labelSelector: "argocd.argoproj.io/secret-type=repository" }, world.signal))
        .items;
    const [repository] = await repositories();
    const account = { namespace: "argosy-accounts", name: accountName(deployed.unit.id, deployed.instance.id) };
    const ownerBinding = { namespace: "team-a", name: "argosy-deployer" };
    const project = { namespace, name: projectName(deployed.unit.id) };
    const entry = { namespace, name: deployed.environmentEntry };
    await engine.mergePatch(PROJECTS, project, { spec: { sourceRepos: ["*"] } }, world.signal);
    await engine.delete(ENGINE_SECRETS, { namespace, name: repository?.metadata.name ?? "" }, {}, world.signal);
    await engine.mergePatch(ENGINE_SECRETS, entry, { data: { project: null } }, world.signal);
    await api.delete(SERVICE_ACCOUNTS, account, {}, world.signal);
    await api.delete(ROLE_BINDINGS, ownerBinding, {}, world.signal);

    await world.startReconciler();
    await eventually("the account is back", async () => (await api.get(SERVICE_ACCOUNTS, account, world.signal)) !== undefined);
    await eventually("the owner binding is back", async () => (await api.get(ROLE_BINDINGS, ownerBinding, world.signal)) !== undefined);
    // One for each of the unit's projects.
    await eventually("the repository is back", async () => (await repositories()).length === 2);
    await eventually(
      "the project is as it was",
      async () => !JSON.stringify((await engine.get<Raw>(PROJECTS, project, world.signal))?.spec).includes('"*"]'),
    );
    await eventually(
      "the entry is as it was",
      async () => (await engine.get<Raw>(ENGINE_SECRETS, entry, world.signal))?.data?.["project"] !== undefined,
    );
  });

  test("writes nothing where it finds nothing, to no cluster and to no row", async () => {
    const deployed = await deployWithEverything();
    const reconciler = await world.startReconciler();
    await eventually("everything stands", isStanding(deployed));
    await reconciler.idle();
    const [before, written, acknowledged] = [reviews(), writes(), world.rows.statements()["acknowledge"]];
    world.rows.missNotifications();
    await eventually("the unit is compared", () => reviews() > before);
    await reconciler.idle();
    expect(writes()).toBe(written);
    expect(world.rows.statements()).toMatchObject({ acknowledge: acknowledged });
    expect(world.rows.statements()["forgetObjects"]).toBeUndefined();
  });

  test("compares each unit at the start and every half hour, for that reads its row", async () => {
    const clock = createVirtualClock();
    const deployed = await deploy();
    const reconciler = await world.startReconciler(EVERYTHING_IS_MINE, { clock });
    await passes({ clock, withinMs: 60_000 }, "everything stands", isStanding(deployed));
    await reconciler.idle();
    const [before, sweeps, startMs] = [reviews(), world.rows.statements()["listOwned"] ?? 0, clock.monotonicMs()];
    await passes(
      { clock, withinMs: 20 * 60_000 },
      "it was swept thoroughly",
      () => (world.rows.statements()["listOwned"] ?? 0) >= sweeps + 3,
    );
    expect(reviews()).toBe(before);
    await passes({ clock, withinMs: 36 * 60_000 }, "it was compared again", () => reviews() > before);
    expect(clock.monotonicMs() - startMs).toBeGreaterThan(28 * 60_000);
  });

  const labels = (unit: string, instance: string) => ({
    "app.kubernetes.io/managed-by": "argosy",
    "argosy.dev/unit": unit,
    "argosy.dev/instance": instance,
  });

  async function addLeftovers({ instance }: Deployed, unit: string): Promise<() => Promise<readonly string[]>> {
    const { engine, api } = world.hands;
    const made: (() => Promise<KubeObject | undefined>)[] = [];
    const add = async (client: typeof api, type: ResourceType, metadata: KubeObject["metadata"], apiVersion: string) => {
      await client.create<KubeObject>(type, { apiVersion, kind: type.kind, metadata } as KubeObject, world.signal);
      made.push(() => client.get(type, { namespace: metadata.namespace ?? "", name: metadata.name }, world.signal));
    };
    const at = (name: string, secretType?: string) => ({
      namespace: instance.namespace,
      name: `${name}-of-${unit}`,
      labels: {
        ...labels(unit, instance.id),
        ...(secretType === undefined ? {} : { "argocd.argoproj.io/secret-type": secretType, "argosy.dev/environment": "e" }),
      },
    });
    await add(engine, PROJECTS, at("project"), "argoproj.io/v1alpha1");
    await add(engine, ENGINE_SECRETS, at("entry", "cluster"), "v1");
    await add(engine, ENGINE_SECRETS, at("repository", "repository"), "v1");
    const ofEnvironments = at("environments-repository", "repository");
    const { "argosy.dev/unit": owner, ...others } = ofEnvironments.labels;
    await add(engine, ENGINE_SECRETS, { ...ofEnvironments, labels: { ...others, "argosy.dev/unit-of-environments": owner } }, "v1");
    await add(api, SERVICE_ACCOUNTS, { ...at("account"), namespace: "argosy-accounts" }, "v1");
    return async () => (await Promise.all(made.map((read) => read()))).flatMap((found) => found?.metadata.name ?? []);
  }

  test("clears what stands for a unit that is gone: project, entry, repository and account", async () => {
    const deployed = await deploy();
    const left = await addLeftovers(deployed, "nobody");
    await world.startReconciler();
    await eventually("the unit stands", isStanding(deployed));
    await eventually("nothing is left of the other", async () => (await left()).length === 0);
    await eventually("the unit stands as before", isStanding(deployed));
  });

  test("clears the owner binding of a part that is gone, that of no other, and nothing where many are missing (I2, I9)", async () => {
    const deployed = await deploy();
    const first = await world.startReconciler();
    await eventually("the unit stands", isStanding(deployed));
    await first.stop();
    const ownerBinding = async (name: string, unit: string, namespace = "team-a") => {
      const metadata = { namespace, name, labels: { "app.kubernetes.io/managed-by": "argosy", "argosy.dev/unit": unit } };
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "argosy-deployer" };
      const binding = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", metadata, roleRef, subjects: [] };
      await world.hands.api.create<KubeObject>(ROLE_BINDINGS, binding as KubeObject, world.signal);
      return async () => (await world.hands.api.get(ROLE_BINDINGS, { namespace, name }, world.signal)) !== undefined;
    };
    const moved = await world.rows.addApplication("team-b", "web");
    const other = await world.rows.place(moved, (await world.rows.addInstance("two", { engineCluster: "another" })).id);
    const gone = await ownerBinding("argosy-deployer-1", "nobody");
    const staying = [
      await ownerBinding("argosy-deployer-2", other.id),
      await ownerBinding("argosy-deployer-x", "nobody"),
      await ownerBinding("argosy-deployer-1", "nobody", "nobodys"),
    ];
    const second = await world.startReconciler();
    await eventually("the binding is gone", async () => !(await gone()));
    await second.stop();
    for (const isThere of staying) expect(await isThere()).toBe(true);

    // Somebody who writes many of them keeps those, and keeps nothing else from going.
    const many = await Promise.all(
      Array.from({ length: 12 }, (_, index) => ownerBinding(`argosy-deployer-${index + 10}`, `forged-${index}`)),
    );
    const left = await addLeftovers(deployed, "nobody");
    await world.startReconciler();
    await eventually("the rest is gone", async () => (await left()).length === 0);
    for (const isThere of [...many, ...staying]) expect(await isThere()).toBe(true);
    expect(await isStanding(deployed)()).toBe(true);
  });

  test("finds within six minutes what a creation left that landed after its row was gone, whatever it made (I9)", async () => {
    const clock = createVirtualClock();
    const deployed = await deploy();
    const reconciler = await world.startReconciler(EVERYTHING_IS_MINE, { clock });
    await passes({ clock, withinMs: 60_000 }, "everything stands", isStanding(deployed));
    await reconciler.idle();

    const left = await addLeftovers(deployed, "nobody");
    const late = { namespace: deployed.instance.namespace, name: "late" };
    const application = {
      apiVersion: "argoproj.io/v1alpha1",
      kind: "Application",
      metadata: { ...late, labels: { ...labels("nobody", deployed.instance.id), "argosy.dev/application": "nothing" } },
    };
    await world.hands.engine.create<KubeObject>(APPLICATIONS, application, world.signal);
    await passes({ clock, withinMs: 6 * 60_000 }, "the Application is gone", async () => {
      return (await world.hands.engine.get(APPLICATIONS, late, world.signal)) === undefined;
    });
    await passes({ clock, withinMs: 6 * 60_000 }, "so is everything else", async () => (await left()).length === 0);
    expect(await isStanding(deployed)()).toBe(true);
  });

  test("lets what a creation deployed that landed after its cascade had ended go with it, and nothing of one that is labelled like it", async () => {
    const clock = createVirtualClock();
    const deployed = await deploy();
    const doomed = await world.rows.addApplication("team-a", "doomed");
    const reconciler = await world.startReconciler(EVERYTHING_IS_MINE, { clock });
    const at = { namespace: deployed.instance.namespace, name: doomed.argoName };
    await passes({ clock, withinMs: 60_000 }, "everything stands", isStanding(deployed));
    await passes({ clock, withinMs: 60_000 }, "so does what is doomed", isStanding({ ...deployed, application: doomed }));
    await reconciler.idle();
    const made = await world.hands.engine.get<Raw>(APPLICATIONS, at, world.signal);
    if (made === undefined) throw new Error("it was not made");
    await world.rows.deleteApplication(doomed, "cascade");
    await passes({ clock, withinMs: 60_000 }, "its row is gone", async () => (await world.rows.application(doomed.id)) === undefined);

    world.freezeEngine(true);
    const { labels: claims, annotations } = made.metadata;
    for (const name of [at.name, "labelled-like-it"]) {
      const late = { ...made, metadata: { name, namespace: at.namespace, labels: claims, annotations } };
      await world.hands.engine.create<KubeObject>(APPLICATIONS, late as KubeObject, world.signal);
    }
    const read = (name: string) => world.hands.engine.get<Raw>(APPLICATIONS, { ...at, name }, world.signal);
    await passes({ clock, withinMs: 7 * 60_000 }, "the other is gone", async () => (await read("labelled-like-it")) === undefined);
    await passes({ clock, withinMs: 60_000 }, "it is asked to go", async () => {
      return (await read(at.name))?.metadata.deletionTimestamp !== undefined;
    });
    expect((await read(at.name))?.metadata.finalizers).toEqual([CASCADE_FINALIZER]);
    world.freezeEngine(false);
    await passes({ clock, withinMs: 60_000 }, "it is gone", async () => (await read(at.name)) === undefined);
    expect(await isStanding(deployed)()).toBe(true);
  });

  test("clears what stands for a unit that lives elsewhere, and leaves what Applications still need", async () => {
    const deployed = await deploy();
    const elsewhere = await world.rows.addInstance("two", { engineCluster: "another" });
    const moved = await world.rows.addApplication("team-b", "web");
    const unit = await world.rows.place(moved, elsewhere.id);
    const left = await addLeftovers(deployed, unit.id);
    const application = {
      apiVersion: "argoproj.io/v1alpha1",
      kind: "Application",
      metadata: {
        name: "still-here",
        namespace: deployed.instance.namespace,
        labels: { ...labels(unit.id, deployed.instance.id), "argosy.dev/application": moved.id },
      },
    };
    await world.hands.engine.create<KubeObject>(APPLICATIONS, application, world.signal);
    await world.startReconciler();
    await eventually("the credential is gone", async () => !(await left()).includes(`repository-of-${unit.id}`));
    expect((await left()).length).toBe(3);
    await world.hands.engine.delete(APPLICATIONS, { namespace: deployed.instance.namespace, name: "still-here" }, {}, world.signal);
    await eventually("the rest is gone", async () => {
      world.rows.missNotifications();
      return (await left()).length === 0;
    });
  });

  test("looks for what nobody wants as soon as a cluster is back that was away", async () => {
    const clock = createVirtualClock();
    const deployed = await deploy();
    const reconciler = await world.startReconciler(EVERYTHING_IS_MINE, { clock });
    await passes({ clock, withinMs: 60_000 }, "everything stands", isStanding(deployed));
    await reconciler.idle();
    const left = await addLeftovers(deployed, "nobody");
    const sweeps = () => world.rows.statements()["listOwned"] ?? 0;
    const [before, startMs] = [sweeps(), clock.monotonicMs()];

    world.engineServer.faults.resetWatches();
    await eventually("it is watched again", () => world.engineServer.openWatches() > 3);
    await world.hands.engine.create<KubeObject>(
      APPLICATIONS,
      {
        apiVersion: "argoproj.io/v1alpha1",
        kind: "Application",
        metadata: {
          namespace: deployed.instance.namespace,
          name: "late",
          labels: { ...labels("nobody", deployed.instance.id), "argosy.dev/application": "nothing" },
        },
      } as KubeObject,
      world.signal,
    );
    // No time passes for the reconciler: nothing but the return of the cluster can make it sweep.
    await eventually("it is swept thoroughly", () => sweeps() > before);
    expect(clock.monotonicMs()).toBe(startMs);
    await passes({ clock, withinMs: 60_000 }, "nothing is left", async () => (await left()).length === 0);
  });
});
