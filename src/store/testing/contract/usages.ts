import { describe, expect, it } from "vitest";
import { type Millis, millis } from "../../../domain/clock.ts";
import type { InstanceId, WorkspaceId } from "../../../domain/ids.ts";
import { NO_USAGE, type Usage, type UsageMark } from "../../../domain/usage.ts";
import type { UsageSample } from "../../usage/port.ts";
import { soon, type World } from "../world.ts";

const HOUR = 3_600_000;
/** On the hour. */
const TEN = millis(1_795_255_200_000);
const at = (ms: number): Millis => millis(TEN + ms);
const usage = (factor: number): Usage => ({ controllerCpuMs: factor, repoServerCpuMs: 10 * factor, memoryKibS: 100 * factor });

export function describeUsages(world: () => World): void {
  const markAt = (ms: number): UsageMark => ({
    until: at(ms),
    processes: { "controller-0": { of: "controller", startedAt: 1_795_254_258.31, cpuMs: ms, residentKib: 7, at: at(ms) } },
  });
  const share = (name: string, factor: number) => ({ workspaceId: `id-${name}` as WorkspaceId, namespace: name, usage: usage(factor) });
  const sample = (from: number | undefined, to: number, over: Partial<UsageSample> = {}): UsageSample => ({
    instanceId: "instance-1" as InstanceId,
    after: from === undefined ? undefined : at(from),
    ...{ mark: markAt(to), workspaces: [], base: NO_USAGE, unattributed: NO_USAGE },
    ...over,
  });
  const record = (one: UsageSample) => world().store.usages.record(one, soon());
  const list = (since = at(-1_000 * HOUR), until = at(1_000 * HOUR)) => world().store.usages.list({ since, until }, soon());

  describe("what instances took", () => {
    it("is summed up by hour, workspace and instance, with what belongs to no workspace", async () => {
      const { usages } = world().store;
      expect(await usages.readMark("instance-1" as InstanceId, soon())).toBeUndefined();
      expect(await record(sample(undefined, 0))).toBe(true);
      expect(await usages.readMark("instance-1" as InstanceId, soon())).toEqual(markAt(0));
      const all = { workspaces: [share("team-b", 1), share("team-a", 2)], base: usage(3), unattributed: usage(4) };
      expect(await record(sample(0, 1_000, all))).toBe(true);
      expect(await record(sample(1_000, 2_000, all))).toBe(true);
      const on = { instanceId: "instance-1", workspaceId: undefined, labels: {} };
      const sums = [
        { ...on, of: "base", namespace: "", usage: usage(6) },
        { ...on, of: "unattributed", namespace: "", usage: usage(8) },
        { ...on, of: "workspace", namespace: "team-a", workspaceId: "id-team-a", usage: usage(4) },
        { ...on, of: "workspace", namespace: "team-b", workspaceId: "id-team-b", usage: usage(2) },
      ];
      expect(await list()).toEqual(sums);
      expect(await list(at(0), at(HOUR))).toEqual(sums);
      expect(await list(at(HOUR))).toEqual([]);
      expect(await list(at(-HOUR), at(0))).toEqual([]);
    });

    it("counts to the hour in which its sample ends", async () => {
      await record(sample(undefined, HOUR - 1_000));
      await record(sample(HOUR - 1_000, HOUR - 1, { workspaces: [share("team", 1)] }));
      await record(sample(HOUR - 1, HOUR, { workspaces: [share("team", 5)] }));
      expect(await list(at(0), at(HOUR))).toMatchObject([{ usage: usage(1) }]);
      expect(await list(at(HOUR))).toMatchObject([{ usage: usage(5) }]);
    });

    it("is added once, however often a sample is sent, and whoever else sampled meanwhile", async () => {
      await record(sample(undefined, 0));
      const own = sample(0, 1_000, { workspaces: [share("team", 1)] });
      expect(await record(own)).toBe(true);
      expect(await record(own)).toBe(false);
      expect(await record(sample(0, 1_500, { workspaces: [share("team", 1)] }))).toBe(false);
      expect(await record(sample(undefined, 1_500, { workspaces: [share("team", 1)] }))).toBe(false);
      const both = [2_000, 2_001, 2_002].map((to) => record(sample(1_000, to, { workspaces: [share("team", 1)] })));
      expect((await Promise.all(both)).filter(Boolean)).toHaveLength(1);
      expect(await list()).toMatchObject([{ usage: usage(2) }]);
    });

    it("is that of two instances for a workspace that was moved, and of nobody's row where nothing was taken", async () => {
      const [from, to] = ["instance-1", "instance-2"] as InstanceId[];
      await record(sample(undefined, 0));
      await record(sample(undefined, 0, { instanceId: to! }));
      await record(sample(0, 1_000, { workspaces: [share("team", 2), share("idle", 0)] }));
      await record(sample(0, 1_000, { instanceId: to!, workspaces: [share("team", 0)] }));
      await record(sample(1_000, 2_000, { workspaces: [] }));
      await record(sample(1_000, 2_000, { instanceId: to!, workspaces: [share("team", 3)] }));
      expect(await list()).toMatchObject([
        { of: "workspace", namespace: "team", instanceId: from, usage: usage(2) },
        { of: "workspace", namespace: "team", instanceId: to, usage: usage(3) },
      ]);
    });

    it("comes with the labels that were recorded last, also of a workspace that has gone, until that is forgotten too", async () => {
      const { store, record: deploy } = world();
      const { retention, intents } = store;
      const labels = (workspaceId: WorkspaceId, team: string) => intents.recordLabels([{ workspaceId, labels: { team } }], soon());
      const known = async () => (await intents.listKnownWorkspaces("main", { limit: 1_000, after: "" }, soon())).map((one) => one.labels);
      await deploy();
      const [here] = await intents.listKnownWorkspaces("main", { limit: 1_000, after: "" }, soon());
      expect(await known()).toEqual([undefined]);
      const gone = "id-gone" as WorkspaceId;
      await labels(here!.workspaceId, "blue");
      await labels(here!.workspaceId, "red");
      await labels(gone, "green");
      expect(await known()).toEqual([{ team: "red" }]);
      await record(sample(undefined, 0));
      await record(
        sample(0, 1_000, { workspaces: [{ ...share("team", 1), workspaceId: here!.workspaceId }, share("gone", 1)], base: usage(1) }),
      );
      const found = async () => (await list()).map((one) => one.labels);
      expect(await found()).toEqual([{}, { team: "green" }, { team: "red" }]);
      await retention.forgetUsage(at(0), 10, soon());
      expect(await found()).toEqual([{}, { team: "green" }, { team: "red" }]);
      await labels(gone, "green");
      await retention.forgetUsage(at(0), 10, soon());
      const future = millis(4_000_000_000_000);
      expect(await retention.forgetUsage(future, 10, soon())).toBe(3);
      await record(sample(1_000, 2_000, { workspaces: [{ ...share("team", 1), workspaceId: here!.workspaceId }, share("gone", 1)] }));
      expect(await found()).toEqual([{}, { team: "red" }]);
    });

    it("holds a month of a large instance in whole numbers", async () => {
      const most: Usage = { controllerCpuMs: 4e9, repoServerCpuMs: 4e9, memoryKibS: 4e14 };
      await record(sample(undefined, 0));
      await record(sample(0, 1_000, { base: most }));
      await record(sample(1_000, 2_000, { base: most }));
      expect(await list()).toMatchObject([{ usage: { controllerCpuMs: 8e9, repoServerCpuMs: 8e9, memoryKibS: 8e14 } }]);
    });

    it("is forgotten by its hour, in steps, with marks that nobody has moved since", async () => {
      const { retention, usages } = world().store;
      await record(sample(undefined, 0));
      await record(sample(0, 1_000, { workspaces: [share("team-a", 1), share("team-b", 1)] }));
      await record(sample(1_000, 2 * HOUR, { workspaces: [share("team-a", 5)] }));
      await record(sample(undefined, 0, { instanceId: "instance-2" as InstanceId }));
      expect(await retention.forgetUsage(at(0), 10, soon())).toBe(0);
      expect(await retention.forgetUsage(at(1), 1, soon())).toBe(1);
      expect(await retention.forgetUsage(at(1), 10, soon())).toBe(1);
      expect(await list()).toMatchObject([{ usage: usage(5) }]);
      expect(await usages.readMark("instance-2" as InstanceId, soon())).toBeUndefined();
      expect(await usages.readMark("instance-1" as InstanceId, soon())).toEqual(markAt(2 * HOUR));
    });
  });
}
