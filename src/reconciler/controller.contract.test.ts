import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { InstanceId } from "../domain/ids.ts";
import { READER_ROLE } from "../domain/names.ts";
import type { KubeObject } from "../runtime/kube/resource.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import type { ObjectAt } from "../shard/managed-object.ts";
import { accountName, clusterEntryName, formerReaderBindingName, projectName, readAccountName, readerBindingName } from "../shard/names.ts";
import { CASCADE_FINALIZER } from "../shard/plan-application.ts";
import { createPromMetrics } from "../telemetry/prom-metrics.ts";
import {
  APPLICATIONS,
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  ENGINE_SECRETS,
  PROJECTS,
  ROLE_BINDINGS,
  ROLE_OBJECTS,
  SERVICE_ACCOUNTS,
} from "./adapters/kubernetes/types.ts";
import { deploying, type Raw } from "./testing/deploy.ts";
import { eventually, passes } from "./testing/until.ts";
import type { World } from "./testing/world.ts";
import { DESTINATION, startWorld } from "./testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const { deploy, applicationAt, readApplication, readOwnerBinding, isAcknowledged } = deploying(() => world);
const writes = (): readonly string[] =>
  [...world.apiServer.requests(), ...world.engineServer.requests()]
    .filter(({ method }) => method !== "GET")
    .map(({ method, url }) => `${method} ${url}`);

/** By what an instance of an earlier version reads. */
function formerBinding({ id }: { readonly id: InstanceId }): KubeObject {
  const metadata = {
    name: formerReaderBindingName(id),
    labels: { "app.kubernetes.io/managed-by": "argosy", "argosy.dev/instance": id },
  };
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "argosy-reader" };
  return { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding", metadata, roleRef } as KubeObject;
}

