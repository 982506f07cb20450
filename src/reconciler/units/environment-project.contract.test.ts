import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { asObject, asString } from "../../domain/json.ts";
import type { Application } from "../../domain/workspace.ts";
import { environmentProjectName, projectName } from "../../shard/names.ts";
import { APPLICATIONS, ENGINE_SECRETS, PROJECTS } from "../adapters/kubernetes/types.ts";
import type { Deployed, Raw } from "../testing/deploy.ts";
import { addEnvironment, type TestEnvironment } from "../testing/environments.ts";
import { becomeFormer } from "../testing/former-version.ts";
import { eventually } from "../testing/until.ts";
import { type Permissions, watchPermissions } from "../testing/watch-permissions.ts";
import { DESTINATION, startWorld, type World } from "../testing/world.ts";

let world: World;
let permissions: Permissions;
beforeEach(async () => {
  world = await startWorld();
  permissions = watchPermissions(world.engineServer);
});
afterEach(async () => {
  expect(permissions.refusals, "what Argo CD would have refused").toEqual([]);
  await world.close();
});

const ELSEWHERE = { destination: { environment: "prod", namespace: "web" } };
const PRIVATE = { source: { repoUrl: "https://git.example/team/private", path: "app", targetRevision: "main" } };

/** A unit with a deployment into its own namespace and one to an environment, each from a private repository of its own. */
interface Tenant extends Deployed {
  readonly own: Application;
  readonly environment: TestEnvironment;
}

/** `over`: how its environment differs; by default it allows everything. */
async function openTenant(): Promise<Tenant> {
  const { rows } = world;
  const instance = await rows.addInstance("one");
  const own = await rows.addApplication("team-a", "own");
  const application = await rows.addApplication("team-a", "far", { ...ELSEWHERE, ...PRIVATE });
  const unit = await rows.place(own, instance.id);
  const environment = await addEnvironment(world);
  await environment.connect("token-1", { namespaces: [], clusterResources: true });
  await rows.addCredential(own, "own");
  await rows.addCredential(own, "private", { url: PRIVATE.source.repoUrl });
  return { instance, unit, application, own, environment };
}

const at = ({ instance: { namespace } }: Deployed, name: string) => ({ namespace, name });
const read = async (tenant: Deployed, { argoName }: Application) =>
  world.hands.engine.get<Raw>(APPLICATIONS, at(tenant, argoName), world.signal);
const namedBy = async (tenant: Deployed, application: Application) => asObject((await read(tenant, application))?.spec)["project"];
const specOf = async (tenant: Deployed, name: string) =>
  (await world.hands.engine.get<Raw>(PROJECTS, at(tenant, name), world.signal))?.spec as Readonly<Record<string, unknown>> | undefined;
const isNarrow = async (tenant: Deployed) => {
  const { destinations, clusterResourceWhitelist, namespaceResourceBlacklist } = (await specOf(tenant, projectName(tenant.unit.id))) ?? {};
  const isOwn = JSON.stringify(destinations) === JSON.stringify([{ server: DESTINATION.server, namespace: "team-a" }]);
  return isOwn && clusterResourceWhitelist === undefined && namespaceResourceBlacklist !== undefined;
};
/** URL and project of each repository Secret on the instance. */
async function secretsOf({ instance: { namespace } }: Deployed): Promise<readonly string[]> {
  const labelSelector = "argocd.argoproj.io/secret-type=repository";
  const { items } = await world.hands.engine.listPage<Raw>(ENGINE_SECRETS, { namespace, labelSelector }, world.signal);
  const plain = (text: unknown) => Buffer.from(asString(text), "base64").toString();
  return items.map(({ data }) => `${plain(data?.["url"])} for ${plain(data?.["project"])}`).sort();
}
const stands = async (tenant: Tenant) =>
  (await namedBy(tenant, tenant.application)) === environmentProjectName(tenant.unit.id) &&
  (await world.rows.acknowledged("application", tenant.application.id)) !== undefined &&
  (await world.rows.acknowledged("application", tenant.own.id)) !== undefined;

/** Lets the unit be applied once more, and waits until what was under way before has ended. */
async function applyAgain(tenant: Tenant): Promise<void> {
  const runs = () => world.rows.statements()["readUnit"] ?? 0;
  const before = runs();
  const change = { metadata: { labels: { "argosy.dev/touched": "yes" } } };
  await world.hands.engine.mergePatch(PROJECTS, at(tenant, projectName(tenant.unit.id)), change, world.signal);
  await eventually("it is applied again", () => runs() > before);
}

/** A unit as a version before has left it, with nobody at work. */
async function openFormerTenant(): Promise<Tenant> {
  const tenant = await openTenant();
  const first = await world.startReconciler();
  await eventually("everything stands", () => stands(tenant));
  await first.idle();
  await first.stop();
  await permissions.unjudged(() => becomeFormer(world, tenant));
  return tenant;
}

