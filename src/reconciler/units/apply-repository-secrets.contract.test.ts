import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RepositorySecret } from "../../domain/repository-credential.ts";
import type { KubeObject } from "../../runtime/kube/resource.ts";
import { projectName } from "../../shard/names.ts";
import { ENGINE_SECRETS } from "../adapters/kubernetes/types.ts";
import { type Deployed, deploying, type Raw } from "../testing/deploy.ts";
import { eventually } from "../testing/until.ts";
import { startWorld, type World } from "../testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const { deploy, isAcknowledged } = deploying(() => world);
const SELECTOR = "argocd.argoproj.io/secret-type in (repository,repo-creds)";
const URL = "https://git.example/team/app";

async function secrets({ instance }: Deployed): Promise<readonly Raw[]> {
  const list = await world.hands.engine.listPage<Raw>(
    ENGINE_SECRETS,
    { namespace: instance.namespace, labelSelector: SELECTOR },
    world.signal,
  );
  return list.items;
}

const fieldsOf = ({ data = {} }: Raw): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
const fields = async (deployed: Deployed) => (await secrets(deployed)).map(fieldsOf);
const isCaughtUp = (deployed: Deployed) => async () => {
  const desired = (await world.rows.unit(deployed.unit.id))?.desiredRevision ?? 0;
  return ((await world.rows.acknowledged("project", deployed.unit.id))?.appliedRevision ?? -1) >= desired;
};

