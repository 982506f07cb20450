import { describe, expect, it } from "vitest";
import { type Millis, millis } from "../../../domain/clock.ts";
import type { WorkspaceId } from "../../../domain/ids.ts";
import { type RepositoryAccess, SPELLINGS_AT_MOST, UNPROVEN } from "../../../domain/repository-access.ts";
import { aSpec } from "../builders.ts";
import { type Deployed, soon, type World } from "../world.ts";

const T0: Millis = millis(Date.UTC(2026, 0, 1));
const PROVEN = { ...UNPROVEN, state: "proven", outcome: "readable", probedAt: T0, provenAt: T0 } as const;
const LOST = { ...PROVEN, state: "lost", outcome: "denied", refusals: 3, refusedSince: T0 } as const;
const DENIED = { ...UNPROVEN, outcome: "denied", probedAt: T0, refusals: 1, refusedSince: T0, credential: "some" } as const;
const specOf = (repoUrl: string) => aSpec({ repoUrl });

export function describeRepositoryAccess(world: () => World): void {
  const store = () => world().store.repositoryAccess;
  const deploy = (repoUrl: string, namespace = "team") => world().deploy({ namespace, spec: specOf(repoUrl), provesAccess: true });
  const record = ({ workspaceId }: Pick<Deployed, "workspaceId">, url: string, access: RepositoryAccess) =>
    store().record({ workspaceId, url, access }, soon());
  const accessOf = async ({ workspaceId }: Pick<Deployed, "workspaceId">, url: string) =>
    (await store().readRepositories(workspaceId, soon()))?.repositories.find((one) => one.url === url)?.access;
  const desired = async ({ applicationId }: Deployed) => (await world().store.shards.readApplications([applicationId], soon()))[0];
  const projectOf = async ({ unitId }: Deployed) => (await world().store.shards.readUnit(unitId, soon()))?.repoUrls;
  const revisions = async (deployed: Deployed) => {
    const row = await desired(deployed);
    return [row?.application.desiredRevision, row?.unit.desiredRevision];
  };

  const due = async (of: Parameters<ReturnType<typeof store>["listDue"]>[0]) =>
    (await store().listDue(of, { limit: 100, after: "" }, soon())).flatMap(({ workspaceId, isDue }) => (isDue ? [workspaceId] : []));

  describe("access to repositories", () => {
    const A = "https://git.example/team/a";

    it("of an application that asks for none counts as there: so did all that were there before", async () => {
      const deployed = await world().deploy({ spec: specOf(A) });
      expect((await desired(deployed))?.access).toBeUndefined();
      expect(await accessOf(deployed, A)).toBeUndefined();
      expect(await projectOf(deployed)).toEqual([A]);
      expect(await due({ apiCluster: "main", before: T0 })).toEqual([deployed.workspaceId]);
      expect(await due({ apiCluster: "other", before: T0 })).toEqual([]);
      // Another one of the same repository has it too, with whoever proves.
      const second = await world().record({ namespace: "team", spec: specOf(A), provesAccess: true });
      expect((await desired({ ...deployed, applicationId: second.applicationId }))?.access).toBeUndefined();
    });

    it("is overdue where what is proven was not probed again in time", async () => {
      const [a, b] = [await deploy(A, "a"), await deploy(A, "b")];
      const unproven = await deploy(A, "c");
      expect(await store().readOverdue(millis(T0 + 1), soon())).toEqual({ count: 0 });
      await record(a, A, { ...PROVEN, probedAt: millis(T0 + 5) });
      await record(b, A, PROVEN);
      await record(unproven, A, DENIED);
      expect(await store().readOverdue(T0, soon())).toEqual({ count: 0 });
      expect(await store().readOverdue(millis(T0 + 1), soon())).toEqual({ count: 1, since: T0 });
      expect(await store().readOverdue(millis(T0 + 6), soon())).toEqual({ count: 2, since: T0 });
    });

    it("has to be proven for the first application of a repository, and once for all of them", async () => {
      const first = await deploy(A);
      expect(await desired(first)).toMatchObject({ access: UNPROVEN, application: { spec: { source: { repoUrl: A } } } });
      expect(await projectOf(first), "what is not proven is permitted by no project, whoever makes an Application").toEqual([]);
      const heard = await world().notificationsOf(() => record(first, A, PROVEN));
      expect(heard).toEqual([`application:${first.applicationId}`, `status:${first.applicationId}`, `unit:${first.unitId}`]);
      expect(await projectOf(first)).toEqual([A]);
      expect((await desired(first))?.access).toEqual(PROVEN);
      const second = await world().record({ namespace: "team", spec: specOf(A), provesAccess: true });
      expect((await desired({ ...first, applicationId: second.applicationId }))?.access).toEqual(PROVEN);
      expect(await due({ apiCluster: "main", before: T0 })).toEqual([]);
      expect(await due({ apiCluster: "main", before: millis(T0 + 1) })).toEqual([first.workspaceId]);
      expect(await world().notificationsOf(() => record(first, A, PROVEN))).toEqual([]);
    });

    it("is confirmed where it is proven with that credential and was not refused since, and tells nobody", async () => {
      const later = millis(T0 + 60_000);
      const doubted = { ...PROVEN, refusals: 1, refusedSince: T0, outcome: "denied" } as const;
      const cases: readonly (readonly [string, RepositoryAccess])[] = [
        ["a", PROVEN],
        ["b", { ...PROVEN, credential: "another" }],
        ["c", LOST],
        ["d", DENIED],
        ["e", doubted],
        ["f", { ...PROVEN, outcome: "unreachable" }],
        ["g", { ...PROVEN, probedAt: millis(later + 1), provenAt: millis(later + 1) }],
        ["i", { ...PROVEN, state: "lost" }],
        ["j", { ...PROVEN, refusals: 1, refusedSince: T0 }],
      ];
      const all: Deployed[] = [];
      for (const [namespace, access] of cases) {
        const deployed = await deploy(A, namespace);
        await record(deployed, A, access);
        all.push(deployed);
      }
      const unknown = await deploy(A, "h");
      const confirmed = [...all, unknown].map(({ workspaceId }) => ({ workspaceId, url: A, credential: "", at: later }));
      const elsewhere = { ...(confirmed[0] as (typeof confirmed)[number]), url: `${A}/other` };
      expect(await world().notificationsOf(() => store().confirm([...confirmed, elsewhere], soon()))).toEqual([]);
      expect(await accessOf(all[0] as Deployed, A)).toEqual({ ...PROVEN, probedAt: later, provenAt: later });
      for (const [index, [, access]] of cases.entries())
        if (index > 0) expect(await accessOf(all[index] as Deployed, A), `case ${index}`).toEqual(access);
      expect(await accessOf(unknown, A)).toEqual(UNPROVEN);
      await store().confirm([], soon());
    });

    it("is asked for when it begins, and again when an application changes that could not be read", async () => {
      let intent = undefined as Awaited<ReturnType<World["record"]>> | undefined;
      const heard = await world().notificationsOf(async () => {
        intent = await world().record({ spec: specOf(A), provesAccess: true });
      });
      const workspaceId = (await world().application(intent?.applicationId as never)).workspaceId;
      expect(heard).toContain(`repository:${workspaceId}`);
      const again = (generation: number) =>
        world().notificationsOf(() => world().again(intent as never, { generation, spec: { ...specOf(A), refresh: String(generation) } }));
      await record({ workspaceId }, A, DENIED);
      expect(await again(2)).toContain(`repository:${workspaceId}`);
      expect(await accessOf({ workspaceId }, A)).toEqual({ ...DENIED, probedAt: undefined });
      await record({ workspaceId }, A, PROVEN);
      expect(await again(3)).not.toContain(`repository:${workspaceId}`);
      expect(await accessOf({ workspaceId }, A)).toEqual(PROVEN);
    });

    it("has to be proven anew by who comes back to a repository, and is forgotten by who left it", async () => {
      const deployed = await deploy(A);
      await record(deployed, A, PROVEN);
      const other = { ...deployed.intent, generation: 2 };
      await world().again(deployed.intent, { ...other, spec: specOf(`${A}/other`) });
      expect((await desired(deployed))?.access).toEqual(UNPROVEN);
      await world().again(deployed.intent, { ...other, generation: 3, spec: specOf(A) });
      expect(await desired(deployed)).toMatchObject({ access: { state: "unproven", outcome: undefined } });
      await record(deployed, `${A}/other`, PROVEN);
      expect(await accessOf(deployed, `${A}/other`)).toBeUndefined();
      expect((await desired(deployed))?.access?.state).toBe("unproven");
    });

    it("that is lost takes the repository out of the project, raises the unit and tells users; and back again", async () => {
      const deployed = await deploy(A);
      await record(deployed, A, PROVEN);
      const [application = 0, unit = 0] = await revisions(deployed);
      const heard = await world().notificationsOf(() => record(deployed, A, LOST));
      expect(heard).toEqual([`application:${deployed.applicationId}`, `status:${deployed.applicationId}`, `unit:${deployed.unitId}`]);
      expect(await projectOf(deployed)).toEqual([]);
      expect(await revisions(deployed)).toEqual([application, unit + 1]);
      expect((await world().store.intents.readByIds([deployed.applicationId], soon()))[0]?.access).toEqual(LOST);
      await record(deployed, A, PROVEN);
      expect(await projectOf(deployed)).toEqual([A]);
      expect(await revisions(deployed)).toEqual([application, unit + 2]);
    });

    it("gives every place that would share a checkout a spelling of its own, whoever comes first", async () => {
      const [lower, upper] = [await deploy(A), await deploy("https://git.example/Team/a.git", "other")];
      await record(upper, "https://git.example/Team/a.git", PROVEN);
      const before = await revisions(lower);
      await record(lower, A, PROVEN);
      expect((await desired(upper))?.application.spec.source.repoUrl).toBe("https://git.example/Team/a.git");
      expect(await desired(lower)).toMatchObject({
        access: { ...PROVEN, ordinal: 1 },
        application: { spec: { source: { repoUrl: "https://git.example:443/team/a" } } },
      });
      expect(await projectOf(lower)).toEqual(["https://git.example:443/team/a"]);
      expect(await revisions(lower)).toEqual(before.map((revision = 0) => revision + 1));
      // Users keep what they wrote, and a place keeps its number.
      const [view] = await world().store.intents.readByIds([lower.applicationId], soon());
      expect(view?.application.spec.source.repoUrl).toBe(A);
      const third = await deploy("HTTPS://git.example:443/team/a", "third");
      await record(third, "HTTPS://git.example:443/team/a", PROVEN);
      expect((await desired(third))?.application.spec.source.repoUrl).toBe("https://git.example:443/team/a");
    });

    it("refuses a workspace that is the first to write one repository in too many ways, and nobody else", async () => {
      const url = (index: number) => A.replace("team", Array.from("team", (c, at) => ((index >> at) & 1 ? c.toUpperCase() : c)).join(""));
      const urls = Array.from({ length: SPELLINGS_AT_MOST + 1 }, (_, index) => url(index));
      let last = await deploy(url(0));
      for (const each of urls) {
        const { applicationId } =
          each === url(0) ? last : await world().record({ namespace: "team", spec: specOf(each), provesAccess: true });
        last = { ...last, applicationId };
        await record(last, each, PROVEN);
      }
      expect((await desired(last))?.access).toMatchObject({ state: "unproven", outcome: "too-many" });
      const other = await deploy(url(12), "other");
      await record(other, url(12), PROVEN);
      expect((await desired(other))?.access).toMatchObject({ state: "proven", ordinal: SPELLINGS_AT_MOST });
    });

    it("is nobody's who is not there, and goes with its workspace", async () => {
      await store().record({ workspaceId: "nobody" as WorkspaceId, url: A, access: PROVEN }, soon());
      expect(await store().readRepositories("nobody" as WorkspaceId, soon())).toBeUndefined();
      const deployed = await deploy(A);
      await record(deployed, `${A}/nobody-names-it`, PROVEN);
      expect((await store().readRepositories(deployed.workspaceId, soon()))?.repositories).toEqual([{ url: A, access: UNPROVEN }]);
    });
  });
}
