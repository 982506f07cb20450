import { expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { View } from "../look/controller.ts";
import type { TrialAnswer } from "../proof.ts";
import { createProbe } from "./controller.ts";

const FENCE_MS = 2_000;
const NAMESPACES = { accounts: "accounts" } as never;
const REFUSAL = (user: string): TrialAnswer => ({ status: 403, message: `secrets is forbidden: User "${user}" cannot create resource` });
const VIEW = {
  move: { id: "m", unitId: "u", from: "a", to: "b", phaseSince: millis(0) },
  seat: { workspace: { namespace: "team" } },
  world: { now: millis(100) },
} as unknown as View;
const signal = new AbortController().signal;

function create() {
  let monotonicMs = 0;
  const probe = createProbe({
    managed: { ask: async (user) => [{ endpoint: "one", isAllowed: false, trial: REFUSAL(user) }] as never },
    outside: { ask: async () => [] },
    namespaces: NAMESPACES,
    fenceMs: FENCE_MS,
    clock: { now: () => millis(0), monotonicMs: () => monotonicMs, after: () => () => undefined },
  });
  const ask = async (whom: "source" | "target", ms: number) => {
    monotonicMs = ms;
    await probe.ask(VIEW, whom, signal);
    return probe.known(VIEW.move.id);
  };
  return { probe, ask };
}

it("proves the refusal of the source by what it answers over the fence time", async () => {
  const { ask } = create();
  for (const ms of [0, 700, 1_400]) expect(await ask("source", ms)).toMatchObject({ isRefusalProven: false, answer: "refused" });
  expect(await ask("source", 2_100)).toMatchObject({ isRefusalProven: true });
});

it("asks a target that is refused at first as soon as one that was never asked", async () => {
  const { probe, ask } = create();
  const soonest = probe.askAgainMs(VIEW);
  expect(await ask("target", 0)).toMatchObject({ answer: "refused" });
  expect(probe.askAgainMs(VIEW)).toBe(soonest);
});

it("counts nothing that was asked of the target as a refusal of the source", async () => {
  const { ask } = create();
  for (const ms of [0, 700, 2_100]) await ask("target", ms);
  expect(await ask("source", 2_200)).toMatchObject({ isRefusalProven: false });
});

it("asks nobody in a namespace that is gone whether the target may write there", async () => {
  const { probe } = create();
  const gone = { ...VIEW, world: { ...VIEW.world, isHomeGone: true } };
  await probe.ask(gone, "target", signal);
  expect(probe.known(VIEW.move.id)).toMatchObject({ answer: "silent" });
  await probe.ask(gone, "source", signal);
  expect(probe.known(VIEW.move.id)).toMatchObject({ answer: "refused" });
});
