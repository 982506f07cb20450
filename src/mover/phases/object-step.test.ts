import { expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { ApplicationId } from "../../domain/ids.ts";
import { anApplication } from "../../shard/testing/builders.ts";
import { nextMoveStep } from "../next-step.ts";
import { aMove, createModel, inPhase, NOW, observationOf } from "../testing/model.ts";

const TWELVE = Array.from({ length: 12 }, (_, count) => `app-${count}`);
const names = TWELVE.map((name) => anApplication({ id: `id-${name}` as ApplicationId, argoName: name, name }));

/** A large unit that is moved, and what of it waits for its target to refresh. */
function large(phase: "PREPARE" | "ACTIVATE") {
  const model = createModel(names);
  const carry = (move: ReturnType<typeof aMove>, afterMs = 0) => {
    const step = nextMoveStep(move, model.observe(move, { now: millis(NOW + afterMs) }));
    for (const each of step.kind === "write" ? step.writes : []) model.carry(each);
    return step.kind;
  };
  const move = inPhase(aMove(), phase, NOW);
  carry(aMove());
  const asked = () => TWELVE.filter((name) => observationOf(model.objects.target.get(name) as never).awaitsRefresh);
  return { model, asked, step: (afterMs?: number) => carry(move, afterMs) };
}

it.each(["PREPARE", "ACTIVATE"] as const)("asks for refreshes of a few of a large unit's applications at a time (%s)", (phase) => {
  const { model, asked, step } = large(phase);
  expect(model.objects.target.size).toBe(12);
  let most = 0;
  for (let kind = step(); kind !== "advance"; kind = step()) {
    most = Math.max(most, asked().length);
    const [first] = asked();
    if (kind === "wait") model.act("target", first as string, "compare");
  }
  expect(most).toBe(5);
  expect(asked()).toEqual([]);
});

it.each(["PREPARE", "ACTIVATE"] as const)("lets those that are never refreshed hold the others up only for a moment (%s)", (phase) => {
  const { asked, step } = large(phase);
  step();
  expect(step()).toBe("wait");
  expect(asked()).toHaveLength(5);
  step(1_000);
  expect(asked()).toHaveLength(7);
  step(10_000);
  expect(asked()).toHaveLength(12);
});
