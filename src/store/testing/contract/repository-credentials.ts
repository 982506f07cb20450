import { describe, expect, it } from "vitest";
import type { CredentialId, RepositoryCredentialId, UnitId, WorkspaceId } from "../../../domain/ids.ts";
import type { RepositoryCredentialIntent } from "../../repository-credential/port.ts";
import { anIntent, aSpec } from "../builders.ts";
import { type Deployed, soon, type World } from "../world.ts";

let count = 0;

function aCredential(over: Partial<RepositoryCredentialIntent> = {}): RepositoryCredentialIntent {
  count += 1;
  const { workspace, class: className, newIds } = anIntent();
  const id = String(count).padStart(6, "0");
  return {
    workspace,
    class: className,
    newIds: {
      workspaceId: newIds.workspaceId,
      unitId: newIds.unitId,
      repositoryCredentialId: `repository-credential-${id}` as RepositoryCredentialId,
      credentialId: `secret-${id}` as CredentialId,
    },
    name: `credential-${id}`,
    uid: `credential-uid-${id}`,
    generation: 1,
    createdAt: "2026-01-01T00:00:00Z",
    url: "https://git.example/team/App.git",
    urlKey: "https://git.example/team/app",
    secretVersion: "secret-uid@1",
    secret: '{"kind":"bearer","token":"first"}',
    ...over,
  };
}

const WORKSPACE = { plane: "kubernetes", apiCluster: "main", namespaceUid: "uid-of-team" } as const;

