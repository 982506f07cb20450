import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Millis, millis } from "../../domain/clock.ts";
import type { Component, HealthCause, VerdictState } from "../../domain/health.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { type Instance, RAISABLE_AMOUNTS, type RaisableAmount } from "../../domain/instance.ts";
import { amountInForce, declaredAmount, maximumOf, sizeOf } from "../../domain/raised-resources.ts";
import { anInstance, aPool } from "../../store/testing/builders.ts";
import { planResources, RAISING, type ResourceFacts } from "./plan-resources.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NOW = millis(1_000 * HOUR_MS);
const ago = (ms: number): Millis => millis(NOW - ms);
const resources = {
  controller: { cpu: "2", memory: "4Gi" },
  repoServer: { cpu: "1", memory: "1Gi", replicas: 1 },
  redis: { cpu: "250m", memory: "256Mi" },
  max: { controller: { cpu: "4", memory: "8Gi" }, repoServer: { memory: "2Gi", disk: "40Gi" } },
};
const POOL = aPool("standard", { resources });

const instance = (name: string, over: Partial<Instance> = {}): Instance => anInstance({ id: name as InstanceId, name, ...over });
const A = instance("a");
type Judgement = readonly [state: VerdictState, cause: HealthCause, component?: Component];
const judged = (id: string, [state, cause, component]: Judgement, lastedMs = 0): ResourceFacts["verdicts"][number] => ({
  ...{ instanceId: id as InstanceId, state, cause, component, since: ago(lastedMs), at: NOW },
});
const facts = (over: Partial<ResourceFacts> = {}): ResourceFacts => ({
  ...{ pools: [POOL], instances: [A], verdicts: [], cpu: new Map(), attributed: new Set(), isFrozen: false, at: NOW },
  ...over,
});
const OUT_OF_MEMORY: Judgement = ["degraded", "memory", "controller"];
const shown = (over: Partial<ResourceFacts>) => {
  const { raise, limited } = planResources(facts(over));
  return [
    ...(raise === undefined ? [] : [`${raise.instance.name}: ${raise.amount} ${raise.from} → ${raise.to}`]),
    ...limited.map(({ instance: { name }, amount, given, why }) => `${name}: ${amount} ${given} ${why}`),
  ].join(", ");
};
const verdict = (judgement: Judgement, lastedMs = 0) => ({ verdicts: [judged("a", judgement, lastedMs)] });
const full = (milliCpu: number, at = NOW) => ({ cpu: new Map([[A.id, { milliCpu, at }]]) });

describe("what an instance has run out of", () => {
  it.each<readonly [string, Partial<ResourceFacts>, string]>([
    ["is nothing without a verdict", {}, ""],
    ["is nothing where it is well", verdict(["healthy", "none"]), ""],
    ["is memory of its controller, at once", verdict(OUT_OF_MEMORY), "a: controller.memory 4Gi → 6Gi"],
    ["also where that is killed again and again", verdict(["failed", "memory", "controller"]), "a: controller.memory 4Gi → 6Gi"],
    ["is nothing that can be given where redis ran out of it", verdict(["degraded", "memory", "redis"]), ""],
    [
      "is memory of repo-servers that nobody alone used",
      verdict(["failed", "memory", "repo-server"], 5 * MINUTE_MS),
      "a: repoServer.memory 1Gi → 1536Mi",
    ],
    [
      "is disk of repo-servers that nobody alone filled",
      verdict(["failed", "disk", "repo-server"], 5 * MINUTE_MS),
      "a: repoServer.disk 20Gi → 30Gi",
    ],
    ["is not known before health has searched for who did that", verdict(["failed", "disk", "repo-server"], 5 * MINUTE_MS - 1), ""],
    ["is not known of repo-servers after the first time", verdict(["degraded", "memory", "repo-server"], HOUR_MS), ""],
    [
      "is nothing where one workspace did that",
      { ...verdict(["failed", "disk", "repo-server"], HOUR_MS), attributed: new Set([A.id]) },
      "",
    ],
    [
      "is CPU where it is overloaded and takes all it may",
      { ...verdict(["overloaded", "queue"], 10 * MINUTE_MS), ...full(1_800) },
      "a: controller.cpu 2 → 3",
    ],
    ["also where syncs wait", { ...verdict(["overloaded", "syncs"], 10 * MINUTE_MS), ...full(2_000) }, "a: controller.cpu 2 → 3"],
    ["is not known while plans may still relieve it", { ...verdict(["overloaded", "queue"], 10 * MINUTE_MS - 1), ...full(2_000) }, ""],
    ["is no CPU where it takes less", { ...verdict(["overloaded", "queue"], HOUR_MS), ...full(1_799) }, ""],
    [
      "nor where that was not measured lately",
      { ...verdict(["overloaded", "queue"], HOUR_MS), ...full(2_000, ago(RAISING.measuredMs + 1)) },
      "",
    ],
    ["nor where it was never measured", verdict(["overloaded", "queue"], HOUR_MS), ""],
  ])("%s", (_what, over, expected) => expect(shown(over)).toBe(expected));

  it("does not show in a verdict that nobody renewed", () => {
    expect(shown({ verdicts: [{ ...judged("a", OUT_OF_MEMORY), at: ago(5 * MINUTE_MS + 1) }] })).toBe("");
  });

  it("is CPU by what its controller has, and not by what is declared", () => {
    const raised = { amounts: { "controller.cpu": "3" }, at: ago(RAISING.restMs) };
    const over = { instances: [{ ...A, raised }], ...verdict(["overloaded", "queue"], HOUR_MS) };
    expect(shown({ ...over, ...full(2_700, ago(RAISING.measuredMs)) })).toBe("a: controller.cpu 3 → 4");
    expect(shown({ ...over, ...full(2_699) })).toBe("");
    expect(RAISING.measuredMs).toBeLessThan(RAISING.restMs);
  });

  it("is given only where its pool names it", () => {
    const only = aPool("standard", { resources: { ...resources, max: { repoServer: { disk: "40Gi" } } } });
    expect(shown({ ...verdict(OUT_OF_MEMORY), pools: [only] })).toBe("");
    expect(shown({ ...verdict(OUT_OF_MEMORY), pools: [{ ...POOL, name: "other" }] })).toBe("");
  });
});