describe("making an instance equal to its rows", () => {
  test("gives a placed application everything it needs, and says so", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("the application is acknowledged", () => isAcknowledged(deployed));

    const { instance, unit, application } = deployed;
    const account = accountName(unit.id, instance.id);
    const reader = readAccountName(instance.id);
    const raw = await readApplication(deployed);
    expect(raw?.metadata.finalizers).toBeUndefined();
    expect(raw?.spec).toMatchObject({ project: projectName(unit.id), destination: { server: DESTINATION.server, namespace: "team-a" } });
    expect((await readOwnerBinding())?.subjects).toEqual([{ kind: "ServiceAccount", name: account, namespace: "argosy-accounts" }]);
    expect(await world.hands.api.get(SERVICE_ACCOUNTS, { namespace: "argosy-accounts", name: account }, world.signal)).toBeDefined();
    const project = await world.hands.engine.get<Raw>(
      PROJECTS,
      { namespace: instance.namespace, name: projectName(unit.id) },
      world.signal,
    );
    expect(project?.spec).toMatchObject({ sourceRepos: [application.spec.source.repoUrl], destinations: [{ namespace: "team-a" }] });
    const role = await world.hands.api.get<Raw>(ROLE_OBJECTS, { namespace: "argosy-accounts", name: reader }, world.signal);
    expect(role?.rules?.[0]?.resourceNames).toEqual([account]);
    expect(
      await world.hands.api.get(CLUSTER_ROLE_BINDINGS, { namespace: "", name: readerBindingName(instance.id) }, world.signal),
    ).toBeDefined();
    const entry = await world.hands.engine.get<Raw>(
      ENGINE_SECRETS,
      { namespace: instance.namespace, name: clusterEntryName(DESTINATION.server) },
      world.signal,
    );
    expect(Buffer.from(entry?.data?.["config"] ?? "", "base64").toString()).toContain(`token-of-${reader}`);
    for (const kind of ["account", "owner-binding", "project"] as const)
      expect(await world.rows.acknowledged(kind, unit.id)).toMatchObject({
        epoch: unit.epoch,
        appliedRevision: (await world.rows.unit(unit.id))?.desiredRevision,
      });
  });

  test("lets an instance of an earlier version read by the narrow role before it takes the wide one away", async () => {
    const { instance } = await deploy();
    const former = { namespace: "", name: formerReaderBindingName(instance.id) };
    await world.hands.api.create<KubeObject>(CLUSTER_ROLE_BINDINGS, formerBinding(instance), world.signal);
    await world.startReconciler();
    await eventually(
      "the wide one is gone",
      async () => (await world.hands.api.get(CLUSTER_ROLE_BINDINGS, former, world.signal)) === undefined,
    );
    const steps = writes().filter((write) => write.includes("clusterrolebindings"));
    expect(steps.map((write) => write.split(" ")[0])).toEqual(["POST", "POST", "DELETE"]);
    expect(
      await world.hands.api.get(CLUSTER_ROLE_BINDINGS, { namespace: "", name: readerBindingName(instance.id) }, world.signal),
    ).toMatchObject({
      roleRef: { name: "argosy-instance-reader" },
    });
  });

  test("leaves the wide one beside the narrow one for a while: who decides may know the binding and not yet the rules", async () => {
    const { instance } = await deploy();
    const former = { namespace: "", name: formerReaderBindingName(instance.id) };
    await world.hands.api.create<KubeObject>(CLUSTER_ROLE_BINDINGS, formerBinding(instance), world.signal);
    const clock = createVirtualClock();
    await world.startReconciler(undefined, { clock, formerStaysMs: 60_000 });
    const isThere = async (at: ObjectAt) => (await world.hands.api.get(CLUSTER_ROLE_BINDINGS, at, world.signal)) !== undefined;
    const narrow = { namespace: "", name: readerBindingName(instance.id) };
    await passes({ clock, withinMs: 30_000 }, "it reads by the narrow one", () => isThere(narrow));
    expect(await isThere(former)).toBe(true);
    const sinceMs = clock.monotonicMs();
    await passes({ clock, withinMs: 300_000 }, "the wide one is gone", async () => !(await isThere(former)));
    expect(clock.monotonicMs() - sinceMs).toBeGreaterThan(25_000);
  });

  test("gives an instance no entry for a cluster of which it may read nothing yet", async () => {
    const role = { namespace: "", name: READER_ROLE };
    await world.hands.api.mergePatch(CLUSTER_ROLES, role, { rules: [] }, world.signal);
    const { instance } = await deploy();
    const reconciler = await world.startReconciler();
    const hasEntry = async () =>
      (await world.hands.engine.get(
        ENGINE_SECRETS,
        { namespace: instance.namespace, name: clusterEntryName(DESTINATION.server) },
        world.signal,
      )) !== undefined;
    await eventually("its account stands", async () => {
      const at = { namespace: "argosy-accounts", name: readAccountName(instance.id) };
      return (await world.hands.api.get(SERVICE_ACCOUNTS, at, world.signal)) !== undefined;
    });
    await reconciler.idle();
    expect(await hasEntry()).toBe(false);
    expect(writes().some((write) => write.includes("clusterrolebindings"))).toBe(false);
    const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] }];
    await world.hands.api.mergePatch(CLUSTER_ROLES, role, { rules }, world.signal);
    await eventually("it has its entry", hasEntry);
  });

  test("writes no Application before the instance can enter the cluster it goes to", async () => {
    const release = world.apiServer.faults.hold({ method: "POST", path: /serviceaccounts\/read-.*\/token/ });
    await world.startReconciler();
    const deployed = await deploy();
    await eventually("the unit was read", () => (world.rows.statements()["readUnit"] ?? 0) > 0);
    await eventually("a token is asked for", () => world.apiServer.requests().some(({ url }) => url.endsWith("/token")));
    expect(await readApplication(deployed)).toBeUndefined();
    release();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
  });

  test("runs the key of a first application once: prerequisites come first, and ask for it", async () => {
    const metrics = createPromMetrics({ process: false });
    const deployed = await deploy();
    const reconciler = await world.startReconciler(undefined, { metrics });
    await eventually("the application is acknowledged", () => isAcknowledged(deployed));
    await reconciler.idle();
    expect(await metrics.text()).toContain('argosy_queue_work_seconds_count{queue="applications"} 1\n');
  });

  test("turns one more application into one read, one write and one acknowledgement", async () => {
    const deployed = await deploy();
    const reconciler = await world.startReconciler();
    await eventually("the first one is acknowledged", () => isAcknowledged(deployed));
    await reconciler.idle();
    const before = world.rows.statements();
    const written = writes().length;

    const second = await world.rows.addApplication("team-a", "second");
    await eventually("the second one is acknowledged", async () => (await world.rows.acknowledged("application", second.id)) !== undefined);
    await reconciler.idle();

    const after = world.rows.statements();
    expect(Object.fromEntries(Object.keys(after).map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]))).toMatchObject({
      readApplications: 1,
      acknowledge: 1,
      readUnit: 0,
    });
    expect(
      writes()
        .slice(written)
        .map((write) => write.split(" ")[0]),
    ).toEqual(["POST"]);
  });

  test("changes an Application whose row changes, under tests of what it was", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    await world.rows.changeSpec(deployed.application, { type: "manual" });
    await eventually(
      "the change is acknowledged",
      async () => (await world.rows.acknowledged("application", deployed.application.id))?.appliedRevision === 2,
    );

    expect((await readApplication(deployed))?.spec).not.toHaveProperty("syncPolicy.automated");
    const patch = world.engineServer.requests().find(({ method, url }) => method === "PATCH" && url.includes("/applications/"));
    expect(
      JSON.parse(patch?.body ?? "[]")
        .filter((step: { op: string }) => step.op === "test")
        .map((step: { path: string }) => step.path),
    ).toEqual(["/metadata/uid", "/metadata/resourceVersion", "/metadata/annotations/argosy.dev~1epoch"]);
  });

  test("W1: finds rows whose notifications were lost, new ones and changed ones", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    world.rows.mute(true);
    const second = await world.rows.addApplication("team-a", "second");
    await world.rows.changeSpec(deployed.application, { type: "manual" });
    world.rows.missNotifications();
    await eventually("the new one is found", async () => (await world.rows.acknowledged("application", second.id)) !== undefined);
    await eventually("the change is found", async () => {
      return (await world.rows.acknowledged("application", deployed.application.id))?.appliedRevision === 2;
    });
  });

  test("goes on where it stopped when the database comes back", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    world.rows.setAway(true);
    await world.rows.changeSpec(deployed.application, { type: "manual" });
    await eventually("somebody tried", () => (world.rows.statements()["readApplications"] ?? 0) > 2);
    world.rows.setAway(false);
    await eventually(
      "the change is acknowledged",
      async () => (await world.rows.acknowledged("application", deployed.application.id))?.appliedRevision === 2,
    );
  });
});