export function describeRepositoryCredentials(world: () => World): void {
  const store = () => world().store.repositoryCredentials;
  const list = () => store().listOfWorkspace(WORKSPACE, soon());
  const readUnit = (id: UnitId) => world().store.shards.readUnit(id, soon());
  const secretOf = async (uid: string) => {
    const found = (await list()).find((view) => view.credential.uid === uid)?.credential;
    const key = { id: found?.credentialId ?? ("" as CredentialId), owner: found?.workspaceId ?? "", purpose: "repository" };
    return world().store.credentials.read(key, soon());
  };
  const isDelivered = async () => (await list()).map(({ delivery }) => delivery);
  const caughtUp = async (deployed: Deployed) => {
    const { desiredRevision } = await world().unit(deployed.applicationId);
    await world().acknowledgeUnit(deployed, desiredRevision);
  };

  describe("credentials for repositories", () => {
    it("are what the workspace's unit is to hold, with the secret kept apart", async () => {
      const deployed = await world().deploy();
      const intent = aCredential();
      expect(await store().record(intent, soon())).toBe("created");
      const expected = {
        id: intent.newIds.repositoryCredentialId,
        workspaceId: deployed.workspaceId,
        name: intent.name,
        uid: intent.uid,
        generation: 1,
        createdAt: intent.createdAt,
        url: intent.url,
        urlKey: intent.urlKey,
        credentialId: intent.newIds.credentialId,
        secretVersion: intent.secretVersion,
      };
      expect((await readUnit(deployed.unitId))?.repositoryCredentials).toEqual([expected]);
      expect(await list()).toEqual([{ credential: expected, delivery: "under-way" }]);
      expect(await secretOf(intent.uid)).toBe(intent.secret);
    });

    it("make a workspace and its unit where there was none, which a deployment then finds", async () => {
      const intent = aCredential();
      expect(await world().notificationsOf(() => store().record(intent, soon()))).toEqual([
        `repository:${intent.newIds.workspaceId}`,
        `unit:${intent.newIds.unitId}`,
      ]);
      expect(await world().store.placements.listUnsettled({ limit: 10, after: "" }, soon())).toEqual([intent.newIds.unitId]);
      expect(await isDelivered()).toEqual(["unplaced"]);
      const { applicationId } = await world().record();
      expect((await world().unit(applicationId)).id).toBe(intent.newIds.unitId);
    });

    it("raise the unit and tell of it when URL, secret or age change, and else do not", async () => {
      const deployed = await world().deploy();
      const intent = aCredential();
      await store().record(intent, soon());
      await caughtUp(deployed);
      expect(await isDelivered()).toEqual(["delivered"]);
      const changes: readonly [Partial<RepositoryCredentialIntent>, "updated" | "unchanged"][] = [
        [{}, "unchanged"],
        [{ generation: 2, secretVersion: "secret-uid@2" }, "unchanged"],
        [{ generation: 2, secret: '{"kind":"bearer","token":"second"}' }, "updated"],
        [{ generation: 3, url: "https://git.example/team/other" }, "updated"],
        [{ generation: 3, createdAt: "2025-01-01T00:00:00Z" }, "updated"],
      ];
      let last = intent;
      for (const [change, outcome] of changes) {
        last = { ...last, ...change, newIds: aCredential().newIds };
        const before = (await world().unit(deployed.applicationId)).desiredRevision;
        const notifications = await world().notificationsOf(async () => expect(await store().record(last, soon())).toBe(outcome));
        const isChange = outcome === "updated";
        expect(notifications).toEqual(isChange ? [`repository:${deployed.workspaceId}`, `unit:${deployed.unitId}`] : []);
        expect((await world().unit(deployed.applicationId)).desiredRevision - before).toBe(isChange ? 1 : 0);
        expect(await isDelivered()).toEqual([isChange ? "under-way" : "delivered"]);
        expect(await secretOf(intent.uid)).toBe(last.secret);
        expect((await world().store.shards.listLagging([deployed.instanceId], 10, soon())).units).toEqual(
          isChange ? [deployed.unitId] : [],
        );
        await caughtUp(deployed);
      }
      expect((await list()).map(({ credential }) => credential)).toMatchObject([
        { generation: 3, url: "https://git.example/team/other", secretVersion: "secret-uid@2" },
      ]);
    });

    it("leave an older generation alone", async () => {
      const intent = aCredential({ generation: 2 });
      await store().record(intent, soon());
      expect(await store().record({ ...intent, generation: 1, secret: "old" }, soon())).toBe("unchanged");
      expect(await secretOf(intent.uid)).toBe(intent.secret);
    });

    it("are gone with their secret once revoked, and the unit is raised", async () => {
      const deployed = await world().deploy();
      const [kept, gone] = [aCredential(), aCredential({ urlKey: "other" })];
      for (const each of [kept, gone]) await store().record(each, soon());
      await caughtUp(deployed);
      const key = { id: gone.newIds.credentialId, owner: deployed.workspaceId, purpose: "repository" };
      expect(await world().store.credentials.read(key, soon())).toBe(gone.secret);
      const notifications = await world().notificationsOf(() => store().revoke([gone.uid, "nobody's"], soon()));
      expect(notifications).toEqual([`repository:${deployed.workspaceId}`, `unit:${deployed.unitId}`]);
      expect(await world().store.credentials.read(key, soon())).toBeUndefined();
      expect((await readUnit(deployed.unitId))?.repositoryCredentials.map(({ uid }) => uid)).toEqual([kept.uid]);
      expect(await isDelivered()).toEqual(["under-way"]);
      expect(await world().notificationsOf(() => store().revoke([gone.uid], soon()))).toEqual([]);
      await store().revoke([], soon());
    });

    it("belong to one workspace, whatever others call the repository", async () => {
      const deployed = await world().deploy();
      const other = await world().deploy({ namespace: "other" });
      await store().record(aCredential(), soon());
      expect((await readUnit(deployed.unitId))?.repositoryCredentials).toHaveLength(1);
      expect((await readUnit(other.unitId))?.repositoryCredentials).toEqual([]);
      expect(await store().listOfWorkspace({ ...WORKSPACE, namespaceUid: "uid-of-other" }, soon())).toEqual([]);
      expect(await store().listOfWorkspace({ ...WORKSPACE, namespaceUid: "nobody's" }, soon())).toEqual([]);
    });

    it("are listed by API cluster, for the comparison with what exists", async () => {
      const [a, b] = [aCredential(), aCredential({ urlKey: "other" })];
      for (const each of [b, a]) await store().record(each, soon());
      const known = ({ uid, generation, name, url, secretVersion }: RepositoryCredentialIntent) => ({
        ...{ uid, generation, namespace: "team", name, url, secretVersion },
      });
      expect(await store().listKnown("main", { limit: 1_000, after: "" }, soon())).toEqual([known(a), known(b)]);
      expect(await store().listKnown("elsewhere", { limit: 1_000, after: "" }, soon())).toEqual([]);
    });

    it("go with their workspace", async () => {
      const intent = aCredential();
      await store().record(intent, soon());
      const [known] = await world().store.intents.listKnownWorkspaces("main", { limit: 1_000, after: "" }, soon());
      const workspaceId = known?.workspaceId ?? ("" as WorkspaceId);
      await world().store.intents.recordWorkspaceEnds([workspaceId], soon());
      expect(await store().listKnown("main", { limit: 1_000, after: "" }, soon())).toEqual([]);
      const key = { id: intent.newIds.credentialId, owner: workspaceId, purpose: "repository" };
      expect(await world().store.credentials.read(key, soon())).toBeUndefined();
    });

    it("W13: are kept whole at the greatest length that anybody may give", async () => {
      const deployed = await world().deploy({ spec: aSpec() });
      const secret = JSON.stringify({ kind: "ssh", privateKey: "k".repeat(32_768) });
      const long = { name: "n".repeat(253), url: `https://git.example/${"u".repeat(2028)}`, urlKey: "k".repeat(2048), secret };
      await store().record(aCredential(long), soon());
      const [found] = (await readUnit(deployed.unitId))?.repositoryCredentials ?? [];
      expect([found?.name, found?.url]).toEqual([long.name, long.url]);
      expect(await secretOf(found?.uid ?? "")).toBe(secret);
    });

    it("survive text that no database would take as it is", async () => {
      const deployed = await world().deploy({ spec: aSpec() });
      const secret = JSON.stringify({ kind: "basic", username: "é'\"\\{}\0", password: "\u0000\ud800" });
      await store().record(aCredential({ url: "https://git.example/'\"\\\0", secret }), soon());
      const [found] = (await readUnit(deployed.unitId))?.repositoryCredentials ?? [];
      expect(await secretOf(found?.uid ?? "")).toBe(secret);
    });
  });
}