describe("an instance that has run out of memory", () => {
  const out = verdict(OUT_OF_MEMORY);
  const raisedTo = (memory: string, over: object = {}) => ({
    instances: [{ ...A, raised: { amounts: { "controller.memory": memory }, at: ago(RAISING.restMs), ...over } }],
  });

  it("is given half as much again, up to what its pool allows", () => {
    expect(shown({ ...out, ...raisedTo("5Gi") })).toBe("a: controller.memory 5Gi → 7680Mi");
    expect(shown({ ...out, ...raisedTo("6Gi") })).toBe("a: controller.memory 6Gi → 8Gi");
    expect(shown({ ...out, ...raisedTo("8Gi") })).toBe("a: controller.memory 8Gi MAXIMUM");
  });

  it("is not given more within half an hour", () => {
    expect(shown({ ...out, ...raisedTo("6Gi", { at: ago(RAISING.restMs - 1) }) })).toBe("");
  });

  it("is not given within a day what its pods did not get ready with", () => {
    const refused = (ms: number) => raisedTo("4Gi", { refused: { amount: "controller.memory", at: ago(ms) } });
    expect(shown({ ...out, ...refused(RAISING.refusedMs - 1) })).toBe("a: controller.memory 4Gi REFUSED");
    expect(shown({ ...out, ...refused(RAISING.refusedMs) })).toBe("a: controller.memory 4Gi → 6Gi");
    const other = raisedTo("4Gi", { refused: { amount: "repoServer.disk", at: ago(HOUR_MS) } });
    expect(shown({ ...out, ...other })).toBe("a: controller.memory 4Gi → 6Gi");
  });

  it("waits while anything is frozen, and says all the same what it cannot be given", () => {
    expect(shown({ ...out, isFrozen: true })).toBe("");
    expect(shown({ ...out, ...raisedTo("8Gi"), isFrozen: true })).toBe("a: controller.memory 8Gi MAXIMUM");
  });

  it("waits while another one of the class is being given more", () => {
    const other = instance("b", { raised: { amounts: { "controller.cpu": "3" }, at: ago(MINUTE_MS), before: {} } });
    expect(shown({ ...out, instances: [A, other] })).toBe("");
    const { before: _before, ...raised } = other.raised!;
    expect(shown({ ...out, instances: [A, { ...other, raised }] })).toBe("a: controller.memory 4Gi → 6Gi");
  });

  it.each<Partial<Instance>>([
    { state: "DRAINING" },
    { state: "FAILED" },
    { desiredVersion: "3.6.0" },
    { halt: "wanted" },
    { failsOver: true },
  ])("is left as it is while %j", (over) => expect(shown({ ...out, instances: [{ ...A, ...over }] })).toBe(""));

  it("is given it in a quarantine too", () => {
    expect(shown({ ...out, instances: [{ ...A, state: "CORDONED" }] })).toBe("a: controller.memory 4Gi → 6Gi");
  });

  it("comes after those that work less, and then after those that wait longer", () => {
    const instances = ["a", "b", "c"].map((name) => instance(name));
    const verdicts = [
      judged("a", OUT_OF_MEMORY, HOUR_MS),
      judged("b", ["failed", "memory", "controller"]),
      judged("c", OUT_OF_MEMORY, 2 * HOUR_MS),
    ];
    expect(shown({ instances, verdicts })).toBe("b: controller.memory 4Gi → 6Gi");
    expect(shown({ instances, verdicts: verdicts.filter(({ instanceId }) => instanceId !== "b") })).toBe("c: controller.memory 4Gi → 6Gi");
  });
});

