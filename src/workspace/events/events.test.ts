import { describe, expect, it } from "vitest";
import { RefusedError, UnavailableError } from "../../domain/errors.ts";
import type { Condition } from "../../domain/user-resource.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { BURST, EACH_MS, spend } from "./allowance.ts";
import { createUserEvents } from "./controller.ts";
import { newsOf } from "./news.ts";
import type { UserEvent } from "./port.ts";

const ready = (status: string, reason: string, message = ""): Condition => ({ type: "Ready", status, reason, message });
const stalled = (reason: string, message = ""): readonly Condition[] => [
  ready("False", reason, message),
  { type: "Stalled", status: "True", reason, message },
];
const FINE = [ready("True", "Synced", "fine")];
const MOVING = [ready("False", "Reconciling", "wait"), { type: "Reconciling", status: "True", reason: "Reconciling", message: "wait" }];

describe("what is worth an Event", () => {
  it.each([
    ["something is wrong", [], stalled("InvalidSpec", "a"), { type: "Warning", reason: "InvalidSpec", message: "a" }],
    ["it is wrong otherwise", stalled("InvalidSpec", "a"), stalled("InvalidSpec", "b"), { type: "Warning", message: "b" }],
    ["what is deployed is broken", FINE, [ready("False", "Degraded", "x")], { type: "Warning", reason: "Degraded" }],
    [
      "a mistake is waited for",
      MOVING,
      [...MOVING, { type: "ErrorOccurred", status: "True", reason: "ErrorOccurred", message: "wait" }],
      { type: "Warning", message: "wait" },
    ],
    ["it is mended", stalled("InvalidSpec", "a"), FINE, { type: "Normal", reason: "Synced", message: "fine" }],
    ["it is being mended", stalled("InvalidSpec", "a"), MOVING, { type: "Normal", reason: "Reconciling" }],
  ] as const)("that %s", (_what, before, after, news) => {
    expect(newsOf(before, after)).toMatchObject(news);
  });

  it.each([
    ["nothing changes", stalled("InvalidSpec", "a"), stalled("InvalidSpec", "a")],
    ["something goes on by itself", [], MOVING],
    ["all is well", MOVING, FINE],
  ] as const)("is not that %s", (_what, before, after) => {
    expect(newsOf(before, after)).toBeUndefined();
  });
});

it("lets a namespace have so many at once, then one each so often", () => {
  let allowance = spend(undefined, 0);
  for (let count = 1; count < BURST; count += 1) allowance = spend(allowance.after, 0);
  expect(allowance.isAllowed).toBe(true);
  expect(spend(allowance.after, EACH_MS - 1).isAllowed).toBe(false);
  const later = spend(allowance.after, EACH_MS);
  expect([later.isAllowed, spend(later.after, EACH_MS).isAllowed]).toEqual([true, false]);
  expect(spend(allowance.after, 1000 * EACH_MS).after.left).toBe(BURST - 1);
});

describe("events of a resource", () => {
  const AT = { namespace: "jane", name: "guestbook", uid: "uid-1" };
  const signal = new AbortController().signal;

  function open(failure: () => Error | undefined = () => undefined) {
    const clock = createVirtualClock();
    const recorded: UserEvent[] = [];
    const recorder = {
      async record(event: UserEvent): Promise<void> {
        const error = failure();
        if (error !== undefined) throw error;
        recorded.push(event);
      },
    };
    const events = createUserEvents({ recorder, clock, rng: createSeededRng("events"), log: silentLog, metrics: noMetrics });
    events.start();
    let seen: readonly Condition[] = [];
    const write = events.telling(
      "GitOpsDeployment",
      ({ namespace }) => ({ uid: namespace === "jane" ? "uid-1" : "", conditions: seen }),
      async () => {},
    );
    const say = async (conditions: readonly Condition[], at = AT): Promise<void> => {
      await write(at, { conditions }, signal);
      seen = conditions;
    };
    return { clock, recorded, say, events };
  }

  it("tell what is wrong, once, and that it is so no longer", async () => {
    const { clock, recorded, say } = open();
    for (const conditions of [MOVING, stalled("InvalidSpec", "a"), stalled("InvalidSpec", "a"), FINE, FINE]) await say(conditions);
    await clock.advance(1);
    expect(recorded.map(({ type, reason, message, count }) => [type, reason, message, count])).toEqual([
      ["Warning", "InvalidSpec", "a", 1],
      ["Normal", "Synced", "fine", 1],
    ]);
    expect(recorded[0]?.about).toEqual({ kind: "GitOpsDeployment", ...AT });
  });

  it("are the same Event once more when the same happens again", async () => {
    const { clock, recorded, say } = open();
    for (let times = 0; times < 3; times += 1) {
      for (const conditions of [stalled("InvalidSpec", "a"), FINE]) await say(conditions);
      await clock.advance(1000);
    }
    const warnings = recorded.filter(({ type }) => type === "Warning");
    expect(new Set(warnings.map(({ digest }) => digest)).size).toBe(1);
    expect(warnings.map(({ count }) => count)).toEqual([1, 2, 3]);
    expect(new Set(warnings.map(({ firstAt }) => firstAt)).size).toBe(1);
  });

  it("are bounded for each namespace, and no other pays for it", async () => {
    const { clock, recorded, say } = open();
    for (let times = 0; times < 1000; times += 1) await say(stalled("InvalidSpec", `message ${times}`));
    await say(stalled("InvalidSpec", "a"), { namespace: "bob", name: "shop", uid: "uid-2" });
    await clock.advance(1);
    expect(recorded.filter(({ about }) => about.namespace === "jane")).toHaveLength(BURST);
    expect(recorded.filter(({ about }) => about.namespace === "bob")).toHaveLength(1);
  });

  it("that cannot be written are tried again, and never hold up a status", async () => {
    let isAway = true;
    const { clock, recorded, say } = open(() =>
      isAway ? new UnavailableError("Writing an Event", { code: "kube.unavailable" }) : undefined,
    );
    await say(stalled("InvalidSpec", "a"));
    await clock.advance(5000);
    expect(recorded).toEqual([]);
    isAway = false;
    await clock.advance(60_000);
    expect(recorded).toHaveLength(1);
  });

  it("that are refused leave nothing behind, however many", async () => {
    let isRefused = true;
    const { clock, recorded, say } = open(() => (isRefused ? new RefusedError("Writing an Event", { code: "kube.refused" }) : undefined));
    for (let times = 0; times < 1100; times += 1) {
      await say(stalled("InvalidSpec", `message ${times}`), { namespace: `going-${times}`, name: "guestbook", uid: "uid-1" });
      if (times % 100 === 0) await clock.advance(10);
    }
    isRefused = false;
    await say(stalled("InvalidSpec", "a"));
    await clock.advance(10);
    expect(recorded.map(({ message }) => message)).toEqual(["a"]);
  });
});
