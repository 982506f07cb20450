import { expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import { createAccess } from "./ask-access.ts";
import type { ObservedMove } from "./observe-move.ts";
import type { TrialAnswer } from "./proof.ts";

const FENCE_MS = 2_000;
const NAMESPACES = { accounts: "accounts" } as never;
const REFUSAL = (user: string): TrialAnswer => ({ status: 403, message: `secrets is forbidden: User "${user}" cannot create resource` });
const OBSERVED = {
  move: { id: "m", unitId: "u", from: "a", to: "b", phaseSince: millis(0) },
  placement: { workspace: { namespace: "team" } },
  world: { now: millis(100) },
  remoteClusters: [],
} as unknown as ObservedMove;
const signal = new AbortController().signal;

function create() {
  let monotonicMs = 0;
  const access = createAccess({
    managed: { ask: async (user) => [{ endpoint: "one", isAllowed: false, trial: REFUSAL(user) }] as never },
    ownerBindings: { ask: async () => [] },
    namespaces: NAMESPACES,
    fenceMs: FENCE_MS,
    clock: { now: () => millis(0), monotonicMs: () => monotonicMs, after: () => () => undefined },
  });
  const ask = async (whom: "source" | "target", ms: number) => {
    monotonicMs = ms;
    await access.ask(OBSERVED, whom, signal);
    return access.known(OBSERVED.move.id);
  };
  return { access, ask };
}

it("proves the refusal of the source by what it answers over the fence time", async () => {
  const { ask } = create();
  for (const ms of [0, 700, 1_400]) expect(await ask("source", ms)).toMatchObject({ isRefusalProven: false, answer: "refused" });
  expect(await ask("source", 2_100)).toMatchObject({ isRefusalProven: true });
});

it("asks a target that is refused at first as soon as one that was never asked", async () => {
  const { access, ask } = create();
  const soonest = access.askAgainMs(OBSERVED);
  expect(await ask("target", 0)).toMatchObject({ answer: "refused" });
  expect(access.askAgainMs(OBSERVED)).toBe(soonest);
});

it("counts nothing that was asked of the target as a refusal of the source", async () => {
  const { ask } = create();
  for (const ms of [0, 700, 2_100]) await ask("target", ms);
  expect(await ask("source", 2_200)).toMatchObject({ isRefusalProven: false });
});

it("asks nobody in a namespace that is gone whether the target may write there", async () => {
  const { access } = create();
  const gone = { ...OBSERVED, world: { ...OBSERVED.world, isNamespaceGone: true } };
  await access.ask(gone, "target", signal);
  expect(access.known(OBSERVED.move.id)).toMatchObject({ answer: "silent" });
  await access.ask(gone, "source", signal);
  expect(access.known(OBSERVED.move.id)).toMatchObject({ answer: "refused" });
});
