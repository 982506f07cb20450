import { expect, it } from "vitest";
import type { MovePhase } from "../../domain/move.ts";
import type { Store } from "../../store/port.ts";
import { aMove, createModel, MOVE_EPOCH } from "../testing/model.ts";
import { createBelieved } from "./controller.ts";

const { signal } = new AbortController();

/** What is believed of the register as it stands with these subjects, under the move's epoch, by a worker that read the row in REVOKE. */
function believe(subjects: readonly string[], now: MovePhase, epoch = MOVE_EPOCH) {
  const move = aMove({ phase: "REVOKE" });
  const { register, granted } = createModel([]).look(move);
  if (register === undefined) throw new Error("it stands");
  const store = { moves: { read: async () => ({ ...move, phase: now }) }, shards: {} } as unknown as Pick<Store, "moves" | "shards">;
  return createBelieved(store)(move, granted, { ...register, epoch, subjects }, signal);
}

it("takes no right that was granted since the row was read", async () => {
  await expect(believe(["u-target"], "GRANT")).rejects.toMatchObject({ code: "mover.fenced" });
  await expect(believe(["u-target"], "DONE")).rejects.toMatchObject({ code: "mover.fenced" });
});

it("takes one that was given by hand while the move is where it was, and looks no further where nobody has one", async () => {
  expect(await believe(["u-somebody"], "REVOKE")).toMatchObject({ subjects: ["u-somebody"] });
  expect(await believe([], "COMMIT")).toMatchObject({ subjects: [] });
  expect(await believe(["u-source"], "COMMIT", MOVE_EPOCH - 1)).toMatchObject({ subjects: ["u-source"] });
});