describe("a unit with an environment that allows everything", () => {
  test("S2: has a project for that alone, beside a narrow one for its own namespace", async () => {
    const tenant = await openTenant();
    await world.startReconciler();
    await eventually("everything stands", () => stands(tenant));
    const [own, others] = [projectName(tenant.unit.id), environmentProjectName(tenant.unit.id)];
    expect(await isNarrow(tenant)).toBe(true);
    expect(await namedBy(tenant, tenant.own)).toBe(own);
    expect(await specOf(tenant, others)).toMatchObject({
      sourceRepos: [PRIVATE.source.repoUrl],
      clusterResourceWhitelist: [{ group: "*", kind: "*" }],
    });
    expect((await tenant.environment.entry(tenant.instance.namespace))?.["project"]).toBe(others);
    const repository = tenant.own.spec.source.repoUrl;
    expect(await secretsOf(tenant)).toEqual(
      [`${repository} for ${own}`, `${PRIVATE.source.repoUrl} for ${own}`, `${PRIVATE.source.repoUrl} for ${others}`].sort(),
    );
  });

  test("has neither that project nor its Secrets any more once nothing is deployed to an environment", async () => {
    const tenant = await openTenant();
    await world.startReconciler();
    await eventually("everything stands", () => stands(tenant));
    const others = environmentProjectName(tenant.unit.id);
    const release = world.engineServer.faults.hold({ method: "PATCH", path: new RegExp(`/applications/${tenant.application.argoName}`) });
    await world.rows.changeSpec(tenant.application, { destination: {} });
    await eventually("the entry is gone", async () => (await tenant.environment.entry(tenant.instance.namespace)) === undefined);
    await applyAgain(tenant);
    expect(await specOf(tenant, others), "what the Application names still").toBeDefined();
    release();
    await eventually("the project is gone", async () => (await specOf(tenant, others)) === undefined);
    expect(await namedBy(tenant, tenant.application)).toBe(projectName(tenant.unit.id));
    expect(await tenant.environment.entry(tenant.instance.namespace)).toBeUndefined();
    expect((await secretsOf(tenant)).filter((secret) => secret.endsWith(others))).toEqual([]);
  });

  test("keeps it until a cascade has ended, and loses it then", async () => {
    const tenant = await openTenant();
    await world.startReconciler();
    await eventually("everything stands", () => stands(tenant));
    world.freezeEngine(true);
    await world.rows.deleteApplication(tenant.application, "cascade");
    await eventually("it is ending", async () => (await read(tenant, tenant.application))?.metadata.deletionTimestamp !== undefined);
    await tenant.environment.end();
    expect(await specOf(tenant, environmentProjectName(tenant.unit.id))).toBeDefined();
    world.freezeEngine(false);
    await eventually("the project is gone", async () => (await specOf(tenant, environmentProjectName(tenant.unit.id))) === undefined);
  });

  test("gets a Secret for another repository that it deploys from there, although its own namespace has it already", async () => {
    const tenant = await openTenant();
    await world.startReconciler();
    await eventually("everything stands", () => stands(tenant));
    const { source } = tenant.own.spec;
    const others = environmentProjectName(tenant.unit.id);
    // The former repository leaves the project at once, whatever names it still: it may be one that can be read no more.
    await permissions.unjudged(async () => {
      await world.rows.changeSpec(tenant.application, { source });
      await eventually("it stands", async () => {
        const { repoURL } = asObject(asObject((await read(tenant, tenant.application))?.spec)["source"]);
        return repoURL === source.repoUrl;
      });
    });
    expect((await secretsOf(tenant)).filter((secret) => secret.endsWith(others))).toEqual([`${source.repoUrl} for ${others}`]);
  });
});

describe("a unit that a version with one project for everything has left", () => {
  test("comes to two, and Argo CD refuses nothing on the way", async () => {
    const tenant = await openFormerTenant();
    const uid = (await read(tenant, tenant.application))?.metadata.uid;
    expect(await isNarrow(tenant)).toBe(false);
    await world.startReconciler();
    await eventually("the own namespace's project is narrow", () => isNarrow(tenant));
    expect(await namedBy(tenant, tenant.application)).toBe(environmentProjectName(tenant.unit.id));
    expect((await read(tenant, tenant.application))?.metadata.uid).toBe(uid);
    expect((await tenant.environment.entry(tenant.instance.namespace))?.["project"]).toBe(environmentProjectName(tenant.unit.id));
  });

  test("has no Application that names the new project before that stands, whoever asks for the Application", async () => {
    const tenant = await openFormerTenant();
    const release = world.engineServer.faults.hold({ method: "POST", path: /\/appprojects/ });
    const { namespace, name } = at(tenant, tenant.application.argoName);
    await world.startReconciler();
    await world.rows.changeSpec(tenant.application, { source: { ...PRIVATE.source, path: "another" } });
    await eventually("the project is under way", () =>
      world.engineServer.requests().some(({ method, url }) => method === "POST" && url.includes("/appprojects")),
    );
    const project = asObject((await world.hands.engine.get<Raw>(APPLICATIONS, { namespace, name }, world.signal))?.spec)["project"];
    expect(project).toBe(projectName(tenant.unit.id));
    release();
    await eventually("the own namespace's project is narrow", () => isNarrow(tenant));
  });

  test("permits what an Application needs that is ending, until it is gone", async () => {
    const tenant = await openFormerTenant();
    world.freezeEngine(true);
    await world.rows.deleteApplication(tenant.application, "cascade");
    const reconciler = await world.startReconciler();
    await eventually("it is ending", async () => (await read(tenant, tenant.application))?.metadata.deletionTimestamp !== undefined);
    await reconciler.idle();
    expect(await namedBy(tenant, tenant.application)).toBe(projectName(tenant.unit.id));
    expect(await isNarrow(tenant)).toBe(false);
    world.freezeEngine(false);
    await eventually("the own namespace's project is narrow", () => isNarrow(tenant));
    expect(await read(tenant, tenant.application)).toBeUndefined();
  });
});