const JUDGEMENTS: readonly Judgement[] = [
  OUT_OF_MEMORY,
  ["failed", "memory", "controller"],
  ["failed", "memory", "repo-server"],
  ["failed", "disk", "repo-server"],
  ["overloaded", "queue"],
  ["healthy", "none"],
];
const NAMES = ["a", "b", "c"] as const;
/** What shows of three instances in one cycle, whether the pods of a change get ready by then, and how long that takes. */
const cycle = fc.record({
  judgements: fc.tuple(...NAMES.map(() => fc.constantFrom(...JUDGEMENTS))),
  isSettled: fc.constantFrom("not yet", "ready", "taken back"),
  minutes: fc.integer({ min: 2, max: 40 }),
});
const quantity = fc.integer({ min: 1, max: 4_000 }).map((size) => `${size}Mi`);
const cores = fc.integer({ min: 1, max: 8_000 }).map((size) => `${size}m`);

/** As the provisioner does it. */
function settle(one: Instance, how: "not yet" | "ready" | "taken back", at: Millis): Instance {
  if (one.raised?.before === undefined || how === "not yet") return one;
  const { before, ...rest } = one.raised;
  if (how === "ready") return { ...one, raised: rest };
  const amount = RAISABLE_AMOUNTS.find((each) => rest.amounts[each] !== before[each]) as RaisableAmount;
  return { ...one, raised: { amounts: before, at, refused: { amount, at } } };
}

describe("however load and health flap", () => {
  it("resources rise step by step within their bounds, of one instance of a class at a time, and never fall by themselves", () => {
    const given = fc.record({ cpu: cores, memory: quantity, repoMemory: quantity, disk: quantity, more: fc.integer({ min: 10, max: 60 }) });
    fc.assert(
      fc.property(given, fc.array(cycle, { minLength: 1, maxLength: 40 }), (own, cycles) => {
        const more = (text: string, unit: string) => `${Math.ceil((Number.parseInt(text, 10) * own.more) / 10)}${unit}`;
        const pool = aPool("standard", {
          resources: {
            controller: { cpu: own.cpu, memory: own.memory },
            repoServer: { cpu: "1", memory: own.repoMemory, disk: own.disk, replicas: 1 },
            redis: resources.redis,
            max: {
              controller: { cpu: more(own.cpu, "m"), memory: more(own.memory, "Mi") },
              repoServer: { memory: more(own.repoMemory, "Mi"), disk: more(own.disk, "Mi") },
            },
          },
        });
        const sizes = (one: Instance) => RAISABLE_AMOUNTS.map((amount) => sizeOf(amountInForce(pool, one.raised?.amounts, amount)));
        let instances: readonly Instance[] = NAMES.map((name) => instance(name));
        let at = NOW;
        const changedAt = new Map<string, number>();
        for (const { judgements, isSettled, minutes } of cycles) {
          const before = instances;
          const { raise } = planResources({
            ...{ pools: [pool], instances, attributed: new Set(), isFrozen: false, at },
            verdicts: judgements.map((judgement, index) => ({
              ...judged(NAMES[index] ?? "", judgement, HOUR_MS),
              ...{ since: millis(at - HOUR_MS), at },
            })),
            cpu: new Map(instances.map(({ id }) => [id, { milliCpu: 1_000_000, at }])),
          });
          if (raise !== undefined) {
            expect(before.every(({ raised }) => raised?.before === undefined)).toBe(true);
            expect(at - (changedAt.get(raise.instance.id) ?? 0)).toBeGreaterThanOrEqual(RAISING.restMs);
            expect(sizeOf(raise.to)).toBeGreaterThan(sizeOf(raise.from));
            expect(sizeOf(raise.to)).toBeLessThanOrEqual(sizeOf(maximumOf(pool, raise.amount) ?? ""));
            const amounts = raise.instance.raised?.amounts ?? {};
            const raised = { amounts: { ...amounts, [raise.amount]: raise.to }, at, before: amounts };
            instances = instances.map((one) => (one.id === raise.instance.id ? { ...one, raised } : one));
            changedAt.set(raise.instance.id, at);
          }
          expect(instances.filter(({ raised }) => raised?.before !== undefined).length).toBeLessThanOrEqual(1);
          at = millis(at + minutes * MINUTE_MS);
          const settled = instances.map((one) => settle(one, isSettled, at));
          for (const [index, one] of settled.entries()) {
            const isTakenBack = isSettled === "taken back" && instances[index]?.raised?.before !== undefined;
            for (const [which, size] of sizes(one).entries()) {
              const amount = RAISABLE_AMOUNTS[which] as RaisableAmount;
              expect(size).toBeLessThanOrEqual(sizeOf(maximumOf(pool, amount) ?? ""));
              expect(size).toBeGreaterThanOrEqual(sizeOf(declaredAmount(pool, amount)));
              if (!isTakenBack) expect(size).toBeGreaterThanOrEqual(sizes(before[index] as Instance)[which] as number);
            }
          }
          instances = settled;
        }
      }),
    );
  });
});
