import { expect, it } from "vitest";
import { anApplication } from "../../shard/testing/builders.ts";
import { aMove, createModel, MOVE_EPOCH, NOW } from "../testing/model.ts";
import { activate, verify } from "./activate.ts";
import { arrive, baselineOf } from "./prepare.ts";
import { hand } from "./quiesce.ts";

const WEB = anApplication({ argoName: "web" });

function prepared() {
  const model = createModel([WEB]);
  const pair = () => model.observe(aMove()).pairs[0]!;
  const first = arrive(pair(), MOVE_EPOCH);
  if (first.kind === "write") model.carry(first);
  return { model, pair };
}

it("unpauses with a request to refresh, and is done only once Argo CD has refreshed since", () => {
  const { model, pair } = prepared();
  const verdict = activate(pair(), MOVE_EPOCH, NOW);
  expect(JSON.stringify(verdict)).toContain('"path":"/metadata/annotations/argocd.argoproj.io~1refresh","value":"normal"');
  if (verdict.kind === "write") model.carry(verdict);
  expect(activate(pair(), MOVE_EPOCH, NOW)).toMatchObject({ kind: "wait" });
  model.act("target", "web", "compare");
  expect(activate(pair(), MOVE_EPOCH, NOW)).toEqual({ kind: "done" });
});

it("takes the copied time of the last comparison for none", () => {
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
  ["an object that two Applications manage", { conditions: [{ type: "SharedResourceWarning", message: "both" }] }, "wait"],
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

it("puts what nobody could observe on the target idle, knowing nothing, and activates it as any other (a fail-over)", () => {
  const model = createModel([WEB]);
  const move = aMove({ isFailOver: true });
  const pair = () => model.observe(move).pairs[0]!;
  const made = arrive(pair(), MOVE_EPOCH);
  if (made.kind === "write") model.carry(made);
  expect(pair().target).toMatchObject({ isPaused: true, isAutomated: false, arrival: "created", status: {} });
  expect(baselineOf([pair()])).toEqual([{ name: "web", sync: "Synced", health: "Healthy", conditions: [] }]);
  expect(activate(pair(), MOVE_EPOCH, NOW)).toMatchObject({ kind: "write" });
});

it("makes anew what somebody took away: at work, but idle where its user deletes it and nobody knows whether it stands still", () => {
  const model = createModel([WEB]);
  const [seen, unseen] = [aMove(), aMove({ isFailOver: true })].map((move) => model.observe(move).pairs[0]!);
  const madeOf = (verdict: ReturnType<typeof activate>) => {
    if (verdict.kind !== "write" || verdict.write.kind !== "create") return verdict.kind;
    return verdict.write.manifest.metadata.annotations["argocd.argoproj.io/skip-reconcile"] === "true" ? "idle" : "at work";
  };
  const made = (pair: typeof seen, isLeaving: boolean) => madeOf(activate({ ...pair!, isLeaving }, MOVE_EPOCH, NOW));
  expect([made(seen, false), made(seen, true), made(unseen, false), made(unseen, true)]).toEqual(["at work", "at work", "at work", "idle"]);
  expect(madeOf(activate({ ...seen!, source: undefined, isLeaving: true }, MOVE_EPOCH, NOW))).toBe("done");
});

it("lets a copy forget what its instance had under way for a former one of its name, until it is let loose", () => {
  const { pair } = prepared();
  const reportedOf = (sync: object) => ({ ...pair(), target: { ...pair().target!, sync } }) as unknown as ReturnType<typeof pair>;
  const forgets = (reported: ReturnType<typeof pair>) =>
    [arrive(reported, MOVE_EPOCH), hand(reported, MOVE_EPOCH), activate(reported, MOVE_EPOCH, NOW)].map((step) => {
      const patch = step.kind === "write" && step.write.kind === "change" ? step.write.patch : [];
      return patch.filter(({ op, path }) => op === "remove" && /^.(operation|status)/.test(path)).map(({ path }) => path);
    });
  const both = ["/operation", "/status/operationState"];
  expect(forgets(reportedOf({ operation: {}, state: { phase: "Running" } }))).toEqual([both, both, both]);
  expect(forgets(reportedOf({ operation: undefined, state: { phase: "Failed" } }))).toEqual([[both[1]], [both[1]], [both[1]]]);
  expect(forgets(reportedOf({ operation: undefined, state: { phase: "Succeeded" } }))).toEqual([[], [], []]);
});
