import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CredentialId } from "../domain/ids.ts";
import { REPOSITORY_PURPOSE } from "../domain/repository-credential.ts";
import type { Application } from "../domain/workspace.ts";
import type { KubeObject } from "../runtime/kube/resource.ts";
import { createVirtualClock, type VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { projectName } from "../shard/names.ts";
import { APPLICATIONS, PROJECTS, SECRETS } from "./adapters/kubernetes/types.ts";
import { addEnvironment } from "./testing/environments.ts";
import { type Raw, type Seated, seating } from "./testing/seat.ts";
import { eventually, passes } from "./testing/until.ts";
import { EVERYTHING_IS_MINE, startWorld, type World } from "./testing/world.ts";

let world: World;
let clock: VirtualClock;
beforeEach(async () => {
  world = await startWorld();
  clock = createVirtualClock();
});
afterEach(() => world.close());

const { seat, applicationAt, isAcknowledged, readApplication } = seating(() => world);
const ELSEWHERE = { destination: { environment: "prod", namespace: "web" } };
const PRIVATE = "https://git.example/team/private";

const isThere = async ({ id }: Application) => (await world.rows.acknowledged("application", id)) !== undefined;

const comes = (what: string, holds: () => Promise<boolean>) => passes({ clock, withinMs: 60_000 }, what, holds);
const start = () => world.startReconciler(EVERYTHING_IS_MINE, { clock });

/** What the application's open operation says within a minute: what passes by itself is not said at once. */
const isTold = (application: Pick<Application, "id">, message: string): Promise<void> =>
  comes(`"${message}" is told`, async () => {
    const open = (await world.rows.operations(application.id)).find(({ state }) => state !== "Completed");
    return open?.message === message;
  });

/** What is stored of the credential is none that Argosy wrote. */
async function spoilRepository(seated: Seated): Promise<void> {
  const uid = await world.rows.addCredential(seated.application, "a", { url: PRIVATE });
  const row = (await world.rows.store.shards.readUnit(seated.unit.id, world.signal))?.repositoryCredentials.find((one) => one.uid === uid);
  const key = { id: row?.credentialId as CredentialId, owner: row?.workspaceId ?? "", purpose: REPOSITORY_PURPOSE };
  await world.rows.door.credentials.put(key, "{}", world.signal);
}

describe("an application that waits says for what:", () => {
  test("its environment, which is not connected, be it new or withdrawn", async () => {
    const instance = await world.rows.addInstance("one");
    const application = await world.rows.addApplication("team-a", "web", ELSEWHERE);
    const seated = { instance, application, unit: await world.rows.place(application, instance.id) };
    await start();
    await isTold(application, "Waiting: for environment prod, which is not connected");
    const environment = await addEnvironment(world);
    await environment.connect("token");
    await comes("it stands", () => isAcknowledged(seated));
    await environment.withdraw();
    await comes("it is taken off", async () => (await readApplication(seated)) === undefined);
    await world.rows.changeSpec(application, { type: "manual" });
    await isTold(application, "Waiting: for environment prod, which is not connected");
  });

  test("the credential of its repository, which cannot be read, while its neighbours stand", async () => {
    const seated = await seat();
    await spoilRepository(seated);
    const needy = await world.rows.addApplication("team-a", "needy", {
      source: { repoUrl: `${PRIVATE}.git`, path: "x", targetRevision: "" },
    });
    await start();
    await comes("the neighbour stands", () => isAcknowledged(seated));
    await isTold(needy, `Waiting: for the credential of repository ${PRIVATE}, which cannot be read`);
    expect(await isThere(needy)).toBe(false);
    await world.rows.addCredential(seated.application, "a", { url: PRIVATE });
    await comes("it stands once the credential is another", () => isThere(needy));
  });

  test("the credential of its environment, which cannot be read, while its neighbours stand", async () => {
    const seated = await seat();
    const environment = await addEnvironment(world);
    await environment.connect("token", { apiUrl: "https://another.example" });
    const needy = await world.rows.addApplication("team-a", "needy", ELSEWHERE);
    await start();
    await comes("the neighbour stands", () => isAcknowledged(seated));
    await isTold(needy, "Waiting: for the credential of environment prod, which cannot be read");
    await environment.connect("token");
    await comes("it stands once there is one", () => isThere(needy));
  });

  test("the project that somebody holds on its way out", async () => {
    const seated = await seat();
    await start();
    await comes("it stands", () => isAcknowledged(seated));
    const project = { namespace: seated.instance.namespace, name: projectName(seated.unit.id) };
    await world.hands.engine.mergePatch(PROJECTS, project, { metadata: { finalizers: ["example.com/hold"] } }, world.signal);
    await world.hands.engine.delete(PROJECTS, project, {}, world.signal);
    const late = await world.rows.addApplication("team-a", "late", { source: { repoUrl: PRIVATE, path: "x", targetRevision: "" } });
    await isTold(late, "Waiting: for the former project, which is on its way out");
    await world.hands.engine.mergePatch(PROJECTS, project, { metadata: { finalizers: null } }, world.signal);
    await comes("it stands", () => isThere(late));
  });

  test("a repository Secret that somebody holds on its way out", async () => {
    const seated = await seat();
    const uid = await world.rows.addCredential(seated.application, "a");
    await start();
    await comes("it stands", () => isAcknowledged(seated));
    const { namespace } = seated.instance;
    const labelSelector = "argocd.argoproj.io/secret-type=repository";
    const [secret] = (await world.hands.engine.listPage<Raw>(SECRETS, { namespace, labelSelector }, world.signal)).items;
    const at = { namespace, name: secret?.metadata.name ?? "" };
    await world.hands.engine.mergePatch<KubeObject>(SECRETS, at, { metadata: { finalizers: ["example.com/hold"] } }, world.signal);
    await world.rows.revokeCredential(uid);
    const late = await world.rows.addApplication("team-a", "late");
    await isTold(late, "Waiting: for a former repository Secret, which is on its way out");
    await world.hands.engine.mergePatch<KubeObject>(SECRETS, at, { metadata: { finalizers: null } }, world.signal);
    await comes("it stands", () => isThere(late));
  });

  test("its instance's entry for the API cluster", async () => {
    const release = world.apiServer.faults.hold({ method: "PATCH", path: /secrets\/read-/ });
    await start();
    const seated = await seat();
    await isTold(seated.application, "Waiting: for its instance's entry for the API cluster, which is not there yet");
    release();
    await comes("it stands", () => isAcknowledged(seated));
  });
});

describe("what SREs are told", () => {
  test("costs no statement where everything goes well", async () => {
    const seated = await seat();
    await world.startReconciler();
    await eventually("the application is acknowledged", () => isAcknowledged(seated));
    expect(world.rows.statements()["recordProgress"]).toBeUndefined();
    expect(await world.rows.operations(seated.application.id)).toMatchObject([{ state: "Completed", attempts: 1, message: "" }]);
  });

  test("W10: is the refusal, which counts as nothing done, until it is taken after all", async () => {
    const seated = await seat();
    world.engineServer.faults.fail({ method: "POST", path: /\/applications$/, status: 422, reason: "Invalid" });
    await world.startReconciler();
    const operation = async () => (await world.rows.operations(seated.application.id))[0];
    await eventually("the refusal is told", async () => (await operation())?.state === "Failed");
    expect(await world.rows.acknowledged("application", seated.application.id)).toBeUndefined();
    expect((await operation())?.message).toMatch(/^Refused: the instance's cluster does not take the Application: ./);
    world.rows.missHints();
    await eventually("the operation is completed", async () => (await operation())?.state === "Completed");
    expect(await operation()).toMatchObject({ attempts: 2, message: "" });
  });

  test("names what holds a deletion for as long as it does", async () => {
    const seated = await seat();
    const { application, instance } = seated;
    await world.startReconciler(EVERYTHING_IS_MINE, { blockedAfterMs: -60_000 });
    await eventually("the application is acknowledged", () => isAcknowledged(seated));
    const hold = { metadata: { finalizers: ["example.com/hold"] } };
    await world.hands.engine.mergePatch<KubeObject>(APPLICATIONS, applicationAt(seated), hold, world.signal);
    await world.rows.deleteApplication(application, "cascade");
    const last = async () => (await world.rows.operations(application.id)).at(-1);
    const words = `Deletion blocked: Application ${instance.namespace}/${application.argoName} has the finalizer example.com/hold`;
    await eventually("the operation says so", async () => (await last())?.message === words);
    expect(await world.rows.blockage(application.id)).toMatchObject({ held: [] });
    const release = { metadata: { finalizers: null } };
    await world.hands.engine.mergePatch<KubeObject>(APPLICATIONS, applicationAt(seated), release, world.signal);
    await eventually("the row is gone", async () => (await world.rows.application(application.id)) === undefined);
    expect(await last()).toMatchObject({ kind: "delete-application", state: "Completed", message: "" });
  });
});
