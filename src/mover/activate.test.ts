import { expect, it } from "vitest";
import { anApplication } from "../shard/testing/builders.ts";
import { activate, verify } from "./activate.ts";
import { arrive, baselineOf } from "./prepare.ts";
import { aMove, createModel, MOVE_EPOCH, NOW } from "./testing/model.ts";

const WEB = anApplication({ argoName: "web" });

function prepared() {
  const model = createModel([WEB]);
  const pair = () => model.look(aMove()).pairs[0]!;
  const first = arrive(pair(), MOVE_EPOCH);
  if (first.kind === "write") model.carry(first);
  return { model, pair };
}

it("unpauses with a request to look, and is done only once Argo CD has looked since", () => {
  const { model, pair } = prepared();
  const verdict = activate(pair(), MOVE_EPOCH, NOW);
  expect(JSON.stringify(verdict)).toContain('"path":"/metadata/annotations/argocd.argoproj.io~1refresh","value":"normal"');
  if (verdict.kind === "write") model.carry(verdict);
  expect(activate(pair(), MOVE_EPOCH, NOW)).toMatchObject({ kind: "wait" });
  model.act("target", "web", "look");
  expect(activate(pair(), MOVE_EPOCH, NOW)).toEqual({ kind: "done" });
});

it("takes the copied time of the last look for no look", () => {
  const { model, pair } = prepared();
  const verdict = activate(pair(), MOVE_EPOCH, NOW);
  if (verdict.kind === "write") model.carry(verdict);
  const web = model.objects.target.get("web") as { metadata: { annotations?: Record<string, string> } };
  delete web.metadata.annotations?.["argocd.argoproj.io/refresh"];
  expect(activate(pair(), MOVE_EPOCH, NOW)).toMatchObject({ kind: "wait" });
});

it.each([
  ["a worse health", { health: { status: "Degraded" } }, "wait"],
  ["progress", { health: { status: "Progressing" } }, "done"],
  ["being out of step with Git, as after a push", { sync: { status: "OutOfSync" } }, "done"],
  ["not knowing", { sync: { status: "Unknown" } }, "wait"],
  ["an object that two look after", { conditions: [{ type: "SharedResourceWarning", message: "both" }] }, "wait"],
  ["a complaint that says little", { conditions: [{ type: "OrphanedResourceWarning", message: "one" }] }, "done"],
] as const)("judges %s after a move", (_what, over, kind) => {
  const { model, pair } = prepared();
  const baseline = baselineOf([pair()]);
  const web = model.objects.target.get("web") as { status?: object };
  web.status = { ...web.status, ...over };
  expect(verify(pair(), baseline).kind).toBe(kind);
});

it("does not hold against a move what was so before it", () => {
  const { model, pair } = prepared();
  const both = { health: { status: "Degraded" }, conditions: [{ type: "ComparisonError", message: "no such path" }] };
  for (const side of ["source", "target"] as const) {
    const web = model.objects[side].get("web") as { status?: object };
    web.status = { ...web.status, ...both };
  }
  expect(verify(pair(), baselineOf([pair()]))).toEqual({ kind: "done" });
});
