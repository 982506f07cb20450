import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { environmentEntryName, environmentProjectName, projectName } from "../../shard/names.ts";
import { APPLICATIONS, ENGINE_SECRETS, PROJECTS } from "../adapters/kubernetes/types.ts";
import type { Deployed, Raw } from "../testing/deploy.ts";
import { deploying } from "../testing/deploy.ts";
import { addEnvironment, PROD, type TestEnvironment } from "../testing/environments.ts";
import { eventually } from "../testing/until.ts";
import { DESTINATION, startWorld, type World } from "../testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const { readApplication } = deploying(() => world);
const ELSEWHERE = { destination: { environment: "prod", namespace: "web" } };

async function deploy(): Promise<Deployed> {
  const instance = await world.rows.addInstance("one");
  const application = await world.rows.addApplication("team-a", "web", ELSEWHERE);
  return { instance, unit: await world.rows.place(application, instance.id), application };
}

const destinationOf = async (deployed: Deployed) =>
  ((await readApplication(deployed))?.spec as { readonly destination?: unknown } | undefined)?.destination;
const stands = async (deployed: Deployed, { server }: TestEnvironment) =>
  JSON.stringify(await destinationOf(deployed)) === JSON.stringify({ server, namespace: "web" });
const configOf = async (deployed: Deployed, environment: TestEnvironment) =>
  JSON.parse((await environment.entry(deployed.instance.namespace))?.["config"] ?? "{}") as { readonly bearerToken?: string };
const project = ({ instance, unit }: Deployed) =>
  world.hands.engine.get<Raw>(PROJECTS, { namespace: instance.namespace, name: projectName(unit.id) }, world.signal);
const environmentProject = ({ instance, unit }: Deployed) =>
  world.hands.engine.get<Raw>(PROJECTS, { namespace: instance.namespace, name: environmentProjectName(unit.id) }, world.signal);
const writesOf = (): readonly string[] =>
  world.engineServer
    .requests()
    .filter(({ method }) => method === "POST" || method === "DELETE")
    .map(({ method, url, body }) => `${method} ${url.split("/").at(-1)} ${/"name":"([^"]*)"/.exec(body)?.[1] ?? ""}`);

describe("an application that names an environment", () => {
  test("stands nowhere until the environment works, then there, behind its entry and its project", async () => {
    const deployed = await deploy();
    const environment = await addEnvironment(world);
    const reconciler = await world.startReconciler();
    await eventually("the unit stands", async () => (await project(deployed)) !== undefined);
    await reconciler.idle();
    expect(await readApplication(deployed)).toBeUndefined();

    await environment.connect("token-1");
    await eventually("it stands there", () => stands(deployed, environment));
    expect(await environment.entry(deployed.instance.namespace)).toMatchObject({
      server: environment.server,
      project: environmentProjectName(deployed.unit.id),
      namespaces: "web",
    });
    expect((await environmentProject(deployed))?.spec).toMatchObject({
      destinations: [{ server: `${PROD}\\?managedEnvironment=${environment.id}`, namespace: "web" }],
    });
    const order = writesOf();
    expect(order.findIndex((write) => write.includes("argosy-env-"))).toBeLessThan(
      order.findIndex((write) => write.includes(deployed.application.argoName)),
    );
    await eventually("the entry is acknowledged", async () => {
      const row = await world.rows.store.shards.readUnit(deployed.unit.id, world.signal);
      return row?.acknowledged.some(({ kind, subject }) => kind === "cluster-entry" && subject === environment.id) ?? false;
    });
  });

  test("goes on with a new token, and nothing but the entry changes", async () => {
    const deployed = await deploy();
    const environment = await addEnvironment(world);
    await environment.connect("token-1");
    await world.startReconciler();
    await eventually("it stands there", () => stands(deployed, environment));
    const uid = (await readApplication(deployed))?.metadata.uid;
    await environment.connect("token-2");
    await eventually("the entry has the new token", async () => (await configOf(deployed, environment)).bearerToken === "token-2");
    expect((await readApplication(deployed))?.metadata.uid).toBe(uid);
  });

  test("I2: is taken off without its workloads when the environment goes, and comes back with it", async () => {
    const deployed = await deploy();
    const environment = await addEnvironment(world);
    await environment.connect("token-1");
    const reconciler = await world.startReconciler();
    await eventually("it stands there", () => stands(deployed, environment));
    await environment.end();
    await eventually("it is gone", async () => (await readApplication(deployed)) === undefined);
    await eventually("so is the entry", async () => (await environment.entry(deployed.instance.namespace)) === undefined);
    await reconciler.idle();
    expect(world.engineServer.requests().some(({ body }) => body.includes("resources-finalizer"))).toBe(false);
    expect(await world.rows.application(deployed.application.id)).toBeDefined();
    await eventually("nothing is left of the environment", async () => {
      await environment.end();
      return (await world.rows.users.environments.listKnown("api", { limit: 1_000, after: "" }, world.signal)).length === 0;
    });

    const next = await addEnvironment(world, "environment-uid-2");
    await next.connect("token-2");
    await eventually("it stands in the new one", () => stands(deployed, next));
  });

  test("is taken off while the environment is withdrawn", async () => {
    const deployed = await deploy();
    const environment = await addEnvironment(world);
    await environment.connect("token-1");
    await world.startReconciler();
    await eventually("it stands there", () => stands(deployed, environment));
    await environment.withdraw();
    await eventually("it is gone", async () => (await readApplication(deployed)) === undefined);
    await eventually("so is the entry", async () => (await environment.entry(deployed.instance.namespace)) === undefined);
    await environment.connect("token-1");
    await eventually("it is back", () => stands(deployed, environment));
  });

  test("is deleted with what it deployed although the environment is leaving, which waits for it", async () => {
    const deployed = await deploy();
    const environment = await addEnvironment(world);
    await environment.connect("token-1");
    await world.startReconciler();
    await eventually("it stands there", () => stands(deployed, environment));
    world.freezeEngine(true);
    await world.rows.deleteApplication(deployed.application, "cascade");
    await eventually("its deletion is under way", async () => (await readApplication(deployed))?.metadata.deletionTimestamp !== undefined);
    await environment.end();
    expect((await readApplication(deployed))?.metadata.finalizers).toEqual(["resources-finalizer.argocd.argoproj.io/background"]);
    expect(await environment.entry(deployed.instance.namespace)).toBeDefined();
    world.freezeEngine(false);
    await eventually("the row is forgotten", async () => (await world.rows.application(deployed.application.id)) === undefined);
    await eventually("the entry goes", async () => (await environment.entry(deployed.instance.namespace)) === undefined);
  });

  test("is forgotten, workloads left alone, when it is deleted after its environment", async () => {
    const deployed = await deploy();
    const environment = await addEnvironment(world);
    await environment.connect("token-1");
    await world.startReconciler();
    await eventually("it stands there", () => stands(deployed, environment));
    await environment.end();
    await eventually("it is gone", async () => (await readApplication(deployed)) === undefined);
    await eventually("so is the environment", async () => {
      await environment.end();
      return (await world.rows.users.environments.listKnown("api", { limit: 1_000, after: "" }, world.signal)).length === 0;
    });
    await world.rows.deleteApplication(deployed.application, "cascade");
    await eventually("the row is forgotten", async () => (await world.rows.application(deployed.application.id)) === undefined);
  });

  test("does not hold up its neighbours that deploy into the own namespace", async () => {
    const deployed = await deploy();
    const neighbour = await world.rows.addApplication("team-a", "own");
    await world.startReconciler();
    const at = { namespace: deployed.instance.namespace, name: neighbour.argoName };
    await eventually("the neighbour stands", async () => (await world.hands.engine.get(APPLICATIONS, at, world.signal)) !== undefined);
    expect(await readApplication(deployed)).toBeUndefined();
  });
});

