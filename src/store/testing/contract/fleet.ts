import { describe, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import { cordonedBy, isCordonedByHand } from "../../../domain/cordon.ts";
import { GoneError, RefusedError, StaleError } from "../../../domain/errors.ts";
import type { FleetSpec } from "../../../domain/fleet.ts";
import type { FleetProposal } from "../../../domain/fleet-approval.ts";
import type { InstanceId, ProposalId, RolloutId } from "../../../domain/ids.ts";
import type { Instance } from "../../../domain/instance.ts";
import { asLoadVector } from "../../../domain/load.ts";
import { AT, aDecision, aFleet, anInstance, aPool } from "../builders.ts";
import { soon, type World } from "../world.ts";

export function describeFleet(world: () => World): void {
  describe("the declared fleet", () => {
    it("is absent until it is declared, and then what was declared", async () => {
      const { store } = world();
      expect(await store.fleet.readFleet(soon())).toBeUndefined();
      expect(await store.fleet.applyFleet(aFleet(), "ada", soon())).toBe(1);
      expect(await store.fleet.readFleet(soon())).toEqual({ spec: aFleet(), revision: 1, pruned: [] });
    });

    it("is what an earlier program meant by what it left out", async () => {
      const { store } = world();
      const { deployments: _left, workspaces, ...rest } = aFleet();
      const { everyNamespace: _too, ...before } = workspaces;
      await store.fleet.applyFleet({ ...rest, workspaces: { ...before, selector: {} } } as unknown as FleetSpec, "ada", soon());
      expect((await store.fleet.readFleet(soon()))?.spec).toMatchObject({
        workspaces: { selector: {}, everyNamespace: true },
        deployments: { allowedGroups: ["*"] },
      });
      const labelled = { ...rest, workspaces: { ...before, selector: { a: "b" } }, deployments: { refusedGroups: ["c.example"] } };
      await store.fleet.applyFleet(labelled as unknown as FleetSpec, "ada", soon());
      const read = (await store.fleet.readFleet(soon()))?.spec;
      expect(read?.workspaces).not.toHaveProperty("everyNamespace");
      expect(read?.deployments).toEqual({ allowedGroups: ["*"], refusedGroups: ["c.example"] });
    });

    it("keeps its revision when nothing changed, and says so to nobody", async () => {
      const { store, notificationsOf } = world();
      await store.fleet.applyFleet(aFleet(), "ada", soon());
      expect(await notificationsOf(async () => expect(await store.fleet.applyFleet(aFleet(), "bob", soon())).toBe(1))).toEqual([]);
    });

    it("notifies itself and each pool that was added, changed or removed", async () => {
      const { store, notificationsOf } = world();
      await store.fleet.applyFleet(aFleet({ pools: [aPool("same"), aPool("changed"), aPool("removed")] }), "ada", soon());
      const next = aFleet({ pools: [aPool("added"), aPool("changed", { version: "3.6.0" }), aPool("same")] });
      expect(await notificationsOf(async () => expect(await store.fleet.applyFleet(next, "bob", soon())).toBe(2))).toEqual([
        "fleet:fleet",
        "pool:added",
        "pool:changed",
        "pool:removed",
      ]);
      const [entry] = await store.decisions.list({ kind: "fleet" }, 1, soon());
      expect(entry).toMatchObject({
        subject: "fleet",
        verdict: "DECLARED",
        details: { actor: "bob", revision: 2, pools: ["added", "changed", "removed"] },
      });
    });

    it("numbers every one of many declarations at once", async () => {
      const { store } = world();
      const revisions = await Promise.all(
        Array.from({ length: 8 }, (_, index) => store.fleet.applyFleet(aFleet({ pools: [aPool(`pool-${index}`)] }), "ada", soon())),
      );
      expect(revisions.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
      expect((await store.fleet.readFleet(soon()))?.revision).toBe(8);
    });
  });

  describe("releases", () => {
    const release = (version: string, image: string) => ({ version, image, redisImage: "redis:8", crds: "/crds" });
    const declaring = (...catalogue: readonly ReturnType<typeof release>[]) => aFleet({ versions: { ...aFleet().versions, catalogue } });

    it("keep the images that they were declared with first, also when the catalogue has left them out", async () => {
      const { store, notificationsOf } = world();
      await store.fleet.applyFleet(declaring(release("3.5.7", "a")), "ada", soon());
      await store.fleet.applyFleet(declaring(release("3.5.8", "c")), "ada", soon());
      const other = declaring(release("3.5.8", "c"), release("3.5.7", "b"));
      expect(
        await notificationsOf(async () => {
          await expect(store.fleet.applyFleet(other, "bob", soon())).rejects.toThrow(RefusedError);
        }),
      ).toEqual([]);
      expect(await store.fleet.applyFleet(declaring(release("3.5.7", "a")), "bob", soon())).toBe(3);
      expect((await store.fleet.listReleaseParts(soon())).map(({ version, part, content }) => [version, part, content])).toEqual([
        ["3.5.7", "image", "a"],
        ["3.5.7", "redisImage", "redis:8"],
        ["3.5.8", "image", "c"],
        ["3.5.8", "redisImage", "redis:8"],
      ]);
    });

    it("keep the definitions that they were used with first", async () => {
      const { fleet } = world().store;
      const part = { version: "3.5.7", part: "crds", content: "hash-1" } as const;
      expect(await fleet.keepReleasePart(part, soon())).toBe("hash-1");
      expect(await fleet.keepReleasePart({ ...part, content: "hash-2" }, soon())).toBe("hash-1");
      expect(await fleet.keepReleasePart({ ...part, version: "3.5.8", content: "hash-2" }, soon())).toBe("hash-2");
      expect(await fleet.listReleaseParts(soon())).toHaveLength(2);
    });
  });

  describe("a declaration made from one that was read", () => {
    it("is refused when another one is in force", async () => {
      const { fleet } = world().store;
      const change = (name: string, revision: number) => ({ spec: aFleet({ pools: [aPool(name)] }), actor: "ada", revision });
      expect(await fleet.changeFleet(change("a", 0), soon())).toBe(1);
      await expect(fleet.changeFleet(change("b", 0), soon())).rejects.toThrow(StaleError);
      expect(await fleet.changeFleet(change("b", 1), soon())).toBe(2);
      await expect(fleet.changeFleet(change("c", 1), soon())).rejects.toThrow(StaleError);
      expect((await fleet.readFleet(soon()))?.spec.pools).toEqual([aPool("b")]);
    });
  });

  describe("proposals", () => {
    /** Later than any clock that a store of these tests has. */
    const FAR = millis(8e12);
    let count = 0;
    const aProposal = (over: Partial<FleetProposal> = {}): FleetProposal => {
      count += 1;
      return {
        ...{ id: `proposal-${count}` as ProposalId, spec: aFleet(), prune: false, base: 0, changes: [], by: { actor: "ada" } },
        needs: [{ path: "egress.allow", before: "not set", after: "[]", reason: "because" }],
        ...{ createdAt: millis(AT + count), expiresAt: FAR, end: undefined },
        ...over,
      };
    };
    const close = (id: ProposalId, as: "APPROVED" | "REJECTED" | "WITHDRAWN") => ({ id, as, actor: "bob", reason: "as agreed" });

    it("are kept with their entry in the journal, newest first", async () => {
      const { proposals, decisions } = world().store;
      const [one, other] = [aProposal(), aProposal({ prune: true })];
      for (const each of [one, other]) expect(await proposals.propose(each, soon())).toEqual(each);
      expect(await proposals.list(10, soon())).toEqual([other, one]);
      expect(await proposals.list(1, soon())).toEqual([other]);
      expect(await proposals.read(one.id, soon())).toEqual(one);
      expect(await proposals.read("nobody" as ProposalId, soon())).toBeUndefined();
      const [, entry] = await decisions.list({ kind: "fleet" }, 2, soon());
      expect(entry).toMatchObject({ subject: "fleet", verdict: "PROPOSED", details: { actor: "ada", proposal: one.id } });
    });

    it("are made once, while they wait", async () => {
      const { proposals } = world().store;
      const one = await proposals.propose(aProposal(), soon());
      expect(await proposals.propose(aProposal({ by: { actor: "bob" } }), soon())).toEqual(one);
      await proposals.close(close(one.id, "REJECTED"), soon());
      const again = aProposal();
      expect(await proposals.propose(again, soon())).toEqual(again);
      const expired = await proposals.propose(aProposal({ prune: true, expiresAt: millis(1) }), soon());
      expect((await proposals.propose(aProposal({ prune: true }), soon())).id).not.toBe(expired.id);
    });

    it("are declared by being approved, once, by whoever approves", async () => {
      const { store, notificationsOf } = world();
      const { id } = await store.proposals.propose(aProposal(), soon());
      const heard = await notificationsOf(async () => {
        const closed = await store.proposals.close(close(id, "APPROVED"), soon());
        expect(closed.end).toMatchObject({ as: "APPROVED", actor: "bob", reason: "as agreed" });
        expect(await store.proposals.read(id, soon())).toEqual(closed);
      });
      expect(heard).toEqual(["fleet:fleet", "pool:standard"]);
      expect(await store.fleet.readFleet(soon())).toEqual({ spec: aFleet(), revision: 1, pruned: [] });
      const [approved, declared] = await store.decisions.list({ kind: "fleet" }, 2, soon());
      expect(approved).toMatchObject({ verdict: "APPROVED", details: { actor: "bob", proposedBy: "ada", reason: "as agreed" } });
      expect(declared).toMatchObject({ verdict: "DECLARED", details: { actor: "bob", proposedBy: "ada", proposal: id } });
      for (const as of ["APPROVED", "REJECTED"] as const)
        await expect(store.proposals.close(close(id, as), soon())).rejects.toThrow(StaleError);
      await expect(store.proposals.close(close("nobody" as ProposalId, "APPROVED"), soon())).rejects.toThrow(GoneError);
    });

    it("are neither made from nor declared over a declaration that is not in force any more", async () => {
      const { fleet, proposals } = world().store;
      const { id } = await proposals.propose(aProposal({ spec: aFleet({ pools: [] }) }), soon());
      await fleet.applyFleet(aFleet(), "carl", soon());
      await expect(proposals.close(close(id, "APPROVED"), soon())).rejects.toThrow(StaleError);
      await expect(proposals.propose(aProposal(), soon())).rejects.toThrow(StaleError);
      expect((await proposals.close(close(id, "WITHDRAWN"), soon())).end?.as).toBe("WITHDRAWN");
      expect((await fleet.readFleet(soon()))?.spec).toEqual(aFleet());
    });
  });

  describe("pools that are not declared", () => {
    it("are left alone until somebody prunes them, and no longer once they are declared again", async () => {
      const { store, addInstance, notificationsOf } = world();
      expect(await store.fleet.prunePools("ada", soon())).toEqual([]);
      await store.fleet.applyFleet(aFleet({ pools: [aPool("kept")] }), "ada", soon());
      for (const pool of ["old", "kept", "gone", "old"]) await addInstance({ pool });
      await addInstance({ pool: "over", state: "RETIRED" });
      expect((await store.fleet.readFleet(soon()))?.pruned).toEqual([]);
      expect(await notificationsOf(async () => expect(await store.fleet.prunePools("bob", soon())).toEqual(["gone", "old"]))).toEqual([
        "pool:gone",
        "pool:old",
      ]);
      expect(await store.fleet.readFleet(soon())).toMatchObject({ revision: 2, pruned: ["gone", "old"] });
      const [entry] = await store.decisions.list({ kind: "fleet" }, 1, soon());
      expect(entry).toMatchObject({ verdict: "PRUNED", details: { actor: "bob", revision: 2, pools: ["gone", "old"] } });
      expect(await notificationsOf(() => store.fleet.prunePools("bob", soon()))).toEqual([]);
      await store.fleet.applyFleet(aFleet({ pools: [aPool("kept"), aPool("old")] }), "ada", soon());
      expect(await store.fleet.readFleet(soon())).toMatchObject({ revision: 3, pruned: ["gone"] });
    });
  });

  describe("instances", () => {
    it("are added once by name, by id and by namespace", async () => {
      const { store, notificationsOf } = world();
      const instance = anInstance();
      const decision = aDecision({ subject: instance.id, kind: "instance" });
      expect(await notificationsOf(async () => expect(await store.fleet.insertInstance(instance, decision, soon())).toBe(true))).toEqual([
        `instance:${instance.id}`,
      ]);
      const { id, name, namespace } = instance;
      for (const over of [{}, { name }, { id }, { namespace }])
        expect(
          await store.fleet.insertInstance(anInstance(over), decision, soon()).then((isAdded) => isAdded && Object.keys(over).length > 0),
        ).toBe(false);
      expect(await store.decisions.list({ subject: id }, 10, soon())).toHaveLength(2);
      expect(await store.fleet.readInstance(id, soon())).toEqual(instance);
      expect(await store.fleet.readInstance("nobody" as InstanceId, soon())).toBeUndefined();
    });

    it("are listed by id", async () => {
      const { store, addInstance } = world();
      const [a, b] = [
        await addInstance(),
        await addInstance({
          state: "RETIRED",
          capacity: asLoadVector({ applications: 1, clusterEntries: 2, cachedResources: 3, milliCpu: 4, gitPerMinute: 5 }),
        }),
      ];
      expect(await store.fleet.listInstances(soon())).toEqual([a, b]);
    });

    it("change with a decision, a new revision and a notification", async () => {
      const { store, addInstance, notificationsOf } = world();
      const instance = await addInstance({ state: "CREATING", attempt: 2 });
      const decision = aDecision({ subject: instance.id, kind: "instance", verdict: "WARMING" });
      const change = {
        id: instance.id,
        revision: 1,
        state: "WARMING",
        reason: "ready",
        cause: { code: "PODS", trouble: 'argocd-repo-server: image é"x" cannot be pulled' },
        attempt: 0,
        version: "3.6.0",
        appliedHash: "abc",
        capacity: asLoadVector({ applications: 1, clusterEntries: 2, cachedResources: 3, milliCpu: 4, gitPerMinute: 5 }),
        weight: 7,
        halt: "wanted",
        failsOver: true,
        decision,
      } as const;
      expect(await notificationsOf(() => store.fleet.changeInstance(change, soon()))).toEqual([`instance:${instance.id}`]);
      const after = await store.fleet.readInstance(instance.id, soon());
      expect(after).toEqual({
        ...instance,
        state: "WARMING",
        reason: "ready",
        cause: change.cause,
        attempt: 0,
        version: "3.6.0",
        appliedHash: "abc",
        capacity: change.capacity,
        weight: 7,
        halt: "wanted",
        failsOver: true,
        revision: 2,
        stateSince: expect.any(Number),
      });
      expect(after?.stateSince).toBeGreaterThan(instance.stateSince);
      expect(await store.decisions.list({ subject: instance.id }, 1, soon())).toEqual([decision]);
    });

    it("keep what they were given beyond their pool, from their first day and with each change", async () => {
      const { store, addInstance, notificationsOf } = world();
      const first = { amounts: { "controller.memory": "6Gi" }, at: millis(AT), before: {} } as const;
      const given = await addInstance({ raised: first });
      const plain = await addInstance();
      const read = async (id: InstanceId) => (await store.fleet.readInstance(id, soon()))?.raised;
      expect([await read(given.id), await read(plain.id)]).toEqual([first, undefined]);
      const change = { state: "ACTIVE", reason: "", cause: undefined, attempt: 0, decision: undefined } as const;
      const refused = { amount: "repoServer.disk", at: millis(AT + 1) } as const;
      const next = { amounts: { "controller.memory": "8Gi", "repoServer.disk": "30Gi" }, at: millis(AT + 2), refused } as const;
      const asked = () => store.fleet.changeInstance({ ...change, id: plain.id, revision: 1, raised: next }, soon());
      expect(await notificationsOf(asked)).toEqual([`instance:${plain.id}`]);
      expect(await read(plain.id)).toEqual(next);
      expect((await store.fleet.changeInstance({ ...change, id: plain.id, revision: 2 }, soon())).raised).toEqual(next);
      const listed = new Map((await store.fleet.listInstances(soon())).map(({ id, raised }) => [id, raised]));
      expect([listed.get(given.id), listed.get(plain.id)]).toEqual([first, next]);
    });

    it("are given resources one after the other within a class, whoever gives them at the same moment", async () => {
      const { store, addInstance } = world();
      const own = await Promise.all(Array.from({ length: 8 }, () => addInstance({ class: "eu/raised/public" })));
      const raised = { amounts: { "controller.memory": "6Gi" }, at: millis(AT), before: {} } as const;
      const plain = { state: "ACTIVE", reason: "", cause: undefined, attempt: 0, decision: undefined } as const;
      const give = (id: InstanceId) =>
        store.fleet.changeInstance({ ...plain, id, revision: 1, raised, onlyIfNoneRaised: true }, soon()).then(
          () => "given",
          (error: { readonly code?: string }) => error.code,
        );
      const outcomes = await Promise.all(own.map(({ id }) => give(id)));
      expect(outcomes.filter((one) => one === "given")).toHaveLength(1);
      expect(outcomes.filter((one) => one === "store.instance-raised")).toHaveLength(own.length - 1);
      const elsewhere = await addInstance({ class: "us/raised/public" });
      expect(await give(elsewhere.id)).toBe("given");
      const rows = await Promise.all(own.map(({ id }) => store.fleet.readInstance(id, soon())));
      const [first, second] = rows.toSorted((a, b) => b!.revision - a!.revision);
      const { before: _before, ...settled } = raised;
      await store.fleet.changeInstance({ ...plain, id: first!.id, revision: 2, raised: settled }, soon());
      expect(await give(second!.id)).toBe("given");
      // Its own change does not keep it from the next one.
      const again = { ...plain, id: second!.id, revision: 2, raised, onlyIfNoneRaised: true } as const;
      expect((await store.fleet.changeInstance(again, soon())).revision).toBe(3);
    });

    it("keep what is decided by their reason, from their first day and with each change, and lose it with a reason that has none", async () => {
      const { store, addInstance } = world();
      const { id } = await addInstance({ state: "CORDONED", ...cordonedBy("otto", "odd disk") });
      const isByHand = async (): Promise<boolean> => isCordonedByHand((await store.fleet.readInstance(id, soon()))!);
      expect(await isByHand()).toBe(true);
      const change = { id, state: "CORDONED", attempt: 0, decision: undefined } as const;
      const cause = { code: "ROLLOUT", rollout: "r-1" as RolloutId } as const;
      expect(
        await store.fleet.changeInstance({ ...change, revision: 1, ...cordonedBy("rollout r-1", "emptied", cause) }, soon()),
      ).toMatchObject({ cause });
      expect(await isByHand()).toBe(true);
      await store.fleet.changeInstance({ ...change, revision: 2, reason: "cordoned by its pool: x", cause: undefined }, soon());
      expect(await isByHand()).toBe(false);
    });

    it("go on taking units where they are the last of their class that do, whoever else goes at the same moment", async () => {
      const { store, addInstance } = world();
      const leave = (id: InstanceId) =>
        store.fleet
          .changeInstance(
            { id, revision: 1, state: "DRAINING", reason: "", cause: undefined, attempt: 0, onlyIfNotLast: true, decision: undefined },
            soon(),
          )
          .then(
            () => "left",
            (error: { readonly code?: string }) => error.code,
          );
      for (let round = 0; round < 10; round += 1) {
        const className = `class-${round}`;
        const pair = [await addInstance({ class: className }), await addInstance({ class: className })];
        await addInstance({ class: className, state: "CORDONED" });
        await addInstance({ class: `other-${round}` });
        const outcomes = await Promise.all((round % 2 === 0 ? pair : pair.toReversed()).map(({ id }) => leave(id)));
        expect(new Set(outcomes)).toEqual(new Set(["left", "store.instance-last"]));
      }
      const alone = await addInstance({ class: "alone", state: "CORDONED" });
      expect(await leave(alone.id)).toBe("store.instance-last");
      await expect(leave("nobody" as InstanceId)).resolves.toBe("store.instance-gone");
    });

    it("are let go together with the fleet that asks for one fewer, or not at all", async () => {
      const { store, addInstance, record, unit, place } = world();
      const [empty, held] = [await addInstance(), await addInstance()];
      await place((await unit((await record()).applicationId)).id, held.id);
      const revision = await store.fleet.applyFleet(aFleet({ pools: [aPool("a")] }), "ada", soon());
      const leave = ({ id }: Instance) =>
        ({ id, revision: 1, state: "DRAINING", reason: "", cause: undefined, attempt: 0, decision: aDecision({ subject: id }) }) as const;
      const fewer = { spec: aFleet({ pools: [aPool("b")] }), actor: "bob", revision };
      const stands = async () => ({
        pool: (await store.fleet.readFleet(soon()))?.spec.pools[0]?.name,
        states: [await store.fleet.readInstance(empty.id, soon()), await store.fleet.readInstance(held.id, soon())].map(
          (one) => one?.state,
        ),
      });
      await expect(store.fleet.retireInstance(leave(held), fewer, soon())).rejects.toMatchObject({ code: "store.instance-held" });
      const older = { ...fewer, revision: revision - 1 };
      await expect(store.fleet.retireInstance(leave(empty), older, soon())).rejects.toMatchObject({ code: "store.fleet-stale" });
      expect(await stands()).toEqual({ pool: "a", states: ["ACTIVE", "ACTIVE"] });
      expect(await store.decisions.list({ subject: empty.id }, 10, soon())).toHaveLength(1);
      expect(await store.fleet.retireInstance(leave(empty), fewer, soon())).toMatchObject({ state: "DRAINING", revision: 2 });
      expect(await stands()).toEqual({ pool: "b", states: ["DRAINING", "ACTIVE"] });
    });

    it("keep how their objects were left, which changes nothing else and notifies nobody", async () => {
      const { store, addInstance, notificationsOf } = world();
      const [instance, other] = [await addInstance(), await addInstance()];
      expect(instance).not.toHaveProperty("leftHash");
      expect(await notificationsOf(() => store.fleet.noteLeft(instance.id, "abc", soon()))).toEqual([]);
      expect(await store.fleet.readInstance(instance.id, soon())).toEqual({ ...instance, leftHash: "abc" });
      await store.fleet.noteLeft(instance.id, "def", soon());
      await store.fleet.noteLeft("gone" as InstanceId, "abc", soon());
      const change = {
        id: instance.id,
        revision: 1,
        state: "ACTIVE",
        reason: "",
        cause: undefined,
        attempt: 0,
        decision: undefined,
      } as const;
      expect(await store.fleet.changeInstance(change, soon())).toMatchObject({ leftHash: "def", revision: 2 });
      expect(await store.fleet.readInstance(other.id, soon())).toEqual(other);
    });

    it("are let go without a fleet where their pool asks for none of them", async () => {
      const { store, addInstance } = world();
      const { id } = await addInstance();
      const change = { id, revision: 1, state: "DRAINING", reason: "", cause: undefined, attempt: 0, decision: undefined } as const;
      expect(await store.fleet.retireInstance(change, undefined, soon())).toMatchObject({ state: "DRAINING" });
      expect(await store.fleet.readFleet(soon())).toBeUndefined();
    });

    it("keep the time of their state, and what a change does not name, while the state stays", async () => {
      const { store, addInstance } = world();
      const instance = await addInstance({ appliedHash: "before" });
      const { id } = instance;
      const after = await store.fleet.changeInstance(
        { id, revision: 1, state: "ACTIVE", reason: "still", cause: undefined, attempt: 1, decision: undefined },
        soon(),
      );
      expect(after).toEqual({ ...instance, reason: "still", attempt: 1, revision: 2 });
      expect(await store.decisions.list({ subject: id }, 10, soon())).toHaveLength(1);
    });

    it("refuse a change that was decided on an older row", async () => {
      const { store, addInstance } = world();
      const { id } = await addInstance();
      const change = {
        id,
        revision: 1,
        state: "CORDONED",
        reason: "",
        cause: undefined,
        attempt: 0,
        decision: aDecision({ subject: id }),
      } as const;
      const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => store.fleet.changeInstance(change, soon())));
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const outcome of outcomes) if (outcome.status === "rejected") expect(outcome.reason).toBeInstanceOf(StaleError);
      await expect(store.fleet.changeInstance({ ...change, id: "nobody" as InstanceId }, soon())).rejects.toBeInstanceOf(GoneError);
    });
  });

  describe("the journal", () => {
    it("is read newest first, by subject and kind", async () => {
      const { store } = world();
      const entries = [0, 2, 1].map((offset) => aDecision({ at: millis(AT + offset), subject: "a", details: { offset, odd: "\u0000" } }));
      await store.decisions.append([...entries, aDecision({ subject: "b", kind: "instance" })], soon());
      await store.decisions.append([], soon());
      expect((await store.decisions.list({ subject: "a" }, 10, soon())).map((entry) => entry.details["offset"])).toEqual([2, 1, 0]);
      expect(await store.decisions.list({ subject: "a" }, 1, soon())).toEqual([entries[1]]);
      expect(await store.decisions.list({ kind: "instance" }, 10, soon())).toMatchObject([{ subject: "b" }]);
      expect(await store.decisions.list({ subject: "b", kind: "placement" }, 10, soon())).toEqual([]);
      expect(await store.decisions.list({}, 10, soon())).toHaveLength(4);
    });

    it("is read in today's shape, whichever version has written it", async () => {
      const { store } = world();
      await store.decisions.append(
        [aDecision({ subject: "old", details: { text: "its redis is stuck", plan: null as unknown as string } })],
        soon(),
      );
      expect((await store.decisions.list({ subject: "old" }, 1, soon()))[0]?.details).toEqual({ reason: "its redis is stuck" });
    });

    it("keeps the order of entries of one moment", async () => {
      const { store } = world();
      const verdicts = Array.from({ length: 20 }, (_, index) => String(index));
      for (const verdict of verdicts) await store.decisions.append([aDecision({ verdict })], soon());
      expect((await store.decisions.list({}, 50, soon())).map((entry) => entry.verdict)).toEqual(verdicts.toReversed());
    });
  });
}
