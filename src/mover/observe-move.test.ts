import { expect, it } from "vitest";
import type { UnitId } from "../domain/ids.ts";
import type { MovePhase } from "../domain/move.ts";
import { parseOwnerBinding } from "../shard/parse-observation.ts";
import { renderUnit } from "../shard/render-unit.ts";
import { anApplicationPlacement, DESTINATION, NAMESPACES, stored } from "../shard/testing/builders.ts";
import type { Store } from "../store/port.ts";
import { believedOwnerBinding, observeOwnNamespace } from "./observe-move.ts";
import { aMove, createModel, MOVE_EPOCH } from "./testing/model.ts";

const PLACEMENT = anApplicationPlacement();
const { workspace } = PLACEMENT;
const ownerBindingOf = (placement: typeof PLACEMENT) =>
  parseOwnerBinding(
    stored(
      renderUnit(placement, { destination: DESTINATION, namespaces: NAMESPACES, repoUrls: [], environmentRepoUrls: [], environments: [] })
        .ownerBinding,
    ),
  );
const OURS = ownerBindingOf(PLACEMENT);
const OTHERS = ownerBindingOf(anApplicationPlacement({ id: "unit-of-another" as UnitId }));
const HERE = { uid: workspace.namespaceUid, isDeleting: false };

it.each([
  ["its owner binding, without asking for the namespace", OURS, "never asked", { ownerBinding: OURS, isGone: false }],
  ["no owner binding in a namespace that stands", undefined, HERE, { ownerBinding: undefined, isGone: false }],
  [
    "an owner binding that says it is another unit's, in a namespace that is its own: whoever may write there may say so",
    OTHERS,
    HERE,
    { ownerBinding: OTHERS, isGone: false },
  ],
  [
    "no owner binding in a namespace that ends, where none can be made",
    undefined,
    { ...HERE, isDeleting: true },
    { ownerBinding: undefined, isGone: true },
  ],
  ["an owner binding in a namespace that ends", OTHERS, { ...HERE, isDeleting: true }, { ownerBinding: OTHERS, isGone: false }],
  ["no namespace", undefined, undefined, { ownerBinding: undefined, isGone: true }],
  [
    "the owner binding of whoever has a namespace of that name now",
    OTHERS,
    { uid: "another", isDeleting: false },
    { ownerBinding: undefined, isGone: true },
  ],
] as const)("a unit finds %s", async (_what, found, namespace, stays) => {
  const managed = {
    read: async () => found,
    readNamespace: async () => {
      if (namespace === "never asked") throw new Error("asked for the namespace");
      return namespace;
    },
  };
  const where = { unitId: PLACEMENT.unit.id, workspace, ownerBinding: { namespace: workspace.namespace, name: "owner-binding" } };
  expect(await observeOwnNamespace(where, managed, new AbortController().signal)).toEqual(stays);
});

/** What is believed of the binding as it stands with these subjects, under the move's epoch, by a worker that read the row in REVOKE. */
function believe(subjects: readonly string[], now: MovePhase, epoch = MOVE_EPOCH) {
  const move = aMove({ phase: "REVOKE" });
  const { ownerBinding, granted } = createModel([]).observe(move);
  if (ownerBinding === undefined) throw new Error("it stands");
  const store = { moves: { read: async () => ({ ...move, phase: now }) }, shards: {} } as unknown as Pick<Store, "moves" | "shards">;
  return believedOwnerBinding(store, { move, granted, seen: { ...ownerBinding, epoch, subjects } }, new AbortController().signal);
}

it("takes no right that was granted since the row was read", async () => {
  await expect(believe(["u-target"], "GRANT")).rejects.toMatchObject({ code: "mover.fenced" });
  await expect(believe(["u-target"], "DONE")).rejects.toMatchObject({ code: "mover.fenced" });
});

it("takes one that was given by hand while the move is where it was, and searches no further where nobody has one", async () => {
  expect(await believe(["u-somebody"], "REVOKE")).toMatchObject({ subjects: ["u-somebody"] });
  expect(await believe([], "COMMIT")).toMatchObject({ subjects: [] });
  expect(await believe(["u-source"], "COMMIT", MOVE_EPOCH - 1)).toMatchObject({ subjects: ["u-source"] });
});
