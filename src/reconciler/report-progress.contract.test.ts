import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CredentialId } from "../domain/ids.ts";
import { REPOSITORY_PURPOSE } from "../domain/repository-credential.ts";
import type { Application } from "../domain/workspace.ts";
import type { KubeObject } from "../runtime/kube/resource.ts";
import { createVirtualClock, type VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { projectName } from "../shard/names.ts";
import { APPLICATIONS, ENGINE_SECRETS, PROJECTS } from "./adapters/kubernetes/types.ts";
import { type Deployed, deploying, type Raw } from "./testing/deploy.ts";
import { addEnvironment } from "./testing/environments.ts";
import { eventually, passes } from "./testing/until.ts";
import { EVERYTHING_IS_MINE, startWorld, type World } from "./testing/world.ts";

let world: World;
let clock: VirtualClock;
beforeEach(async () => {
  world = await startWorld();
  clock = createVirtualClock();
});
afterEach(() => world.close());

const { deploy, applicationAt, isAcknowledged, readApplication } = deploying(() => world);
const ELSEWHERE = { destination: { environment: "prod", namespace: "web" } };
const PRIVATE = "https://git.example/team/private";

const isThere = async ({ id }: Application) => (await world.rows.acknowledged("application", id)) !== undefined;

const comes = (what: string, holds: () => Promise<boolean>) => passes({ clock, withinMs: 60_000 }, what, holds);
const start = () => world.startReconciler(EVERYTHING_IS_MINE, { clock });

/** What the application's open operation says within a minute: what passes by itself is not said at once. */
const isReported = (application: Pick<Application, "id">, message: string): Promise<void> =>
  comes(`"${message}" is reported`, async () => {
    const open = (await world.rows.operations(application.id)).find(({ state }) => state !== "Completed");
    return open?.message === message;
  });

/** What is stored of the credential is none that Argosy wrote. */
async function spoilRepository(deployed: Deployed): Promise<void> {
  const uid = await world.rows.addCredential(deployed.application, "a", { url: PRIVATE });
  const row = (await world.rows.store.shards.readUnit(deployed.unit.id, world.signal))?.repositoryCredentials.find(
    (one) => one.uid === uid,
  );
  const key = { id: row?.credentialId as CredentialId, owner: row?.workspaceId ?? "", purpose: REPOSITORY_PURPOSE };
  await world.rows.users.credentials.put(key, "{}", world.signal);
}

describe("an application that waits says for what:", () => {
  test("its environment, which is not connected, be it new or withdrawn", async () => {
    const instance = await world.rows.addInstance("one");
    const application = await world.rows.addApplication("team-a", "web", ELSEWHERE);
    const deployed = { instance, application, unit: await world.rows.place(application, instance.id) };
    await start();
    await isReported(application, "Waiting: for environment prod, which is not connected");
    const environment = await addEnvironment(world);
    await environment.connect("token");
    await comes("it stands", () => isAcknowledged(deployed));
    await environment.withdraw();
    await comes("it is taken off", async () => (await readApplication(deployed)) === undefined);
    await world.rows.changeSpec(application, { type: "manual" });
    await isReported(application, "Waiting: for environment prod, which is not connected");
  });

  test("the credential of its repository, which cannot be read, while its neighbours stand", async () => {
    const deployed = await deploy();
    await spoilRepository(deployed);
    const needy = await world.rows.addApplication("team-a", "needy", {
      source: { repoUrl: `${PRIVATE}.git`, path: "x", targetRevision: "" },
    });
    await start();
    await comes("the neighbour stands", () => isAcknowledged(deployed));
    await isReported(needy, `Waiting: for the credential of repository ${PRIVATE}, which cannot be read`);
    expect(await isThere(needy)).toBe(false);
    await world.rows.addCredential(deployed.application, "a", { url: PRIVATE });
    await comes("it stands once the credential is another", () => isThere(needy));
  });

  test("the credential of its environment, which cannot be read, while its neighbours stand", async () => {
    const deployed = await deploy();
    const environment = await addEnvironment(world);
    await environment.connect("token", { apiUrl: "https://another.example" });
    const needy = await world.rows.addApplication("team-a", "needy", ELSEWHERE);
    await start();
    await comes("the neighbour stands", () => isAcknowledged(deployed));
    await isReported(needy, "Waiting: for the credential of environment prod, which cannot be read");
    await environment.connect("token");
    await comes("it stands once there is one", () => isThere(needy));
  });

  test("the project that somebody holds on its way out", async () => {
    const deployed = await deploy();
    await start();
    await comes("it stands", () => isAcknowledged(deployed));
    const project = { namespace: deployed.instance.namespace, name: projectName(deployed.unit.id) };
    await world.hands.engine.mergePatch(PROJECTS, project, { metadata: { finalizers: ["example.com/hold"] } }, world.signal);
    await world.hands.engine.delete(PROJECTS, project, {}, world.signal);
    const late = await world.rows.addApplication("team-a", "late", { source: { repoUrl: PRIVATE, path: "x", targetRevision: "" } });
    await isReported(late, "Waiting: for the former project, which is on its way out");
    await world.hands.engine.mergePatch(PROJECTS, project, { metadata: { finalizers: null } }, world.signal);
    await comes("it stands", () => isThere(late));
  });

  test("a repository Secret that somebody holds on its way out", async () => {
    const deployed = await deploy();
    const uid = await world.rows.addCredential(deployed.application, "a");
    await start();
    await comes("it stands", () => isAcknowledged(deployed));
    const { namespace } = deployed.instance;
    const labelSelector = "argocd.argoproj.io/secret-type=repository";
    const [secret] = (await world.hands.engine.listPage<Raw>(ENGINE_SECRETS, { namespace, labelSelector }, world.signal)).items;
    const at = { namespace, name: secret?.metadata.name ?? "" };
    await world.hands.engine.mergePatch<KubeObject>(ENGINE_SECRETS, at, { metadata: { finalizers: ["example.com/hold"] } }, world.signal);
    await world.rows.revokeCredential(uid);
    const late = await world.rows.addApplication("team-a", "late");
    await isReported(late, "Waiting: for a former repository Secret, which is on its way out");
    await world.hands.engine.mergePatch<KubeObject>(ENGINE_SECRETS, at, { metadata: { finalizers: null } }, world.signal);
    await comes("it stands", () => isThere(late));
  });

  test("its instance's entry for the API cluster", async () => {
    const release = world.apiServer.faults.hold({ method: "POST", path: /serviceaccounts\/read-.*\/token/ });
    await start();
    const deployed = await deploy();
    await isReported(deployed.application, "Waiting: for its instance's entry for the API cluster, which is not there yet");
    release();
    await comes("it stands", () => isAcknowledged(deployed));
  });
});

describe("what is reported to SREs", () => {
  test("costs no statement where everything goes well", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("the application is acknowledged", () => isAcknowledged(deployed));
    expect(world.rows.statements()["recordProgress"]).toBeUndefined();
    expect(await world.rows.operations(deployed.application.id)).toMatchObject([{ state: "Completed", attempts: 1, message: "" }]);
  });

  test("W10: is the refusal, which counts as nothing done, until it is taken after all", async () => {
    const deployed = await deploy();
    world.engineServer.faults.fail({ method: "POST", path: /\/applications$/, status: 422, reason: "Invalid" });
    await world.startReconciler();
    const operation = async () => (await world.rows.operations(deployed.application.id))[0];
    await eventually("the refusal is reported", async () => (await operation())?.state === "Failed");
    expect(await world.rows.acknowledged("application", deployed.application.id)).toBeUndefined();
    expect((await operation())?.message).toMatch(/^Refused: the instance's cluster does not take the Application: ./);
    world.rows.missNotifications();
    await eventually("the operation is completed", async () => (await operation())?.state === "Completed");
    expect(await operation()).toMatchObject({ attempts: 2, message: "" });
  });

  test("names what holds a deletion for as long as it does", async () => {
    const deployed = await deploy();
    const { application, instance } = deployed;
    await world.startReconciler(EVERYTHING_IS_MINE, { blockedAfterMs: -60_000 });
    await eventually("the application is acknowledged", () => isAcknowledged(deployed));
    const hold = { metadata: { finalizers: ["example.com/hold"] } };
    await world.hands.engine.mergePatch<KubeObject>(APPLICATIONS, applicationAt(deployed), hold, world.signal);
    await world.rows.deleteApplication(application, "cascade");
    const last = async () => (await world.rows.operations(application.id)).at(-1);
    const words = `Deletion blocked: Application ${instance.namespace}/${application.argoName} has the finalizer example.com/hold`;
    await eventually("the operation says so", async () => (await last())?.message === words);
    expect(await world.rows.blockage(application.id)).toMatchObject({ held: [] });
    const release = { metadata: { finalizers: null } };
    await world.hands.engine.mergePatch<KubeObject>(APPLICATIONS, applicationAt(deployed), release, world.signal);
    await eventually("the row is gone", async () => (await world.rows.application(application.id)) === undefined);
    expect(await last()).toMatchObject({ kind: "delete-application", state: "Completed", message: "" });
  });
});