describe("repairing what people do by hand", () => {
  test("makes deleted objects anew", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    const old = (await readApplication(deployed))?.metadata.uid;
    await world.hands.engine.delete(APPLICATIONS, applicationAt(deployed), {}, world.signal);
    await world.hands.engine.delete(
      PROJECTS,
      { namespace: deployed.instance.namespace, name: projectName(deployed.unit.id) },
      {},
      world.signal,
    );
    await world.hands.api.delete(ROLE_BINDINGS, { namespace: "team-a", name: "argosy-deployer" }, {}, world.signal);
    await world.hands.engine.delete(
      ENGINE_SECRETS,
      { namespace: deployed.instance.namespace, name: clusterEntryName(DESTINATION.server) },
      {},
      world.signal,
    );

    await eventually(
      "the Application is back as another",
      async () => ![undefined, old].includes((await readApplication(deployed))?.metadata.uid),
    );
    await eventually("the owner binding is back", async () => (await readOwnerBinding()) !== undefined);
    await eventually(
      "the project is back",
      async () =>
        (await world.hands.engine.get(
          PROJECTS,
          { namespace: deployed.instance.namespace, name: projectName(deployed.unit.id) },
          world.signal,
        )) !== undefined,
    );
    await eventually(
      "the entry is back",
      async () =>
        (await world.hands.engine.get(
          ENGINE_SECRETS,
          { namespace: deployed.instance.namespace, name: clusterEntryName(DESTINATION.server) },
          world.signal,
        )) !== undefined,
    );
    const uid = (await readApplication(deployed))?.metadata.uid;
    await eventually(
      "the new uid is recorded",
      async () => (await world.rows.acknowledged("application", deployed.application.id))?.uid === uid,
    );
  });

  test("W4: undoes edits, also those that leave the recorded hash alone, of the project too", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    await world.hands.engine.mergePatch(
      APPLICATIONS,
      applicationAt(deployed),
      { spec: { project: "default" }, metadata: { annotations: { "argocd.argoproj.io/skip-reconcile": "true" } } },
      world.signal,
    );
    await world.hands.api.mergePatch(
      ROLE_BINDINGS,
      { namespace: "team-a", name: "argosy-deployer" },
      { subjects: [{ kind: "User", name: "mallory", apiGroup: "rbac.authorization.k8s.io" }] },
      world.signal,
    );
    const projectAt = { namespace: deployed.instance.namespace, name: projectName(deployed.unit.id) };
    await world.hands.engine.mergePatch(
      PROJECTS,
      projectAt,
      { spec: { sourceRepos: ["*"], destinations: [{ server: "*", namespace: "*" }] } },
      world.signal,
    );
    await eventually("the project is as it was", async () => {
      const spec = (await world.hands.engine.get<Raw>(PROJECTS, projectAt, world.signal))?.spec;
      const { sourceRepos, destinations } = spec as { readonly sourceRepos: unknown; readonly destinations: unknown };
      return !JSON.stringify([sourceRepos, destinations]).includes('"*"');
    });
    await eventually("the Application is as it was", async () => {
      const raw = await readApplication(deployed);
      return (
        !JSON.stringify(raw?.spec).includes('"default"') && raw?.metadata.annotations?.["argocd.argoproj.io/skip-reconcile"] === undefined
      );
    });
    await eventually("the owner binding is as it was", async () =>
      JSON.stringify((await readOwnerBinding())?.subjects).includes(accountName(deployed.unit.id, deployed.instance.id)),
    );
  });

  test("takes back an Application whose labels were removed", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    await world.hands.engine.jsonPatch(APPLICATIONS, applicationAt(deployed), [{ op: "remove", path: "/metadata/labels" }], world.signal);
    await eventually(
      "the labels are back",
      async () => (await readApplication(deployed))?.metadata.labels?.["argosy.dev/application"] === deployed.application.id,
    );
  });

  test("replaces an owner binding that binds another role, for it cannot be changed", async () => {
    await world.hands.api.create(
      ROLE_BINDINGS,
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "RoleBinding",
        metadata: { name: "argosy-deployer", namespace: "team-a" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
        subjects: [],
      } as never,
      world.signal,
    );
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    expect(await readOwnerBinding()).toMatchObject({
      roleRef: { name: "argosy-deployer" },
      subjects: [{ name: accountName(deployed.unit.id, deployed.instance.id) }],
    });
  });

  test("keeps the workloads of a wanted Application that is being deleted with its cascade, and makes it anew (I2)", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    world.freezeEngine(true);
    const old = (await readApplication(deployed))?.metadata.uid;
    await world.hands.engine.mergePatch(
      APPLICATIONS,
      applicationAt(deployed),
      { metadata: { finalizers: [CASCADE_FINALIZER, "example.org/other"] } },
      world.signal,
    );
    // The finalizer may be taken off before the deletion; either way the cascade must not run.
    await world.hands.engine.delete(APPLICATIONS, applicationAt(deployed), {}, world.signal);
    await eventually(
      "only the other finalizer is left",
      async () => JSON.stringify((await readApplication(deployed))?.metadata.finalizers) === '["example.org/other"]',
    );
    await world.hands.engine.mergePatch(APPLICATIONS, applicationAt(deployed), { metadata: { finalizers: null } }, world.signal);
    await eventually("it is back", async () => ![undefined, old].includes((await readApplication(deployed))?.metadata.uid));
  });
});

