import { describe, expect, it } from "vitest";
import { type Millis, millis } from "../../../domain/clock.ts";
import type { Decision } from "../../../domain/decision.ts";
import {
  ACCOUNT_PURPOSE,
  type CredentialUse,
  ENVIRONMENT_PURPOSE,
  environmentCredentialKey,
  OWNER_PURPOSE,
} from "../../../domain/environment.ts";
import type { InstanceId, MoveId, UnitId } from "../../../domain/ids.ts";
import { REPOSITORY_PURPOSE } from "../../../domain/repository-credential.ts";
import type { CredentialKey } from "../../credential/port.ts";
import type { JournalPosition } from "../../retention/port.ts";
import { AT, aClaim, aDecision, anInstance, anObject, WIDE } from "../builders.ts";
import { soon, type World } from "../world.ts";

const HOUR = 3_600_000;
const FUTURE = millis(4_000_000_000_000);

export function describeRetention(world: () => World): void {
  /** Walks the whole journal in steps of this size; returns how many entries went. */
  const forgetAll = async (before: Millis, limit: number): Promise<number> => {
    let sum = 0;
    let after: JournalPosition | undefined;
    do {
      const step = await world().store.retention.forgetDecisions({ before, limit, after }, soon());
      sum += step.forgotten;
      after = step.next;
    } while (after !== undefined);
    return sum;
  };
  const journal = (subject: string, kind: Decision["kind"] = "placement") => world().store.decisions.list({ subject, kind }, 100, soon());

  describe("forgetting completed operations", () => {
    it("goes by when they ended, in steps, and leaves what is still open", async () => {
      const { store, deploy, record } = world();
      const { applicationId, instanceId, epoch } = await deploy();
      for (const revision of [1, 2, 3]) {
        const object = anObject({ instanceId, subject: applicationId, epoch }, { appliedRevision: revision });
        await store.shards.acknowledge([object], soon());
      }
      const open = await record({ namespace: "other" });
      const [done] = await store.operations.listOperations({ state: "Completed" }, { limit: 10, after: "" }, soon());
      expect(await store.retention.forgetOperations(done!.updatedAt, 10, soon())).toBe(0);
      expect(await store.retention.forgetOperations(FUTURE, 10, soon())).toBe(1);
      expect(await store.retention.forgetOperations(FUTURE, 10, soon())).toBe(0);
      const left = await store.operations.listOperations({}, { limit: 10, after: "" }, soon());
      expect(left.map(({ subject }) => subject)).toEqual([open.applicationId]);
    });

    it("takes no more than it is asked for", async () => {
      const { store, deploy } = world();
      for (const namespace of ["a", "b", "c"]) {
        const { applicationId, instanceId, epoch } = await deploy({ namespace });
        await store.shards.acknowledge([anObject({ instanceId, subject: applicationId, epoch })], soon());
      }
      expect(await store.retention.forgetOperations(FUTURE, 2, soon())).toBe(2);
      expect(await store.retention.forgetOperations(FUTURE, 2, soon())).toBe(1);
    });
  });

  describe("forgetting moves", () => {
    it("goes by when they ended, in steps, and leaves what is under way", async () => {
      const { store, deploy, addInstance } = world();
      const { id: to } = await addInstance();
      for (const namespace of ["a", "b", "c"]) {
        const { unitId, epoch } = await deploy({ namespace });
        const request = {
          id: namespace as MoveId,
          unitId,
          to,
          epoch,
          kind: "drain",
          reason: "FORCED",
          plan: undefined,
          reverses: undefined,
          isFailOver: false,
        } as const;
        await store.moves.request({ ...request, actor: "otto", ceiling: WIDE, decision: aDecision() }, soon());
        if (namespace !== "c") await store.moves.abort(request.id, { message: "", decision: aDecision() }, soon());
      }
      expect(await store.retention.forgetMoves(millis(0), 10, soon())).toBe(0);
      expect(await store.retention.forgetMoves(FUTURE, 1, soon())).toBe(1);
      expect(await store.retention.forgetMoves(FUTURE, 10, soon())).toBe(1);
      expect((await store.moves.list({}, 10, soon())).map(({ id }) => id)).toEqual(["c"]);
    });
  });

  describe("forgetting what cascades ended", () => {
    it("goes by when that was, in steps", async () => {
      const { store, deploy, remove } = world();
      const placements = [await deploy({ namespace: "a" }), await deploy({ namespace: "b" })];
      for (const { intent, applicationId } of placements) {
        await remove(intent);
        await store.shards.forgetApplications([applicationId], soon());
      }
      const left = async () =>
        (await Promise.all(placements.map((each) => store.shards.listEnded(each.instanceId, [each.applicationId], soon())))).flat().length;
      expect(await store.retention.forgetEnded(millis(0), 10, soon())).toBe(0);
      expect(await left()).toBe(2);
      expect(await store.retention.forgetEnded(FUTURE, 1, soon())).toBe(1);
      expect(await left()).toBe(1);
      expect(await store.retention.forgetEnded(FUTURE, 10, soon())).toBe(1);
      expect(await store.retention.forgetEnded(FUTURE, 10, soon())).toBe(0);
    });
  });

  describe("forgetting credentials", () => {
    it("removes what belongs to nothing, and nothing else", async () => {
      const { store } = world();
      const claim = aClaim();
      const { id, workspaceId } = await store.environments.claim(claim, soon());
      const instance = anInstance();
      await store.fleet.insertInstance(instance, aDecision({ subject: instance.id }), soon());
      const account = { unitId: "unit-1" as UnitId, instanceId: "instance-1" as InstanceId };
      const uses: readonly CredentialUse[] = [
        { purpose: ENVIRONMENT_PURPOSE },
        { purpose: OWNER_PURPOSE },
        { purpose: ACCOUNT_PURPOSE, account },
      ];
      for (const use of uses) await store.environments.putCredential({ id, use, plaintext: "kept" }, soon());
      const key = (name: string, owner: string, purpose: string): CredentialKey => ({ id: name as CredentialKey["id"], owner, purpose });
      const kept = key("of-instance", instance.id, "argo-cd-redis-password");
      const orphans = [
        key("of-no-workspace", "workspace-gone", ENVIRONMENT_PURPOSE),
        key("of-no-instance", "instance-gone", "argo-cd-redis-password"),
        key("of-no-environment", workspaceId, ENVIRONMENT_PURPOSE),
        key("of-no-environment.owner", workspaceId, OWNER_PURPOSE),
        key("of-no-environment.account.unit-1.instance-1", workspaceId, ACCOUNT_PURPOSE),
        key("of-no-repository", workspaceId, REPOSITORY_PURPOSE),
      ];
      for (const each of [kept, ...orphans]) await store.credentials.put(each, "secret", soon());
      expect(await store.retention.forgetCredentials(2, soon())).toBe(2);
      expect(await store.retention.forgetCredentials(10, soon())).toBe(4);
      expect(await store.retention.forgetCredentials(10, soon())).toBe(0);
      for (const orphan of orphans) expect(await store.credentials.read(orphan, soon())).toBeUndefined();
      expect(await store.credentials.read(kept, soon())).toBe("secret");
      for (const use of uses) expect(await store.credentials.read(environmentCredentialKey(id, workspaceId, use), soon())).toBe("kept");
    });
  });

  describe("forgetting decisions", () => {
    it.each([1, 2, 100])("keeps the newest of each kind about what is still there, in steps of %i", async (limit) => {
      const { store, deploy } = world();
      const { unitId, instanceId } = await deploy();
      const entries = [1, 2, 3].flatMap((hours) => [
        aDecision({ at: millis(AT - hours * HOUR), subject: unitId, verdict: `before-${hours}` }),
        aDecision({ at: millis(AT - hours * HOUR), subject: instanceId, kind: "instance", verdict: `before-${hours}` }),
        aDecision({ at: millis(AT - hours * HOUR), subject: "fleet", kind: "fleet", verdict: `before-${hours}` }),
        aDecision({ at: millis(AT - hours * HOUR), subject: unitId, kind: "owner-binding", verdict: `before-${hours}` }),
        aDecision({ at: millis(AT - hours * HOUR), subject: "unit-that-went" }),
        aDecision({ at: millis(AT - hours * HOUR), subject: "unit-that-went", kind: "owner-binding" }),
        aDecision({ at: millis(AT - hours * HOUR), subject: "instance-that-went", kind: "instance" }),
      ]);
      await store.decisions.append(entries, soon());
      // What deploy() wrote about unit and instance is newer than all of these.
      expect(await forgetAll(AT, limit)).toBe(19);
      expect(await journal(unitId, "owner-binding")).toMatchObject([{ verdict: "before-1" }]);
      expect(await journal("unit-that-went", "owner-binding")).toEqual([]);
      expect(await journal(unitId)).toMatchObject([{ at: AT }]);
      expect(await journal(instanceId, "instance")).toMatchObject([{ at: AT }]);
      expect(await journal("fleet", "fleet")).toMatchObject([{ verdict: "before-1" }]);
      expect(await journal("unit-that-went")).toEqual([]);
      expect(await journal("instance-that-went", "instance")).toEqual([]);
      expect(await forgetAll(FUTURE, limit)).toBe(0);
      expect(await journal(unitId)).toHaveLength(1);
    });

    it("keeps whatever is young enough", async () => {
      const { store } = world();
      await store.decisions.append([aDecision({ subject: "nobody" }), aDecision({ subject: "nobody" })], soon());
      expect(await forgetAll(AT, 10)).toBe(0);
      expect(await forgetAll(millis(AT + 1), 10)).toBe(2);
    });

    it("forgets those about a unit that went with its workspace, and about an instance that never was", async () => {
      const { store, record, remove, unit } = world();
      const intent = await record();
      const { id } = await unit(intent.applicationId);
      await store.decisions.append([aDecision({ subject: id })], soon());
      expect(await forgetAll(FUTURE, 10)).toBe(0);
      await remove(intent);
      await store.intents.recordWorkspaceEnds([intent.newIds.workspaceId], soon());
      expect(await forgetAll(FUTURE, 10)).toBe(1);
      expect(await store.fleet.insertInstance(anInstance(), aDecision({ subject: "other", kind: "instance" }), soon())).toBe(true);
      expect(await forgetAll(FUTURE, 10)).toBe(1);
    });

    it("forgets a deletion that was given up once its workspace is gone", async () => {
      const { store, deploy } = world();
      const { workspaceId } = await deploy();
      const entries = [workspaceId, "workspace-that-went"].map((subject) => aDecision({ subject, kind: "deletion" }));
      await store.decisions.append(entries, soon());
      expect(await forgetAll(FUTURE, 10)).toBe(1);
      expect(await journal(workspaceId, "deletion")).toHaveLength(1);
    });

    it("forgets orders about a workspace or a freeze that is gone", async () => {
      const { store, deploy } = world();
      const { workspaceId } = await deploy();
      const freeze = { name: "f", schedule: undefined, durationMs: 1, actor: "otto", reason: "", at: AT };
      const order = (subject: string) => aDecision({ subject, kind: "directive" });
      await store.directives.putFreeze(freeze, order("freeze/f"), soon());
      await store.decisions.append([order(workspaceId), order("freeze/gone"), order("workspace-that-went")], soon());
      expect(await forgetAll(FUTURE, 10)).toBe(2);
      expect(await journal(workspaceId, "directive")).toHaveLength(1);
      expect(await journal("freeze/f", "directive")).toHaveLength(1);
      await store.directives.dropFreeze("f", order("freeze/f"), soon());
      expect(await forgetAll(FUTURE, 10)).toBe(2);
    });
  });
}
