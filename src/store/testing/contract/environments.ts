import { describe, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import {
  ACCOUNT_PURPOSE,
  type CredentialUse,
  ENVIRONMENT_PURPOSE,
  environmentCredentialKey,
  OWNER_PURPOSE,
  ownerCredentialId,
} from "../../../domain/environment.ts";
import { GoneError } from "../../../domain/errors.ts";
import type { ApplicationId, CredentialId, EnvironmentId, InstanceId, UnitId } from "../../../domain/ids.ts";
import type { EnvironmentClaim } from "../../environment/port.ts";
import { aClaim, aConnection, anObject, aSpec } from "../builders.ts";
import { type Deployed, soon, type World } from "../world.ts";

const ELSEWHERE = { ...aSpec(), destination: { environment: "prod", namespace: "web" } };

export function describeEnvironments(world: () => World): void {
  const { claim, connect, readApplication, readUnit } = { ...acts(world) };

  describe("environments", () => {
    it("are nothing applications could use until they were seen to work", async () => {
      const { record } = world();
      const { id } = await claim();
      const { applicationId } = await record({ spec: ELSEWHERE });
      expect((await readApplication(applicationId)).environment).toMatchObject({ id, state: "withdrawn" });
      expect(await connect(id)).toBe(true);
      expect((await readApplication(applicationId)).environment).toMatchObject({
        ...aConnection(id),
        name: "prod",
        state: "connected",
      });
    });

    it("stay one row for one resource, whoever claims it and how often", async () => {
      const request = aClaim();
      const first = await claim(request);
      const again = aClaim({ uid: request.uid });
      expect(await claim(again)).toEqual(first);
      expect(await world().store.environments.listKnown("main", { limit: 1_000, after: "" }, soon())).toEqual([
        { id: first.id, uid: request.uid, name: "prod", state: "withdrawn", generation: 0, namespace: "team" },
      ]);
      expect(await world().store.environments.listKnown("other", { limit: 1_000, after: "" }, soon())).toEqual([]);
    });

    it("count as used in their namespace while they are connected", async () => {
      const { store } = world();
      const { id, uid } = await inUse();
      const withdrawn = await claim(aClaim({ uid: "another", name: "other" }));
      const used = (namespace = "team", apiCluster = "main") => store.environments.listUsed(apiCluster, namespace, soon());
      expect(await used()).toEqual([uid]);
      expect(await used("strangers")).toEqual([]);
      expect(await used("team", "other")).toEqual([]);
      await connect(withdrawn.id);
      expect(await used()).toHaveLength(2);
      await store.environments.withdraw(uid, soon());
      expect(await used()).toEqual(["another"]);
      expect(id).not.toBe(withdrawn.id);
    });

    it("are kept from instances while they are withheld, whoever connects them, and tell what uses them", async () => {
      const { environments, shards, intents } = world().store;
      const { id, uid, deployed } = await inUse();
      const { applicationId, unitId } = deployed;
      const withholding = {
        ...{ objects: 31_000, apis: 420, budget: 20_000, times: 2 },
        ...{ at: millis(1_000), changeFrom: millis(2_000), until: millis(3_000) },
      };
      expect(await environments.listWithheld("main", soon())).toEqual([]);
      const notified = await world().notificationsOf(() => environments.withhold(id, withholding, soon()));
      expect(notified).toEqual([`application:${applicationId}`, `unit:${unitId}`]);
      expect((await shards.readUnit(unitId, soon()))?.environments).toEqual([]);
      expect((await intents.readByIds([applicationId], soon()))[0]?.environment).toMatchObject({
        state: "withdrawn",
        withheld: withholding,
      });
      expect(await connect(id, { fingerprint: "fingerprint-9" })).toBe(false);
      expect(await environments.read(uid, soon())).toMatchObject({ state: "withdrawn", withheld: withholding });
      expect(await environments.listWithheld("main", soon())).toMatchObject([
        { id, uid, name: "prod", namespace: "team", withheld: withholding },
      ]);
      expect(await environments.listWithheld("other", soon())).toEqual([]);
      await environments.endWithholding("unknown", soon());
      await environments.endWithholding(uid, soon());
      expect(await environments.listWithheld("main", soon())).toEqual([]);
      expect(await connect(id)).toBe(true);
      const ended = await environments.readKnown(id, soon());
      expect(ended).toMatchObject({ id, uid, name: "prod", state: "connected", withheld: { ...withholding, endedAt: expect.any(Number) } });
      await environments.endWithholding(uid, soon());
      expect((await environments.readKnown(id, soon()))?.withheld).toEqual(ended?.withheld);
    });

    it("are not withheld where nothing is connected", async () => {
      const { environments } = world().store;
      const { uid } = aClaim();
      const { id } = await claim(aClaim({ uid }));
      const withholding = { objects: 1, apis: 1, budget: 1, times: 1, at: millis(1), changeFrom: millis(2), until: millis(3) };
      expect(await world().notificationsOf(() => environments.withhold(id, withholding, soon()))).toEqual([]);
      expect(await environments.withhold(id, withholding, soon())).toBe(false);
      expect(await environments.withhold("unknown" as EnvironmentId, withholding, soon())).toBe(false);
      expect(await environments.readKnown("unknown" as EnvironmentId, soon())).toBeUndefined();
      expect(await environments.readKnown(id, soon())).not.toHaveProperty("withheld");
      expect(await connect(id)).toBe(true);
      expect(await environments.read(uid, soon())).toMatchObject({ state: "connected" });
    });

    it("may be there before the first application, and share its workspace", async () => {
      const { workspaceId } = await claim();
      const { applicationId } = await world().record();
      expect((await world().application(applicationId)).workspaceId).toBe(workspaceId);
      expect(await world().unit(applicationId)).toMatchObject({ workspaceId, phase: "UNPLACED" });
    });

    it("mean nothing to applications of other workspaces or that name another", async () => {
      const { id } = await claim();
      await connect(id);
      const stranger = await world().record({ namespace: "strangers", spec: ELSEWHERE });
      const other = await world().record({ spec: { ...ELSEWHERE, destination: { environment: "test", namespace: "web" } } });
      const own = await world().record();
      for (const { applicationId } of [stranger, other, own]) {
        expect((await readApplication(applicationId)).environment).toBeUndefined();
        expect((await readUnit(applicationId)).environments).toEqual([]);
      }
    });

    it.each([
      ["its address", { apiUrl: "https://other.example" }],
      ["its namespaces", { namespaces: ["web", "db"] }],
      ["its rights", { clusterResources: true }],
      ["how its certificate is checked", { isInsecure: true }],
      ["whose account is used", { createsAccount: true }],
      ["its credential", { fingerprint: "fingerprint-2" }],
    ])("raise what uses them, and tell it, when %s changes", async (_what, over) => {
      const { id, deployed } = await inUse();
      const { epoch, instanceId, applicationId, unitId } = deployed;
      await world().acknowledgeUnit(deployed, (await world().unit(applicationId)).desiredRevision);
      await world().store.shards.acknowledge([anObject({ instanceId, subject: applicationId, epoch }, { appliedRevision: 9 })], soon());
      const before = await readApplication(applicationId);
      const notifications = await world().notificationsOf(() => connect(id, over));
      expect(notifications).toEqual([`application:${applicationId}`, `unit:${unitId}`]);
      const after = await readApplication(applicationId);
      expect(after.application.desiredRevision).toBe(before.application.desiredRevision + 1);
      expect(after.unit.desiredRevision).toBe(before.unit.desiredRevision + 1);
      expect(after.unitAppliedRevision).toBe(before.unit.desiredRevision);
      expect((await world().store.shards.listLagging([instanceId], 10, soon())).units).toEqual([unitId]);
    });

    it("raise nothing when only their generation changes, and nobody who does not use them", async () => {
      const { id, deployed } = await inUse();
      const bystander = await world().record();
      const before = await readApplication(deployed.applicationId);
      expect(await world().notificationsOf(() => connect(id, { generation: 2 }))).toEqual([]);
      expect(await connect(id, { generation: 2 })).toBe(false);
      await connect(id, { fingerprint: "fingerprint-2" });
      expect((await readApplication(deployed.applicationId)).application.desiredRevision).toBe(before.application.desiredRevision + 1);
      expect((await readApplication(bystander.applicationId)).application.desiredRevision).toBe(1);
      expect(
        (await world().store.environments.listKnown("main", { limit: 1_000, after: "" }, soon())).map(({ generation }) => generation),
      ).toEqual([1]);
    });

    it("have the statuses of their users written again after each change", async () => {
      const { id, deployed } = await inUse();
      const { intents } = world().store;
      await intents.recordPublished([{ applicationId: deployed.applicationId, hash: "shown" }], soon());
      expect(await intents.listUnpublished("main", { limit: 10, after: "" }, soon())).toEqual([]);
      await connect(id, { fingerprint: "fingerprint-2" });
      expect(await intents.listUnpublished("main", { limit: 10, after: "" }, soon())).toEqual([deployed.applicationId]);
      const [view] = await intents.readByIds([deployed.applicationId], soon());
      expect(view?.environment).toMatchObject({ id, name: "prod", fingerprint: "fingerprint-2" });
    });

    it("belong to a unit as long as an application of it goes through them", async () => {
      const { id, deployed, uid } = await inUse();
      const { unitId, applicationId, intent, instanceId } = deployed;
      const namesOf = async () => (await world().store.shards.readUnit(unitId, soon()))?.environments.map((each) => each.id);
      expect(await namesOf()).toEqual([id]);
      await world().store.environments.withdraw(uid, soon());
      expect(await namesOf()).toEqual([]);
      expect((await readApplication(applicationId)).environment?.state).toBe("withdrawn");
      await connect(id);
      await world().again(intent, { generation: 2, spec: aSpec() });
      expect(await namesOf()).toEqual([]);
      expect((await world().store.shards.listLagging([instanceId], 10, soon())).units).toEqual([unitId]);
    });

    it("raise a unit when an application that goes to them gets another repository, though the unit has that already", async () => {
      const { record, again, unit } = world();
      const resident = await record();
      const other = aSpec({ repoUrl: "https://git.example/team/other" });
      await record({ spec: other });
      const traveller = await record({ spec: ELSEWHERE });
      const revision = async () => (await unit(resident.applicationId)).desiredRevision;
      const first = await revision();
      await again(traveller, { generation: 2, spec: { ...ELSEWHERE, source: other.source } });
      expect(await revision()).toBe(first + 1);
      await again(traveller, { generation: 3, spec: { ...ELSEWHERE, source: { ...other.source, path: "another" } } });
      expect(await revision()).toBe(first + 1);
    });

    it("raise a unit when an application comes to them, changes to another, or is gone", async () => {
      const { store, record, again, remove, unit } = world();
      const resident = await record();
      const revision = async () => (await unit(resident.applicationId)).desiredRevision;
      const first = await revision();
      const traveller = await record({ spec: ELSEWHERE });
      expect(await revision()).toBe(first + 1);
      await again(traveller, { generation: 2, spec: { ...ELSEWHERE, destination: { environment: "test", namespace: "web" } } });
      expect(await revision()).toBe(first + 2);
      await again(traveller, { generation: 3, spec: { ...ELSEWHERE, destination: { environment: "test", namespace: "db" } } });
      expect(await revision()).toBe(first + 2);
      await remove(traveller);
      await store.shards.forgetApplications([traveller.applicationId], soon());
      expect((await store.intents.readByIds([traveller.applicationId], soon())).length).toBe(0);
      expect(await revision()).toBe(first + 3);
    });

    it("go at once, with their credential, when nothing stands for them", async () => {
      const { id, deployed, uid, workspaceId } = await inUse();
      const key = { id: id as string as CredentialId, owner: workspaceId, purpose: ENVIRONMENT_PURPOSE };
      await world().store.credentials.put(key, "secret", soon());
      const notifications = await world().notificationsOf(() => world().store.environments.recordEnd(uid, "at-once", soon()));
      expect(notifications).toEqual([`application:${deployed.applicationId}`, `unit:${deployed.unitId}`]);
      expect((await readApplication(deployed.applicationId)).environment).toBeUndefined();
      expect(await world().store.environments.listKnown("main", { limit: 1_000, after: "" }, soon())).toEqual([]);
      expect(await world().store.credentials.read(key, soon())).toBeUndefined();
      expect(await world().store.environments.recordEnd(uid, "at-once", soon())).toBe("gone");
    });

    it("leave only when nothing stands for them any more", async () => {
      const { id, deployed, uid } = await inUse();
      const { instanceId, epoch } = deployed;
      const entry = anObject({ instanceId, epoch, subject: id }, { kind: "cluster-entry" });
      await world().store.shards.acknowledge([entry], soon());
      expect((await readUnit(deployed.applicationId)).acknowledged).toContainEqual(entry);
      expect(await world().store.environments.recordEnd(uid, "at-once", soon())).toBe("in-use");
      expect((await readApplication(deployed.applicationId)).environment?.state).toBe("leaving");
      expect(await connect(id)).toBe(false);
      await world().store.shards.forgetObjects([entry], soon());
      expect(await world().notificationsOf(() => world().store.environments.recordEnd(uid, "at-once", soon()))).toEqual([]);
      expect(await world().store.environments.listKnown("main", { limit: 1_000, after: "" }, soon())).toEqual([]);
    });

    it("stay for the cascade of an application that is being deleted", async () => {
      const { id, deployed, uid } = await inUse();
      await world().remove(deployed.intent);
      await world().store.environments.recordEnd(uid, "at-once", soon());
      expect((await readApplication(deployed.applicationId)).environment).toMatchObject({ id, state: "leaving" });
      expect((await readUnit(deployed.applicationId)).environments.map((each) => each.id)).toEqual([id]);
      await world().remove(deployed.intent, "orphan");
      expect((await readUnit(deployed.applicationId)).environments).toEqual([]);
      expect(await world().store.environments.recordEnd(uid, "at-once", soon())).toBe("gone");
      expect(await world().store.environments.listKnown("main", { limit: 1_000, after: "" }, soon())).toEqual([]);
    });

    it("stay, and keep their workspace, until the account they have on their cluster is gone", async () => {
      const { store } = world();
      const request = aClaim();
      const { id, workspaceId, hasAccount } = await claim(request);
      expect(hasAccount).toBe(false);
      await store.environments.noteAccount(id, true, soon());
      expect(await claim(request)).toMatchObject({ id, hasAccount: true });
      const owner = { id: ownerCredentialId(id), owner: workspaceId, purpose: OWNER_PURPOSE };
      await store.credentials.put(owner, "secret", soon());
      await store.intents.recordWorkspaceEnds([workspaceId], soon());
      expect(await store.shards.forgetWorkspace(workspaceId, soon())).toBe(false);
      expect(await store.environments.recordEnd(request.uid, "at-once", soon())).toBe("account-left");
      expect(await store.environments.read(request.uid, soon())).toMatchObject({ id, state: "leaving", hasAccount: true });
      await store.environments.noteAccount(id, false, soon());
      expect(await store.environments.recordEnd(request.uid, "at-once", soon())).toBe("gone");
      expect(await store.environments.read(request.uid, soon())).toBeUndefined();
      expect(await store.credentials.read(owner, soon())).toBeUndefined();
      expect(await store.shards.forgetWorkspace(workspaceId, soon())).toBe(true);
    });

    it("wake the units of a workspace that is going when their account is gone, and no others", async () => {
      const { store, notificationsOf } = world();
      const { id, workspaceId, deployed } = await inUse();
      // What went before may still be on its way: it arrives before whatever is sent here.
      await notificationsOf(async () => undefined);
      const note = (hasAccount: boolean) => notificationsOf(() => store.environments.noteAccount(id, hasAccount, soon()));
      expect(await note(true)).toEqual([]);
      expect((await readUnit(deployed.applicationId)).hasAccountsElsewhere).toBe(true);
      expect(await note(false)).toEqual([]);
      expect((await readUnit(deployed.applicationId)).hasAccountsElsewhere).toBe(false);
      await notificationsOf(() => store.intents.recordWorkspaceEnds([workspaceId], soon()));
      expect(await note(true)).toEqual([]);
      expect(await note(false)).toEqual([`unit:${deployed.unitId}`]);
      expect(await note(false)).toEqual([]);
    });

    it("are listed while the owner of a unit of theirs has no account there that should have one", async () => {
      const { store } = world();
      const { id, deployed } = await inUse();
      const ask = async (over: Partial<Parameters<typeof store.environments.listWithoutAccount>[0]>) =>
        (await store.environments.listWithoutAccount({ apiCluster: "main", environments: [], units: [], ...over }, soon())).map(
          (each) => each.id,
        );
      const list = () => ask({ environments: [id] });
      expect(await list()).toEqual([]);
      await connect(id, { createsAccount: true });
      expect(await list()).toEqual([id]);
      expect(await ask({ units: [deployed.unitId] })).toEqual([id]);
      expect(await ask({ environments: [id], units: [deployed.unitId] })).toEqual([id]);
      expect(await ask({})).toEqual([]);
      expect(await ask({ apiCluster: "other", environments: [id] })).toEqual([]);
      const account = { unitId: deployed.unitId, instanceId: deployed.instanceId };
      await store.environments.putCredential({ id, use: { purpose: ACCOUNT_PURPOSE, account }, plaintext: "secret" }, soon());
      expect(await list()).toEqual([]);
      expect(await ask({ units: [deployed.unitId] })).toEqual([]);
    });

    it("remember since when their cluster could not be reached, until it is", async () => {
      const { store } = world();
      const { uid, deployed } = await inUse();
      const since = async () => (await readUnit(deployed.applicationId)).environments.map(({ unreachableSince }) => unreachableSince);
      const note = (isReached: boolean) => store.environments.noteReach(uid, isReached, soon());
      expect(await since()).toEqual([undefined]);
      expect(await world().notificationsOf(() => note(false))).toEqual([]);
      const [first] = await since();
      expect(first).toBeTypeOf("number");
      await note(false);
      expect(await since()).toEqual([first]);
      await note(true);
      expect(await since()).toEqual([undefined]);
    });

    it("make room for another of their name", async () => {
      const { id, deployed } = await inUse();
      const { instanceId, epoch } = deployed;
      await world().store.shards.acknowledge([anObject({ instanceId, epoch, subject: id }, { kind: "cluster-entry" })], soon());
      const next = await claim();
      expect((await readApplication(deployed.applicationId)).environment?.state).not.toBe("connected");
      await connect(next.id);
      expect((await readApplication(deployed.applicationId)).environment).toMatchObject({ id: next.id, state: "connected" });
      expect((await readUnit(deployed.applicationId)).environments.map((each) => each.id)).toEqual([next.id]);
    });

    it("are superseded by a newer one only, never by who claims the older one again because it is behind", async () => {
      const old = aClaim();
      const { id: oldId } = await claim(old);
      const next = await claim(aClaim());
      const states = async () =>
        (await world().store.environments.listKnown("main", { limit: 1_000, after: "" }, soon())).map(
          ({ id, state }) => [id, state] as const,
        );
      expect(new Map<string, string>(await states())).toEqual(
        new Map<string, string>([
          [oldId, "leaving"],
          [next.id, "withdrawn"],
        ]),
      );
      expect(await world().notificationsOf(() => claim(old))).toEqual([]);
      expect(await connect(next.id)).toBe(true);
      expect(await connect(oldId)).toBe(false);
      await claim(old);
      expect(await states()).toContainEqual([next.id, "connected"]);
    });

    it.each(["environment", "workspace"])("leave nothing sealed behind when their %s goes while it is being stored", async (what) => {
      const { store } = world();
      const request = aClaim();
      const { id, workspaceId } = await claim(request);
      const account = { unitId: "unit-1" as UnitId, instanceId: "instance-1" as InstanceId };
      const uses: readonly CredentialUse[] = [
        { purpose: ENVIRONMENT_PURPOSE },
        { purpose: OWNER_PURPOSE },
        { purpose: ACCOUNT_PURPOSE, account },
      ];
      const secrets = uses.map((use) => ({ id, use, plaintext: "secret" }));
      for (const secret of secrets) await store.environments.putCredential(secret, soon());
      const keys = uses.map((use) => environmentCredentialKey(id, workspaceId, use));
      for (const key of keys) expect(await store.credentials.read(key, soon())).toBe("secret");
      if (what === "environment") await store.environments.recordEnd(request.uid, "at-once", soon());
      else await store.intents.recordWorkspaceEnds([workspaceId], soon());
      for (const secret of secrets) await expect(store.environments.putCredential(secret, soon())).rejects.toThrow(GoneError);
      for (const key of keys) expect(await store.credentials.read(key, soon())).toBeUndefined();
      expect(await store.retention.forgetCredentials(10, soon())).toBe(0);
    });

    it("end after the deployments that use them, where these come first", async () => {
      const { store, remove } = world();
      const { uid, deployed } = await inUse();
      const state = async () => (await store.environments.read(uid, soon()))?.state;
      expect(await world().notificationsOf(() => store.environments.recordEnd(uid, "after-deployments", soon()))).toEqual([]);
      expect(await state()).toBe("connected");
      await remove(deployed.intent, "with-namespace");
      expect(await store.environments.recordEnd(uid, "after-deployments", soon())).toBe("in-use");
      expect(await state()).toBe("leaving");
      await store.shards.forgetApplications([deployed.applicationId], soon());
      expect(await store.environments.recordEnd(uid, "after-deployments", soon())).toBe("gone");
    });

    it("go with their workspace", async () => {
      const { store } = world();
      const { workspaceId } = await claim();
      await store.intents.recordWorkspaceEnds([workspaceId], soon());
      expect(await store.environments.listKnown("main", { limit: 1_000, after: "" }, soon())).toEqual([]);
    });
  });

  async function inUse(): Promise<{
    readonly id: EnvironmentId;
    readonly uid: string;
    readonly workspaceId: Deployed["workspaceId"];
    readonly deployed: Deployed;
  }> {
    const deployed = await world().deploy({ spec: ELSEWHERE });
    const request = aClaim();
    const { id, workspaceId } = await claim(request);
    await connect(id);
    return { id, uid: request.uid, workspaceId, deployed };
  }
}

function acts(world: () => World) {
  return {
    claim: (request: EnvironmentClaim = aClaim()) => world().store.environments.claim(request, soon()),
    connect: (id: EnvironmentId, over: Parameters<typeof aConnection>[1] = {}) =>
      world().store.environments.connect(aConnection(id, over), soon()),
    async readApplication(id: ApplicationId) {
      const [found] = await world().store.shards.readApplications([id], soon());
      if (found === undefined) throw new Error(`there is no application ${id}`);
      return found;
    },
    async readUnit(applicationId: ApplicationId) {
      const found = await world().store.shards.readUnit((await world().unit(applicationId)).id, soon());
      if (found === undefined) throw new Error(`there is no unit of ${applicationId}`);
      return found;
    },
  };
}
