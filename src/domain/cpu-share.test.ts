import { describe, expect, it } from "vitest";
import { millis } from "./clock.ts";
import { exceededShares, type ShareFacts, shareText } from "./cpu-share.ts";
import type { InstanceId } from "./ids.ts";
import { loadVector } from "./load.ts";
import { NO_USAGE } from "./usage.ts";

const HOUR = 3_600_000;
const instance = (name: string, milliCpu: number, className = "eu/shared/public") => ({
  ...{
    id: `id-${name}` as InstanceId,
    name,
    class: className,
    capacity: loadVector((dimension) => (dimension === "milliCpu" ? milliCpu : 1)),
  },
});
const used = (namespace: string, name: string, controllerCpuMs: number, of: "workspace" | "base" = "workspace") => ({
  ...{ of, namespace, instanceId: `id-${name}` as InstanceId, usage: { ...NO_USAGE, controllerCpuMs, repoServerCpuMs: 1e12 } },
});
/** Half a core of each in the time. */
const HALF = 3 * HOUR;
const facts = (over: Partial<ShareFacts> = {}): ShareFacts => ({
  ...{ used: [], shares: [{ class: "eu/shared/public", share: 0.25 }], since: millis(0), until: millis(6 * HOUR) },
  instances: [instance("small", 1_000), instance("large", 4_000), instance("us", 1_000, "us/shared/public")],
  ...over,
});

describe("who takes more CPU than the class allows", () => {
  it("is whoever takes more of what the instance's controller bears, the largest excess first", () => {
    const all = [
      used("a", "small", HALF),
      used("b", "large", HALF),
      used("c", "large", 3 * HALF),
      used("d", "us", HALF),
      used("", "small", 9e9, "base"),
    ];
    expect(exceededShares(facts({ used: all }))).toEqual([
      { namespace: "a", instance: "small", class: "eu/shared/public", share: 0.5, limit: 0.25 },
      { namespace: "c", instance: "large", class: "eu/shared/public", share: 0.375, limit: 0.25 },
    ]);
  });

  it("is judged by what a namespace took on one instance in all, and not by what it may take exactly", () => {
    const quarter = HALF / 2;
    expect(exceededShares(facts({ used: [used("a", "small", quarter)] }))).toEqual([]);
    expect(exceededShares(facts({ used: [used("a", "small", quarter), used("a", "small", 1)] }))).toHaveLength(1);
    expect(exceededShares(facts({ used: [used("a", "small", quarter), used("a", "large", quarter)] }))).toEqual([]);
  });

  it("is nobody where nothing is declared, nothing is known of the instance, or no time has passed", () => {
    const all = [used("a", "small", 9e9)];
    for (const over of [{ shares: [] }, { instances: [] }, { instances: [instance("small", 0)] }, { until: millis(0) }])
      expect(exceededShares(facts({ used: all, ...over }))).toEqual([]);
  });

  it("is said in words", () => {
    expect(shareText({ namespace: "a", instance: "small", class: "", share: 0.5, limit: 0.25 })).toBe(
      "a takes 50 % of the CPU that small bears, where its class allows 25 %",
    );
  });
});
