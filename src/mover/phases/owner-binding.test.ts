import { expect, it } from "vitest";
import { nextMoveStep } from "../next-step.ts";
import { aMove, createModel, type Model } from "../testing/model.ts";
import { tamperingOf } from "./owner-binding.ts";

type Meta = Record<string, unknown>;
const meta = (model: Model): Meta => (model.ownerBinding as { metadata: Meta }).metadata;

it.each<[string, (model: Model) => unknown, string | undefined]>([
  ["as the reconciler left it", () => undefined, undefined],
  ["that is away", (model) => Object.assign(model, { ownerBinding: undefined }), "deleted"],
  ["that ends", (model) => Object.assign(meta(model), { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x/y"] }), "deleted"],
  ["without an epoch", (model) => Object.assign(meta(model), { annotations: {} }), "edited"],
])("finds in an owner binding %s: %s", (_what, tamper, found) => {
  const model = createModel([]);
  tamper(model);
  const move = aMove({ phase: "REVOKE" });
  const world = model.observe(move);
  const step = nextMoveStep(move, world);
  if (step.kind !== "write") throw new Error("an owner binding that names the old owner is written");
  expect(step.writes.map(({ write }) => tamperingOf(world.ownerBinding, write)?.what)).toEqual([found]);
});

it("finds another one in its place where that has to go", () => {
  const model = createModel([]);
  (model.ownerBinding as unknown as { roleRef: object }).roleRef = { kind: "ClusterRole", name: "view" };
  const move = aMove({ phase: "GRANT" });
  const world = model.observe(move);
  const step = nextMoveStep(move, world);
  expect(step).toMatchObject({ kind: "write", writes: [{ side: "ownerBinding", write: { kind: "delete" } }] });
  if (step.kind === "write") expect(step.writes.map(({ write }) => tamperingOf(world.ownerBinding, write)?.what)).toEqual(["replaced"]);
});