test("a workspace that goes waits, without asking over and over, until its environment's account is gone too", async () => {
  const deployed = await deploy();
  const environment = await addEnvironment(world);
  await environment.connect("token-1");
  await world.rows.users.environments.noteAccount(environment.id, true, world.signal);
  const reconciler = await world.startReconciler();
  await eventually("it stands there", () => stands(deployed, environment));
  await world.rows.deleteApplication(deployed.application, "orphan");
  await eventually("the row is forgotten", async () => (await world.rows.application(deployed.application.id)) === undefined);
  await world.rows.endWorkspace(deployed.application);
  await eventually("the project is gone", async () => (await project(deployed)) === undefined);
  await eventually("the entry is gone", async () => (await environment.entry(deployed.instance.namespace)) === undefined);
  await reconciler.idle();
  expect(world.rows.statements()["forgetWorkspace"]).toBeUndefined();
  expect(await world.rows.unit(deployed.unit.id)).toBeDefined();
  await world.rows.users.environments.noteAccount(environment.id, false, world.signal);
  await eventually("the workspace is gone", async () => (await world.rows.unit(deployed.unit.id)) === undefined);
});

describe("an entry", () => {
  test("goes when nothing uses the environment any more, and is not there for one that nothing uses", async () => {
    const deployed = await deploy();
    const environment = await addEnvironment(world);
    await environment.connect("token-1");
    await world.startReconciler();
    await eventually("it stands there", () => stands(deployed, environment));
    await world.rows.changeSpec(deployed.application, { destination: {} });
    await eventually("it is deployed to its own namespace", async () =>
      JSON.stringify(await destinationOf(deployed)).includes(DESTINATION.server),
    );
    await eventually("the entry is gone", async () => (await environment.entry(deployed.instance.namespace)) === undefined);
    expect((await project(deployed))?.spec).toMatchObject({ destinations: [{ server: DESTINATION.server, namespace: "team-a" }] });
  });

  test("that was edited or deleted by hand is put right", async () => {
    const deployed = await deploy();
    const environment = await addEnvironment(world);
    await environment.connect("token-1");
    await world.startReconciler();
    await eventually("it stands there", () => stands(deployed, environment));

    const at = { namespace: deployed.instance.namespace, name: environmentEntryName(environment.id) };
    await world.hands.engine.mergePatch(ENGINE_SECRETS, at, { data: { project: null } }, world.signal);
    await eventually(
      "its project is back",
      async () => (await environment.entry(at.namespace))?.["project"] === environmentProjectName(deployed.unit.id),
    );
    await world.hands.engine.delete(ENGINE_SECRETS, at, {}, world.signal);
    await eventually("it is back", async () => (await configOf(deployed, environment)).bearerToken === "token-1");
  });

  test("of an environment without a credential is left out, and holds up nothing else", async () => {
    const deployed = await deploy();
    const environment = await addEnvironment(world);
    await environment.connect("token-1", { apiUrl: "https://another.example" });
    const neighbour = await world.rows.addApplication("team-a", "own");
    await world.startReconciler();
    const at = { namespace: deployed.instance.namespace, name: neighbour.argoName };
    await eventually("the neighbour stands", async () => (await world.hands.engine.get(APPLICATIONS, at, world.signal)) !== undefined);
    expect(await environment.entry(deployed.instance.namespace)).toBeUndefined();
  });
});
