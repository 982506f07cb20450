import { describe, expect, it } from "vitest";
import { RefusedError, UnavailableError } from "../../domain/errors.ts";
import type { Condition } from "../../domain/user-resource.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { OF_NAMESPACE, OF_REWORDING, spend } from "./allowance.ts";
import { createUserEvents } from "./controller.ts";
import { notificationsOf } from "./notifications.ts";
import type { UserEvent } from "./port.ts";

const ready = (status: string, reason: string, message = ""): Condition => ({ type: "Ready", status, reason, message });
const stalled = (reason: string, message = ""): readonly Condition[] => [
  ready("False", reason, message),
  { type: "Stalled", status: "True", reason, message },
];
/** A sync that has failed and is tried again. */
const failing = (message: string): readonly Condition[] => [
  ready("False", "SyncFailed", message),
  { type: "Reconciling", status: "True", reason: "SyncFailed", message },
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
    ["a sync fails and is tried again", MOVING, failing("a"), { type: "Warning", reason: "SyncFailed", message: "a", isReworded: false }],
    ["it fails of something else", failing("a"), failing("b"), { type: "Warning", message: "b", isReworded: true }],
    ["it is mended", stalled("InvalidSpec", "a"), FINE, { type: "Normal", reason: "Synced", message: "fine" }],
    ["it is being mended", stalled("InvalidSpec", "a"), MOVING, { type: "Normal", reason: "Reconciling" }],
  ] as const)("that %s", (_what, before, after, notifications) => {
    expect(notificationsOf(before, after)).toMatchObject(notifications);
  });

  it.each([
    ["nothing changes", stalled("InvalidSpec", "a"), stalled("InvalidSpec", "a")],
    ["something goes on by itself", [], MOVING],
    ["all is well", MOVING, FINE],
  ] as const)("is not that %s", (_what, before, after) => {
    expect(notificationsOf(before, after)).toBeUndefined();
  });
});

it.each([OF_NAMESPACE, OF_REWORDING])("lets a namespace, or a resource, have so many at once, then one each so often (%o)", (rate) => {
  const { burst, eachMs } = rate;
  let allowance = spend(undefined, 0, rate);
  for (let count = 1; count < burst; count += 1) allowance = spend(allowance.after, 0, rate);
  expect(allowance.isAllowed).toBe(true);
  expect(spend(allowance.after, eachMs - 1, rate).isAllowed).toBe(false);
  const later = spend(allowance.after, eachMs, rate);
  expect([later.isAllowed, spend(later.after, eachMs, rate).isAllowed]).toEqual([true, false]);
  expect(spend(allowance.after, 1000 * eachMs, rate).after.left).toBe(burst - 1);
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
    for (let times = 0; times < 1000; times += 1) await say(stalled(times % 2 === 0 ? "InvalidSpec" : "SyncError", `message ${times}`));
    await say(stalled("InvalidSpec", "a"), { namespace: "bob", name: "shop", uid: "uid-2" });
    await clock.advance(1);
    expect(recorded.filter(({ about }) => about.namespace === "jane")).toHaveLength(OF_NAMESPACE.burst);
    expect(recorded.filter(({ about }) => about.namespace === "bob")).toHaveLength(1);
  });

  it("are few while a sync is tried again every few seconds for hours, each time with other words", async () => {
    const { clock, recorded, say } = open();
    const hours = 4;
    for (let attempt = 0; attempt < (hours * 3600) / 5; attempt += 1) {
      await say(failing(`attempt ${attempt} was refused`));
      await clock.advance(5000);
    }
    expect(recorded[0]).toMatchObject({ reason: "SyncFailed", message: "attempt 0 was refused" });
    expect(recorded.length).toBeLessThanOrEqual(1 + OF_REWORDING.burst + hours * 6);
    // Something else, and that it is mended, is told at once all the same.
    const before = recorded.length;
    await say(stalled("ComparisonError", "no such branch"));
    await say(FINE);
    await clock.advance(10);
    expect(recorded.slice(before).map(({ type, reason }) => [type, reason])).toEqual([
      ["Warning", "ComparisonError"],
      ["Normal", "Synced"],
    ]);
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
