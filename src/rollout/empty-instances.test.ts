import { expect, it } from "vitest";
import { type Millis, millis } from "../domain/clock.ts";
import { cordonedBy } from "../domain/cordon.ts";
import type { Rollout } from "../domain/rollout.ts";
import { AT, anInstance, aRollout, aWaveInstance } from "../store/testing/builders.ts";
import { createEmptyInstances } from "./empty-instances.ts";
import { actorOf } from "./waves.ts";

const signal = new AbortController().signal;

it("requests moves for what an instance holds again and again, and withdraws waiting ones once it need not be emptied any more", async () => {
  const said: string[] = [];
  const empty = createEmptyInstances({
    carryOn: async ({ name }, release, actor) => void said.push(`${name} to ${release} by ${actor}`),
    giveUp: async ({ id }) => void said.push(`${id} keeps the rest`),
  });
  const rollout = aRollout({ mode: "drain" });
  const held = anInstance({
    name: "one",
    state: "CORDONED",
    ...cordonedBy(actorOf(rollout), "emptied", { code: "ROLLOUT", rollout: rollout.id }),
  });
  const observe = (over: Partial<Rollout>, now: Millis, emptying = true) => {
    const one = aWaveInstance({ id: held.id, ...(emptying ? { emptyingSince: AT } : {}) });
    const waves = [{ name: "canary", instances: [one], bakeMs: 0, isExtended: false, isApproved: false }];
    return empty({ rollout: { ...rollout, waves, ...over }, rows: new Map([[held.id, held]]), freeze, now }, signal);
  };
  let freeze: string | undefined;
  const asked = `one to 3.5.7 by ${actorOf(rollout)}`;
  await observe({}, AT);
  await observe({}, millis(AT + 29_999));
  expect(said).toEqual([asked]);
  await observe({}, millis(AT + 30_000));
  await observe({ state: "PAUSED" }, millis(AT + 60_000));
  expect(said.splice(2)).toEqual([`${held.id} keeps the rest`]);
  freeze = "the launch";
  await observe({}, millis(AT + 90_000));
  expect(said.splice(2)).toEqual([`${held.id} keeps the rest`]);
  await observe({ isEmergency: true }, millis(AT + 120_000));
  expect(said.splice(2)).toEqual([asked]);
  freeze = undefined;
  await observe({ ending: { as: "FAILED", reason: "it crashes" } }, millis(AT + 180_000));
  expect(said).toEqual([asked, asked, `${held.id} keeps the rest`]);
  const others = { ...held, ...cordonedBy("ada", "odd disk") };
  await empty({ rollout, rows: new Map([[others.id, others]]), freeze, now: AT }, signal);
  expect(said).toHaveLength(3);
});