describe("repository Secrets", () => {
  const forms: readonly [RepositorySecret, Readonly<Record<string, string>>][] = [
    [
      { kind: "basic", username: "bot", password: "pässword\n" },
      { username: "bot", password: "pässword\n" },
    ],
    [{ kind: "bearer", token: "t" }, { bearerToken: "t" }],
    [{ kind: "ssh", privateKey: "-----BEGIN" }, { sshPrivateKey: "-----BEGIN" }],
  ];
  test.each(forms)("S1: stand on the owner, for the unit's project alone, before its Applications (%#)", async (secret, expected) => {
    const deployed = await deploy();
    const reconciler = await world.startReconciler();
    await eventually("the first application is acknowledged", () => isAcknowledged(deployed));
    const release = world.engineServer.faults.hold({ method: "POST", path: /\/secrets/ });
    await world.rows.addCredential(deployed.application, "a", { secret });
    const late = await world.rows.addApplication("team-a", "late", { source: { repoUrl: URL, path: "late", targetRevision: "" } });
    const isLateThere = async () => (await world.rows.acknowledged("application", late.id)) !== undefined;
    const creations = () => world.engineServer.requests().filter(({ method, url }) => method === "POST" && url.includes("/secrets"));
    await eventually("its Secret is under way", () => creations().length === 2);
    expect(await isLateThere()).toBe(false);
    release();
    await eventually("the late application is acknowledged", isLateThere);
    await reconciler.idle();
    expect(await fields(deployed)).toEqual([{ type: "git", url: URL, project: projectName(deployed.unit.id), ...expected }]);
    const [found] = await secrets(deployed);
    expect(found?.metadata.labels).toMatchObject({
      "argocd.argoproj.io/secret-type": "repository",
      "app.kubernetes.io/managed-by": "argosy",
      "argosy.dev/unit": deployed.unit.id,
    });
  });

  test("W2: follow one valid credential with the next, and the unit says when", async () => {
    const deployed = await deploy();
    await world.rows.addCredential(deployed.application, "a", { secret: { kind: "bearer", token: "first" } });
    await world.startReconciler();
    await eventually("the first is there", async () => (await fields(deployed))[0]?.["bearerToken"] === "first");
    await world.rows.addCredential(deployed.application, "a", { secret: { kind: "bearer", token: "second" } });
    await eventually("the second is acknowledged", isCaughtUp(deployed));
    expect((await fields(deployed)).map((each) => each["bearerToken"])).toEqual(["second"]);
  });

  test("W11: are gone when the revocation is acknowledged", async () => {
    const deployed = await deploy();
    const uid = await world.rows.addCredential(deployed.application, "a");
    await world.startReconciler();
    await eventually("it is there", async () => (await secrets(deployed)).length === 1);
    await world.rows.revokeCredential(uid);
    await eventually("the revocation is acknowledged", isCaughtUp(deployed));
    expect(await secrets(deployed)).toEqual([]);
  });

  test("are one for each repository: the oldest credential's, and the next one's once that is revoked", async () => {
    const deployed = await deploy();
    const token = (name: string) => ({ secret: { kind: "bearer", token: name }, createdAt: name === "old" ? "2025" : "2026" }) as const;
    await world.rows.addCredential(deployed.application, "young", token("young"));
    const uid = await world.rows.addCredential(deployed.application, "old", token("old"));
    await world.startReconciler();
    await eventually("the unit stands", isCaughtUp(deployed));
    expect((await fields(deployed)).map((each) => each["bearerToken"])).toEqual(["old"]);
    await world.rows.revokeCredential(uid);
    await eventually("the younger takes over", async () => (await fields(deployed))[0]?.["bearerToken"] === "young");
  });

  test("are put back when somebody edits, deletes or unlabels them", async () => {
    const deployed = await deploy();
    await world.rows.addCredential(deployed.application, "a", { secret: { kind: "bearer", token: "right" } });
    const reconciler = await world.startReconciler();
    await eventually("it is there", async () => (await secrets(deployed)).length === 1);
    await reconciler.idle();
    const [{ metadata } = { metadata: { name: "" } }] = await secrets(deployed);
    const at = { namespace: deployed.instance.namespace, name: metadata.name };
    const isRight = async () => {
      const found = await world.hands.engine.get<Raw>(ENGINE_SECRETS, at, world.signal);
      return found !== undefined && fieldsOf(found)["project"] === projectName(deployed.unit.id) && (await secrets(deployed)).length === 1;
    };
    const damage: readonly (() => Promise<unknown>)[] = [
      () => world.hands.engine.mergePatch(ENGINE_SECRETS, at, { data: { project: null } }, world.signal),
      () => world.hands.engine.delete(ENGINE_SECRETS, at, {}, world.signal),
      () =>
        world.hands.engine.mergePatch(
          ENGINE_SECRETS,
          at,
          { metadata: { labels: { "argocd.argoproj.io/secret-type": null } } },
          world.signal,
        ),
    ];
    for (const harm of damage) {
      await harm();
      await eventually("it is as before", isRight);
    }
  });

  test("of a unit that nobody knows, or that lives elsewhere, are removed, and others' Secrets left alone", async () => {
    const deployed = await deploy();
    const make = (name: string, labels: Readonly<Record<string, string>>) =>
      world.hands.engine.create<KubeObject>(
        ENGINE_SECRETS,
        {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name, namespace: deployed.instance.namespace, labels: { "argocd.argoproj.io/secret-type": "repository", ...labels } },
        },
        world.signal,
      );
    await make("leftover", { "app.kubernetes.io/managed-by": "argosy", "argosy.dev/unit": "nobody" });
    await make("foreign", {});
    await world.startReconciler();
    await eventually("the leftover is gone", async () => (await secrets(deployed)).every(({ metadata }) => metadata.name !== "leftover"));
    expect((await secrets(deployed)).map(({ metadata }) => metadata.name)).toEqual(["foreign"]);
  });

  test("go with their workspace", async () => {
    const deployed = await deploy();
    await world.rows.addCredential(deployed.application, "a");
    const reconciler = await world.startReconciler();
    await eventually("it is there", async () => (await secrets(deployed)).length === 1);
    await world.rows.deleteApplication(deployed.application, "orphan");
    await world.rows.endWorkspace(deployed.application);
    await eventually("everything is gone", async () => (await world.rows.unit(deployed.unit.id)) === undefined);
    await reconciler.idle();
    expect(await secrets(deployed)).toEqual([]);
  });
});