describe("deleting", () => {
  test("lets Argo CD delete the workloads first, and forgets the row when the Application is gone", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    world.freezeEngine(true);
    await world.rows.deleteApplication(deployed.application, "cascade");
    await eventually("it is on its way out", async () => (await readApplication(deployed))?.metadata.deletionTimestamp !== undefined);
    expect((await readApplication(deployed))?.metadata.finalizers).toEqual([CASCADE_FINALIZER]);
    expect(await world.rows.application(deployed.application.id)).toBeDefined();
    world.freezeEngine(false);
    await eventually("the row is gone", async () => (await world.rows.application(deployed.application.id)) === undefined);
    expect(await readApplication(deployed)).toBeUndefined();
  });

  test("takes the project away after the last application, acknowledges that, and makes it anew for the next one", async () => {
    const deployed = await deploy();
    const reconciler = await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    const at = { namespace: deployed.instance.namespace, name: projectName(deployed.unit.id) };
    const project = () => world.hands.engine.get(PROJECTS, at, world.signal);
    await world.rows.deleteApplication(deployed.application, "cascade");
    await eventually("the project is gone", async () => (await project()) === undefined);
    await reconciler.idle();
    const { desiredRevision } = (await world.rows.unit(deployed.unit.id)) ?? deployed.unit;
    expect(await world.rows.acknowledged("project", deployed.unit.id)).toMatchObject({ appliedRevision: desiredRevision, uid: "" });
    expect(await readOwnerBinding()).toBeDefined();
    const next = await world.rows.addApplication("team-a", "next");
    await eventually("the next one stands", async () => (await world.rows.acknowledged("application", next.id)) !== undefined);
    expect(await project()).toBeDefined();
  });

  test("leaves the workloads alone when they are to stay", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    await world.rows.deleteApplication(deployed.application, "orphan");
    await eventually("the row is gone", async () => (await world.rows.application(deployed.application.id)) === undefined);
    const patches = world.engineServer.requests().filter(({ method, url }) => method === "PATCH" && url.includes("/applications/"));
    expect(patches.filter(({ body }) => body.includes(CASCADE_FINALIZER))).toEqual([]);
  });

  test("W3: takes down what stood for a workspace after its last application", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    await world.rows.deleteApplication(deployed.application, "cascade");
    await eventually("the row is gone", async () => (await world.rows.application(deployed.application.id)) === undefined);
    await world.rows.endWorkspace(deployed.application);
    await eventually("the owner binding is gone", async () => (await readOwnerBinding()) === undefined);
    await eventually("nobody may be impersonated", async () => {
      const role = await world.hands.api.get<Raw>(
        ROLE_OBJECTS,
        { namespace: "argosy-accounts", name: readAccountName(deployed.instance.id) },
        world.signal,
      );
      return role?.rules?.length === 0;
    });
    expect(
      await world.hands.engine.get(PROJECTS, { namespace: deployed.instance.namespace, name: projectName(deployed.unit.id) }, world.signal),
    ).toBeUndefined();
  });

  test("takes the rights of an instance back when it is retired", async () => {
    const instance = await world.rows.addInstance("one");
    const reader = { namespace: "argosy-accounts", name: readAccountName(instance.id) };
    await world.startReconciler();
    const entry = { namespace: instance.namespace, name: clusterEntryName(DESTINATION.server) };
    await eventually("it has its entry", async () => (await world.hands.engine.get(ENGINE_SECRETS, entry, world.signal)) !== undefined);
    await world.rows.retire(instance);
    await eventually("its account is gone", async () => (await world.hands.api.get(SERVICE_ACCOUNTS, reader, world.signal)) === undefined);
    for (const type of [ENGINE_SECRETS, ROLE_OBJECTS, ROLE_BINDINGS])
      expect(await world.hands.api.get(type, reader, world.signal)).toBeUndefined();
    const binding = { namespace: "", name: `argosy-${reader.name}` };
    expect(await world.hands.api.get(CLUSTER_ROLE_BINDINGS, binding, world.signal)).toBeUndefined();
  });

  test("removes an Application whose row is gone, without its workloads, once a second sweep confirms it (I2)", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("it is acknowledged", () => isAcknowledged(deployed));
    const late = {
      ...(await readApplication(deployed)),
      metadata: {
        name: "late",
        namespace: deployed.instance.namespace,
        finalizers: [CASCADE_FINALIZER],
        labels: {
          "app.kubernetes.io/managed-by": "argosy",
          "argosy.dev/instance": deployed.instance.id,
          "argosy.dev/application": "application-99",
        },
      },
    };
    await world.hands.engine.create(APPLICATIONS, late as KubeObject, world.signal);
    const readLate = (): Promise<Raw | undefined> =>
      world.hands.engine.get(APPLICATIONS, { namespace: deployed.instance.namespace, name: "late" }, world.signal);
    await eventually("it is gone", async () => {
      world.rows.missNotifications();
      return (await readLate()) === undefined;
    });
    const deletion = world.engineServer.requests().find(({ method, url }) => method === "DELETE" && url.endsWith("/late"));
    expect(JSON.parse(deletion?.body ?? "{}")).toMatchObject({
      preconditions: { uid: expect.any(String), resourceVersion: expect.any(String) },
    });
    expect(await readApplication(deployed)).toBeDefined();
  });
});
