import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import { NO_DIRECTIVE, type Pin } from "../../domain/directive.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { LOAD_DIMENSIONS, loadVector } from "../../domain/load.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import { anInstance } from "../../store/testing/builders.ts";
import { type Quarantine, quarantined } from "./entries.ts";
import { type Noisiest, planQuarantine, type QuarantineFacts } from "./plan-quarantine.ts";

const NOW = millis(1_700_000_000_000);
const capacity = loadVector(() => 100);
const a = (name: string, over: Partial<Instance> = {}): Instance =>
  anInstance({ id: name as InstanceId, name, capacity, pool: name.replace(/-\d+$/, ""), ...over });
const SOURCE = a("standard-1");
const IDLE = a("standard-2");
const unit = { id: "u", workspaceId: "w", owner: SOURCE.id, load: loadVector(() => 60) } as unknown as PlacementUnit;
const NOISY: Noisiest = { unit, namespace: "noisy", isMeasured: true, directive: NO_DIRECTIVE, parts: 1 };
const said = { actor: "ada", reason: "", at: NOW };
const pin: Pin = { ...said, kind: "pool", pool: "standard" };
const HELD: Quarantine = {
  ...{ source: "standard-9" as InstanceId, sourceName: "standard-9", class: SOURCE.class, namespace: "loud" },
  ...{ workspaceId: NOISY.unit.workspaceId, unitId: NOISY.unit.id, target: "standard-8", pool: "standard", isNew: true, at: NOW },
};
const kept = (name: string): Instance => a(name, { state: "CORDONED", ...quarantined(HELD) });

const plan = (over: Partial<QuarantineFacts>) => {
  const planned = planQuarantine({
    ...{ now: NOW, most: 1, source: SOURCE, noisiest: NOISY, freeze: undefined, open: [], verdicts: new Map(), refusal: undefined },
    ...{ instances: [SOURCE, IDLE], units: new Map([[SOURCE.id, 5]]), next: { name: "standard-3" } },
    fits: (load, capacity) => LOAD_DIMENSIONS.every((dimension) => load[dimension] <= capacity[dimension]),
    ...over,
  });
  return planned.kind === "advice" ? planned.why : `${planned.quarantine.target}${planned.quarantine.isNew ? " is made" : ""}`;
};
const besides = (...others: readonly Instance[]): Partial<QuarantineFacts> => ({ instances: [SOURCE, ...others] });

describe("whether a workspace gets an instance of its own", () => {
  it.each<readonly [string, Partial<QuarantineFacts>, string]>([
    ["an instance without units is taken", {}, "standard-2"],
    ["of several, the newest of its pool", besides(IDLE, a("standard-10"), a("zeta-99")), "standard-10"],
    ["also of another pool of the class", besides(a("zeta-1")), "zeta-1"],
    ["never of another class", besides(a("standard-2", { class: "us/shared/public" })), "standard-3 is made"],
    ["nor one that is cordoned", besides(a("standard-2", { state: "CORDONED" })), "standard-3 is made"],
    ["nor one that is being changed", besides(a("standard-2", { desiredVersion: "3.5.8" })), "standard-3 is made"],
    ["nor one of another release", besides(a("standard-2", { version: "3.4.9", desiredVersion: "3.4.9" })), "standard-3 is made"],
    ["nor one that is stalled", { verdicts: new Map([[IDLE.id, "stalled" as const]]) }, "standard-3 is made"],
    ["nor one that a unit is being moved to", { units: new Map([SOURCE, IDLE].map(({ id }) => [id, 2])) }, "standard-3 is made"],
    ["nor one that is too small", besides(a("standard-2", { capacity: loadVector(() => 50) })), "standard-3 is made"],
    ["its pool may be full", { ...besides(), next: { why: "pool standard may have 1 instances" } }, "pool standard may have 1 instances"],
    [
      "its pool may have one in quarantine already",
      besides(kept("standard-4"), IDLE),
      "pool standard has 1 in quarantine already (health.quarantines)",
    ],
    ["a pool may be allowed several", { ...besides(kept("standard-4"), IDLE), most: 2 }, "standard-2"],
    [
      "no instance may be large enough",
      { ...besides(), source: { ...SOURCE, capacity: loadVector(() => 50) } },
      "noisy is larger than an instance of pool standard",
    ],
    ["it is not known which workspace takes most", { noisiest: undefined }, "it was not measured which workspace takes most"],
    ["it is only assumed, not measured", { noisiest: { ...NOISY, isMeasured: false } }, "it was not measured which workspace takes most"],
    ["the workspace is alone there", { units: new Map([[SOURCE.id, 1]]) }, "noisy has standard-1 for itself"],
    ["it is pinned", { noisiest: { ...NOISY, directive: { ...NO_DIRECTIVE, pin } } }, "noisy is pinned by ada"],
    [
      "it is held",
      { noisiest: { ...NOISY, directive: { ...NO_DIRECTIVE, hold: { ...said, until: millis(NOW + 1) } } } },
      "noisy is held until 2023-11-14T22:13:20Z",
    ],
    ["it was held", { noisiest: { ...NOISY, directive: { ...NO_DIRECTIVE, hold: { ...said, until: NOW } } } }, "standard-2"],
    ["there is a freeze", { freeze: "release: week" }, "a freeze holds: release: week"],
    ["it is split", { noisiest: { ...NOISY, parts: 3 } }, "noisy has 3 parts, which live apart"],
    ["it cannot be moved", { refusal: "its credential is the user's own" }, "its credential is the user's own"],
    ["another one of the class is in progress", { open: [HELD] }, "loud is just given one, and a class gets one at a time"],
    ["another class does not count", { open: [{ ...HELD, class: "us/shared/public" }] }, "standard-2"],
    ["who fills a repo-server gets one like who takes most", { filled: "disk" }, "standard-2"],
    [
      "and stays where a person wants it",
      { filled: "disk", noisiest: { ...NOISY, directive: { ...NO_DIRECTIVE, pin } } },
      "noisy is pinned by ada",
    ],
  ])("%s", (_what, over, expected) => expect(plan(over)).toBe(expected));
});
