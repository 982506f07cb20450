import { describe, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import { StaleError } from "../../../domain/errors.ts";
import type { Rollout } from "../../../domain/rollout.ts";
import { AT, aDecision, aRollout, aWaveInstance, CLASS } from "../builders.ts";
import { soon, type World } from "../world.ts";

export function describeRollouts(world: () => World): void {
  const entry = ({ id }: Pick<Rollout, "id">, verdict: string) => aDecision({ subject: id, kind: "rollout", verdict, rule: "COMMAND" });
  const create = (rollout: Rollout) => world().store.rollouts.create(rollout, entry(rollout, "CREATED"), soon());

  describe("rollouts", () => {
    it("are kept as they are, with their entry in the journal, and told of", async () => {
      const { store, notificationsOf } = world();
      const rollout = aRollout({ reason: 'new "release" \u0000 é', instances: [aWaveInstance({ askedAt: AT })] });
      expect(await notificationsOf(async () => expect(await create(rollout)).toBeUndefined())).toEqual([`rollout:${rollout.id}`]);
      expect(await store.rollouts.read(rollout.id, soon())).toEqual(rollout);
      expect(await store.rollouts.readLive(soon())).toEqual(rollout);
      expect(await store.decisions.list({ subject: rollout.id }, 10, soon())).toEqual([entry(rollout, "CREATED")]);
      expect(await store.rollouts.read(aRollout().id, soon())).toBeUndefined();
    });

    it("are live one at a time, whoever asks at once, and asking again for the same is no second one", async () => {
      const { store } = world();
      const all = Array.from({ length: 5 }, () => aRollout());
      const outcomes = await Promise.all(all.map(create));
      const [live] = outcomes.flatMap((outcome) => outcome ?? []);
      expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(1);
      const winner = all[outcomes.indexOf(undefined)];
      if (winner === undefined) throw new Error("nobody won");
      expect(live?.id).toBe(winner.id);
      expect(await create(winner)).toBeUndefined();
      expect(await store.rollouts.list(10, soon())).toEqual([winner]);
      await store.rollouts.change({ rollout: { ...winner, state: "DONE" }, decision: undefined }, soon());
      expect(await store.rollouts.readLive(soon())).toBeUndefined();
      const later = aRollout({ createdAt: millis(AT + 1) });
      expect(await create(later)).toBeUndefined();
      expect((await store.rollouts.list(10, soon())).map(({ id }) => id)).toEqual([later.id, winner.id]);
      expect(await store.rollouts.list(1, soon())).toHaveLength(1);
    });

    it("change on the revision that was decided on, and not on an older one", async () => {
      const { store, notificationsOf } = world();
      const rollout = aRollout();
      await create(rollout);
      const decision = entry(rollout, "PAUSED");
      const paused: Rollout = { ...rollout, state: "PAUSED", note: "by ada" };
      const notifications = await notificationsOf(async () =>
        expect(await store.rollouts.change({ rollout: paused, decision }, soon())).toEqual({ ...paused, revision: 2 }),
      );
      expect(notifications).toEqual([`rollout:${rollout.id}`]);
      await expect(store.rollouts.change({ rollout: paused, decision }, soon())).rejects.toBeInstanceOf(StaleError);
      expect(await store.rollouts.read(rollout.id, soon())).toEqual({ ...paused, revision: 2 });
      expect(await store.decisions.list({ subject: rollout.id }, 10, soon())).toEqual([decision, entry(rollout, "CREATED")]);
    });

    it("freeze a version that failed, until a person thaws it", async () => {
      const { store } = world();
      const rollout = aRollout();
      await create(rollout);
      expect(await store.rollouts.listFrozen(soon())).toEqual([]);
      const failed: Rollout = { ...rollout, state: "ROLLING_BACK", ending: { as: "FAILED", reason: "it crashes" } };
      await store.rollouts.change({ rollout: failed, decision: undefined, freezes: "3.5.7" }, soon());
      const [frozen, ...more] = await store.rollouts.listFrozen(soon());
      expect(more).toEqual([]);
      expect(frozen).toMatchObject({ version: "3.5.7", rollout: rollout.id, reason: "it crashes", at: expect.any(Number) });
      const thawed = aDecision({ subject: "version/3.5.7", kind: "rollout", verdict: "UNFROZEN" });
      expect(await store.rollouts.unfreeze("3.5.7", thawed, soon())).toBe(true);
      expect(await store.rollouts.unfreeze("3.5.7", thawed, soon())).toBe(false);
      expect(await store.decisions.list({ subject: "version/3.5.7" }, 10, soon())).toEqual([thawed]);
    });

    it("hold up plans of the classes of their instances while they go on, and no others", async () => {
      const { store, addInstance } = world();
      const { id } = await addInstance();
      await addInstance({ class: "us/shared/public" });
      const rollout = aRollout({ instances: [aWaveInstance({ id })] });
      await create(rollout);
      const freezesOf = async (name: string) => (await store.plans.readFacts(name, millis(0), soon())).freezes;
      expect(await freezesOf(CLASS)).toMatchObject([{ name: `rollout ${rollout.id}`, reason: "3.5.7 is rolled out", at: AT }]);
      expect(await freezesOf("us/shared/public")).toEqual([]);
      await store.rollouts.change({ rollout: { ...rollout, state: "PAUSED" }, decision: undefined }, soon());
      expect(await freezesOf(CLASS)).toEqual([]);
    });
  });
}
