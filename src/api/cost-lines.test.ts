import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { InstanceId, WorkspaceId } from "../domain/ids.ts";
import { addUsage, NO_USAGE, USERS, type Usage } from "../domain/usage.ts";
import { COST_BY, compareLines, coreHours, costLines, costOf, gibHours, type KnownUse } from "./cost-lines.ts";

const usage = (factor: number): Usage => ({ controllerCpuMs: factor, repoServerCpuMs: 10 * factor, memoryKibS: 100 * factor });
const use = (over: Partial<KnownUse> = {}): KnownUse => ({
  ...{ of: "workspace", namespace: "team-a", workspaceId: "w-a" as WorkspaceId, labels: { team: "red" }, usage: usage(1) },
  ...{ instanceId: "i-1" as InstanceId, instance: "standard-1", class: "eu/shared/public" },
  ...over,
});
const none = { namespace: "", workspaceId: undefined, labels: {} };
const USED = [
  use(),
  use({ instance: "standard-2", usage: usage(2) }),
  use({ namespace: "team-b", labels: {}, usage: usage(4) }),
  use({ ...none, of: "base", usage: usage(8) }),
  use({ ...none, of: "base", instance: "us-1", class: "us/shared/public", usage: usage(16) }),
  use({ ...none, of: "unattributed", usage: usage(32) }),
];
const lines = (...asked: [Parameters<typeof costLines>[1], string?]) =>
  costLines(USED, ...asked).map(({ name, of, usage: { controllerCpuMs } }) => [name, of, controllerCpuMs]);

describe("lines of what was taken", () => {
  it("are of workspaces wherever they lived, and of what is nobody's", () => {
    expect(lines("workspace")).toEqual([
      [undefined, "base", 24],
      [undefined, "unattributed", 32],
      ["team-a", "workspace", 3],
      ["team-b", "workspace", 4],
    ]);
  });

  it("are of classes and instances with what is their own", () => {
    expect(lines("class")).toEqual([
      ["eu/shared/public", "base", 8],
      ["eu/shared/public", "unattributed", 32],
      ["eu/shared/public", "workspace", 7],
      ["us/shared/public", "base", 16],
    ]);
    expect(lines("instance")).toEqual([
      ["standard-1", "base", 8],
      ["standard-1", "unattributed", 32],
      ["standard-1", "workspace", 5],
      ["standard-2", "workspace", 2],
      ["us-1", "base", 16],
    ]);
  });

  it("are of values of a label, and of workspaces without it", () => {
    expect(lines("label", "team")).toEqual([
      [undefined, "base", 24],
      [undefined, "unattributed", 32],
      [undefined, "workspace", 4],
      ["red", "workspace", 3],
    ]);
    expect(lines("label", "constructor")).toEqual([
      [undefined, "base", 24],
      [undefined, "unattributed", 32],
      [undefined, "workspace", 7],
    ]);
  });

  it("come to the same by whatever, in an order of their own", () => {
    const anyUse = fc.record({
      of: fc.constantFrom(...USERS),
      ...{ namespace: fc.constantFrom("a", "b", ""), instance: fc.constantFrom("i", "j"), class: fc.constantFrom("c", "d") },
      usage: fc.nat({ max: 1_000_000 }).map(usage),
    });
    const sum = (all: readonly { readonly usage: Usage }[]) => all.reduce((total, one) => addUsage(total, one.usage), NO_USAGE);
    fc.assert(
      fc.property(fc.array(anyUse.map(use)), fc.constantFrom(...COST_BY), (used, by) => {
        const found = costLines(used, by, "team");
        expect(sum(found)).toEqual(sum(used));
        for (const [index, line] of found.entries()) if (index > 0) expect(compareLines(found[index - 1]!, line)).toBeLessThan(0);
      }),
      { seed: 65 },
    );
  });

  it("are in hours of a core and of a GiB, and cost what these do", () => {
    const hour: Usage = { controllerCpuMs: 3_000_000, repoServerCpuMs: 600_000, memoryKibS: 2 * 2 ** 20 * 3_600 };
    expect([coreHours(hour), gibHours(hour)]).toEqual([1, 2]);
    expect(costOf(hour, { cpuCoreHour: 3, memoryGibHour: 0.5 })).toBe(4);
  });
});
