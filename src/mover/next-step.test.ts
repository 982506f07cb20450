import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { ApplicationId } from "../domain/ids.ts";
import { MOVE_PHASES, type Move, type MovePhase } from "../domain/move.ts";
import { PHASES } from "../domain/move-phases.ts";
import { anApplication, deleted } from "../shard/testing/builders.ts";
import { type MoveStep, type MoveWorld, nextMoveStep } from "./next-step.ts";
import type { Visited } from "./phases/remote-clusters.ts";
import type { Answer } from "./proof.ts";
import { aMove, createModel, EPOCH, holderOf, inPhase, MOVE_EPOCH, type Model, observationOf } from "./testing/model.ts";

const named = (name: string) => anApplication({ id: `id-${name}` as ApplicationId, argoName: name, name });
const WEB = named("web");
const API = named("api");

const ACTS = ["compare", "begin", "end", "fail", "hook"] as const;
const turn = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ kind: "worker" } as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("act" as const),
      side: fc.constantFrom("source" as const, "target" as const),
      name: fc.constantFrom("web", "api"),
      what: fc.constantFrom(...ACTS),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "second worker" } as const) },
);

/** What must hold after every write of a move, whatever Argo CD and other workers do meanwhile. */
function expectSound(model: Model, move: Move): void {
  const isCommitted = !PHASES[move.phase].isRevocable && move.phase !== "ABORT" && move.phase !== "ABORTED";
  const holder = holderOf(model);
  expect(["nobody", isCommitted ? "target" : "source"], "I8: the owner binding names its owner or nobody").toContain(holder);
  for (const raw of model.objects.target.values()) {
    const observation = observationOf(raw);
    if (!isCommitted) expect(observation.isAutomated, "a copy syncs by itself before its instance owns it").toBe(false);
    if (observation.isAutomated && !observation.isPaused) expect(holder, "it works before it has the right to").toBe("target");
    expect(observation.sync.operation !== undefined && observation.arrival !== undefined, "a copy begins nothing").toBe(false);
  }
}

/** Carries a step out with the eyes of the moment it was decided in. */
function carryOut(model: Model, move: Move, step: MoveStep, isDeletable = true): Move {
  switch (step.kind) {
    case "write":
      for (const each of step.writes) {
        if (each.write.kind === "delete" && each.side === "source" && isDeletable) {
          const object = model.objects.source.get(each.write.at.name);
          const isSame = object?.metadata["resourceVersion"] === each.write.preconditions.resourceVersion;
          if (isSame) expect(observationOf(object as never).finalizers, "I2: nothing is deleted that would cascade").toEqual([]);
        }
        model.carry(each);
        expectSound(model, move);
      }
      return move;
    case "advance":
      return inPhase(move, step.to, model.now, step.baseline === undefined ? {} : { baseline: step.baseline });
    case "commit":
      return inPhase(move, "GRANT", model.now);
    case "abort":
      return inPhase(move, "ABORT", model.now);
    case "clear":
      return inPhase(move, step.side === "source" ? "DONE" : "ABORTED", model.now);
    case "raise":
    case "visit":
    case "probe":
    case "wait":
    case "late":
      return move;
  }
}

const proven = (model: Model, move: Move) => (move.phase === "REVOKE" && holderOf(model) === "nobody" ? { isRefusalProven: true } : {});

describe("a move", () => {
  it("ends with everything on the target and nothing on the source, whatever both controllers and a late worker do (I1, I4, I5, I8)", () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 5, maxLength: 120 }), (turns) => {
        const model = createModel([WEB, API]);
        let move = aMove();
        let late: { readonly move: Move; readonly step: MoveStep } | undefined;
        const work = (): void => {
          move = carryOut(model, move, nextMoveStep(move, model.observe(move, proven(model, move))));
        };
        for (const each of turns) {
          model.now = millis(model.now + 400);
          if (each.kind === "act") model.act(each.side, each.name, each.what);
          else if (each.kind === "worker") work();
          else {
            // Another worker decides, sleeps, and carries out what it had decided: only its writes count, its phase is refused.
            if (late?.step.kind === "write") for (const write of late.step.writes) model.carry(write);
            expectSound(model, move);
            late = { move, step: nextMoveStep(move, model.observe(move, proven(model, move))) };
          }
        }
        for (let round = 0; round < 200 && PHASES[move.phase].isLive; round += 1) {
          model.now = millis(model.now + 1000);
          for (const side of ["source", "target"] as const)
            for (const name of ["web", "api"]) {
              model.act(side, name, "compare");
              model.act(side, name, "end");
            }
          work();
        }
        expect(move.phase).toBe("DONE");
        expect([...model.objects.source.keys()]).toEqual([]);
        const stand = ["api", "web"].map((name) => observationOf(model.objects.target.get(name) as never));
        expect(stand.map(({ at, isPaused, isAutomated, epoch, arrival }) => [at.name, isPaused, isAutomated, epoch, arrival])).toEqual([
          ["api", false, true, MOVE_EPOCH, undefined],
          ["web", false, true, MOVE_EPOCH, undefined],
        ]);
        expect(holderOf(model)).toBe("target");
      }),
      { numRuns: 40 },
    );
  });

  it("that fails over ends with everything on the target, its source untouched and refused, whatever both controllers do (I1, I2, I4, I8)", () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 5, maxLength: 80 }), (turns) => {
        const model = createModel([WEB, API]);
        let move = aMove({ isFailOver: true });
        const work = (): void => {
          const step = nextMoveStep(move, model.observe(move, proven(model, move)));
          expect(stepWrites(step).filter(({ side }) => side === "source")).toEqual([]);
          move = carryOut(model, move, step);
        };
        for (const each of turns) {
          model.now = millis(model.now + 400);
          if (each.kind === "act") model.act(each.side, each.name, each.what);
          else work();
        }
        for (let round = 0; round < 200 && PHASES[move.phase].isLive; round += 1) {
          model.now = millis(model.now + 1000);
          for (const name of ["web", "api"]) model.act("target", name, "compare");
          work();
        }
        expect(move.phase).toBe("DONE");
        expect(
          [...model.objects.source.values()].map((raw) => observationOf(raw)).map(({ isAutomated, epoch }) => [isAutomated, epoch]),
        ).toEqual([
          [true, EPOCH],
          [true, EPOCH],
        ]);
        const stand = ["api", "web"].map((name) => observationOf(model.objects.target.get(name) as never));
        expect(stand.map(({ isPaused, isAutomated, epoch }) => [isPaused, isAutomated, epoch])).toEqual([
          [false, true, MOVE_EPOCH],
          [false, true, MOVE_EPOCH],
        ]);
        expect(holderOf(model)).toBe("target");
      }),
      { numRuns: 30 },
    );
  });

  it("that fails over waits for the refusal however long it takes, and gives up where the source enters an environment freely", () => {
    const model = createModel([WEB]);
    const move = aMove({ isFailOver: true, phase: "REVOKE" });
    for (const write of stepWrites(nextMoveStep(move, model.observe(move)))) model.carry(write);
    expect(nextMoveStep(move, model.observe(move, { answer: "refused", now: millis(model.now + 60 * 60_000) }))).toMatchObject({
      kind: "probe",
    });
    expect(nextMoveStep(move, model.observe(move, { answer: "silent", now: millis(model.now + 60 * 60_000) }))).toMatchObject({
      kind: "abort",
      why: { code: "NO_REFUSAL" },
    });
    const before = aMove({ isFailOver: true });
    expect(nextMoveStep(before, model.observe(before, { enteredFreely: "prod" }))).toMatchObject({
      kind: "abort",
      why: { code: "SOFT_PROFILE" },
    });
  });

  it("knows a step for every phase, and none leads where the phase may not go", () => {
    for (const phase of MOVE_PHASES) {
      const model = createModel([WEB]);
      const step = nextMoveStep(aMove({ phase }), model.observe(aMove({ phase })));
      if (step.kind === "advance") expect(PHASES[phase].next).toContain(step.to);
      if (step.kind === "commit") expect(phase).toBe("COMMIT");
      if (step.kind === "abort") expect(PHASES[phase].isRevocable).toBe(true);
    }
  });

  it("leaves what a newer epoch wrote alone, in every phase that writes", () => {
    for (const phase of ["PREPARE", "FENCE", "QUIESCE", "REVOKE", "GRANT", "ACTIVATE", "CLEANUP", "ABORT"] as const) {
      const model = createModel([WEB]);
      const newer = (raw: { metadata: Record<string, unknown> }) => {
        raw.metadata["annotations"] = { ...(raw.metadata["annotations"] as object), "argosy.dev/epoch": String(MOVE_EPOCH + 1) };
      };
      const move = aMove({ phase });
      for (const write of stepWrites(nextMoveStep(aMove(), model.observe(aMove())))) model.carry(write);
      for (const raw of [...model.objects.source.values(), ...model.objects.target.values()]) newer(raw);
      if (model.ownerBinding !== undefined) newer(model.ownerBinding);
      expect(stepWrites(nextMoveStep(move, model.observe(move))), phase).toEqual([]);
    }
  });
});

function stepWrites(step: MoveStep) {
  return step.kind === "write" ? step.writes : [];
}

describe("preparing", () => {
  it("makes copies paused, without automation and finalizers, under the move's epoch, with the source's status", () => {
    const model = createModel([WEB]);
    const [first] = stepWrites(nextMoveStep(aMove(), model.observe(aMove())));
    expect(first?.side).toBe("target");
    model.carry(first as never);
    const copy = observationOf(model.objects.target.get("web") as never);
    expect(copy).toMatchObject({ isPaused: true, isAutomated: false, finalizers: [], epoch: MOVE_EPOCH, arrival: "created" });
    expect(copy.report?.status).toEqual(observationOf(model.objects.source.get("web") as never).report?.status);
  });

  it("strips a leftover that is ending, waits for its end, and never lets it loose", () => {
    const model = createModel([WEB]);
    model.carry(stepWrites(nextMoveStep(aMove(), model.observe(aMove())))[0] as never);
    const leftover = model.objects.target.get("web") as never as { metadata: Record<string, unknown> };
    leftover.metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    leftover.metadata["finalizers"] = ["resources-finalizer.argocd.argoproj.io"];
    const [write] = stepWrites(nextMoveStep(aMove(), model.observe(aMove())));
    expect(write?.write).toMatchObject({ kind: "change" });
    expect(JSON.stringify(write)).not.toContain("skip-reconcile");
    model.carry(write as never);
    expect(model.objects.target.size).toBe(0);
  });

  it("takes away what the unit left on the target when it was there before, also of deployments that are gone (I6)", () => {
    const model = createModel([WEB]);
    const left = structuredClone(model.objects.source.get("web")) as never as { metadata: Record<string, unknown> };
    Object.assign(left.metadata, { name: "gone", finalizers: ["resources-finalizer.argocd.argoproj.io"] });
    model.objects.target.set("gone", left as never);
    for (let round = 0; round < 2; round += 1)
      for (const write of stepWrites(nextMoveStep(aMove(), model.observe(aMove())))) model.carry(write);
    expect([...model.objects.target.keys()]).toEqual([]);
    for (const write of stepWrites(nextMoveStep(aMove(), model.observe(aMove())))) model.carry(write);
    expect([...model.objects.target.keys()]).toEqual(["web"]);
  });

  it("waits for a sync of what has passed to a part that stays, if it was begun before, and for no longer than two minutes", () => {
    const model = createModel([WEB]);
    const move = aMove({ phaseSince: millis(model.now + 60_000) });
    const passed = (state: object) => {
      const raw = structuredClone(model.objects.source.get("web")) as never as { status: Record<string, unknown> };
      raw.status["operationState"] = { operation: { sync: {} }, ...state };
      return [observationOf(raw as never)];
    };
    const at = (ms: number, over: Partial<MoveWorld>) =>
      nextMoveStep(move, model.observe(move, { now: millis(move.phaseSince + ms), ...over }));
    for (let round = 0; round < 10; round += 1) {
      for (const write of stepWrites(at(0, {}))) model.carry(write);
      model.act("target", "web", "compare");
    }
    const [before, since] = [-10_000, 10_000].map((ms) => new Date(move.phaseSince + ms).toISOString());
    const [begun, later] = [passed({ phase: "Running", startedAt: before }), passed({ phase: "Running", startedAt: since })];
    expect(at(0, { passed: begun })).toEqual({ kind: "wait", why: "for the sync of web to end, which another part has taken over" });
    expect(at(120_001, { passed: begun })).toMatchObject({ kind: "advance", to: "FENCE" });
    expect(at(0, { passed: later })).toMatchObject({ kind: "advance", to: "FENCE" });
    for (const state of [
      { phase: "Running", startedAt: before, finishedAt: before },
      { phase: "Succeeded", startedAt: before },
    ])
      expect(at(0, { passed: passed(state) })).toMatchObject({ kind: "advance", to: "FENCE" });
  });

  it("gives up where somebody else's finalizer stands, and where the target cannot compare for five minutes", () => {
    const model = createModel([WEB]);
    (model.objects.source.get("web") as never as { metadata: Record<string, unknown> }).metadata["finalizers"] = ["example.com/keep"];
    expect(nextMoveStep(aMove(), model.observe(aMove()))).toMatchObject({ kind: "abort", why: { code: "FOREIGN_FINALIZER" } });
    const waiting = createModel([WEB]).observe(aMove(), {
      prerequisiteWaits: ["for the project"],
      now: millis(aMove().phaseSince + 300_001),
    });
    expect(nextMoveStep(aMove(), waiting)).toMatchObject({ kind: "abort", why: { code: "TARGET_CANNOT_COMPARE" } });
  });
});

describe("quieting the source", () => {
  const fenced = () => {
    const model = createModel([WEB]);
    const move = aMove({ phase: "FENCE" });
    for (const write of stepWrites(nextMoveStep(move, model.observe(move)))) model.carry(write);
    return { model, move: inPhase(move, "QUIESCE", model.now) };
  };

  it("fences without pausing: automation and finalizers go, the epoch comes, and Argo CD is asked to refresh", () => {
    const { model } = fenced();
    const observation = observationOf(model.objects.source.get("web") as never);
    expect(observation).toMatchObject({ isPaused: false, isAutomated: false, finalizers: [], epoch: MOVE_EPOCH, awaitsRefresh: true });
  });

  it("does not pause before Argo CD has refreshed, nor while a sync is under way, and ends one that only waits for its next attempt", () => {
    const { model, move } = fenced();
    expect(nextMoveStep(move, model.observe(move))).toMatchObject({ kind: "wait" });
    model.act("source", "web", "compare");
    const web = model.objects.source.get("web") as never as Record<string, unknown>;
    web["operation"] = { sync: {} };
    web["status"] = { ...(web["status"] as object), operationState: { phase: "Running", operation: {} } };
    expect(nextMoveStep(move, model.observe(move))).toMatchObject({ kind: "wait" });
    expect(nextMoveStep(move, model.observe(move, { now: millis(model.now + 301_000) }))).toMatchObject({ kind: "write" });
    web["status"] = {
      ...(web["status"] as object),
      operationState: { phase: "Running", operation: {}, finishedAt: "2026-01-01T00:00:00Z" },
    };
    const [write] = stepWrites(nextMoveStep(move, model.observe(move)));
    expect(JSON.stringify(write)).toContain("Terminating");
    delete web["operation"];
    expect(nextMoveStep(move, model.observe(move)), "without an operation nothing is terminated").toMatchObject({ kind: "wait" });
  });

  it("lets loose again what was paused while a sync began, for a paused sync never ends", () => {
    const { model, move } = fenced();
    model.act("source", "web", "compare");
    for (const write of stepWrites(nextMoveStep(move, model.observe(move)))) model.carry(write);
    const web = model.objects.source.get("web") as never as Record<string, unknown>;
    expect(observationOf(web as never).isPaused).toBe(true);
    web["operation"] = { sync: {} };
    const [write] = stepWrites(nextMoveStep(move, model.observe(move)));
    expect(write?.write).toMatchObject({ kind: "change" });
    model.carry(write as never);
    expect(observationOf(model.objects.source.get("web") as never).isPaused).toBe(false);
  });
});

it("pauses what stands on a source that was stopped without waiting for a refresh, and lets nothing of it loose", () => {
  const model = createModel([WEB]);
  const fencing = aMove({ phase: "FENCE" });
  for (const write of stepWrites(nextMoveStep(fencing, model.observe(fencing)))) model.carry(write);
  const move = inPhase(fencing, "QUIESCE", model.now);
  const stopped = () => model.observe(move, { isSourceStopped: true });
  for (const write of stepWrites(nextMoveStep(move, stopped()))) model.carry(write);
  const web = model.objects.source.get("web") as never as Record<string, unknown>;
  expect(observationOf(web as never)).toMatchObject({ isPaused: true, isAutomated: false, epoch: MOVE_EPOCH });
  web["operation"] = { sync: {} };
  expect(stepWrites(nextMoveStep(move, stopped())).filter(({ side }) => side === "source")).toEqual([]);
});

describe("revoking and granting", () => {
  it("takes the right before it commits and gives it after, and asks until the refusal is proven", () => {
    const model = createModel([WEB]);
    const revoking = aMove({ phase: "REVOKE" });
    for (const write of stepWrites(nextMoveStep(revoking, model.observe(revoking)))) model.carry(write);
    expect(holderOf(model)).toBe("nobody");
    expect(nextMoveStep(revoking, model.observe(revoking))).toMatchObject({ kind: "probe", whom: "source" });
    expect(nextMoveStep(revoking, model.observe(revoking, { isRefusalProven: true }))).toMatchObject({ kind: "advance", to: "COMMIT" });
    const granting = aMove({ phase: "GRANT" });
    for (const write of stepWrites(nextMoveStep(granting, model.observe(granting)))) model.carry(write);
    expect(holderOf(model)).toBe("target");
  });

  it("makes an owner binding that is not there, so that nobody late can make it for the old owner", () => {
    const model = createModel([WEB]);
    model.ownerBinding = undefined;
    const move = aMove({ phase: "REVOKE" });
    for (const write of stepWrites(nextMoveStep(move, model.observe(move)))) model.carry(write);
    expect([holderOf(model), observationOf(model.ownerBinding as never).epoch]).toEqual(["nobody", MOVE_EPOCH]);
  });

  it.each(["REVOKE", "GRANT"] as const)(
    "does not wait in %s for an owner binding that somebody deletes and holds with a finalizer (I4)",
    (phase) => {
      const model = createModel([WEB]);
      const ownerBinding = model.ownerBinding as { metadata: Record<string, unknown> };
      ownerBinding.metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z";
      ownerBinding.metadata["finalizers"] = ["example.com/held"];
      const move = aMove({ phase });
      for (let round = 0; round < 2; round += 1)
        for (const write of stepWrites(nextMoveStep(move, model.observe(move)))) model.carry(write);
      expect(holderOf(model)).toBe(phase === "GRANT" ? "target" : "nobody");
    },
  );

  it("makes no owner binding in a namespace that is gone: it asks on whether the old owner is refused, and goes on from GRANT without one (I4)", () => {
    const model = createModel([WEB]);
    model.ownerBinding = undefined;
    const [revoking, granting] = [aMove({ phase: "REVOKE" }), aMove({ phase: "GRANT" })];
    const isNamespaceGone = true;
    expect(nextMoveStep(revoking, model.observe(revoking, { isNamespaceGone }))).toMatchObject({ kind: "probe", whom: "source" });
    expect(nextMoveStep(revoking, model.observe(revoking, { isNamespaceGone, isRefusalProven: true }))).toMatchObject({ to: "COMMIT" });
    expect(nextMoveStep(granting, model.observe(granting, { isNamespaceGone, answer: "silent" }))).toMatchObject({ to: "ACTIVATE" });
    const visits: readonly Visited[] = [{ environment: "far", outcome: { kind: "done" } }];
    expect(nextMoveStep(granting, model.observe(granting, { isNamespaceGone, answer: "silent", visits }))).toMatchObject({
      kind: "probe",
      whom: "target",
    });
  });

  it("removes an owner binding of another role instead of changing it, which only those who have its rights may do", () => {
    const model = createModel([WEB]);
    (model.ownerBinding as unknown as { roleRef: object }).roleRef = { kind: "ClusterRole", name: "view" };
    const move = aMove({ phase: "REVOKE" });
    expect(stepWrites(nextMoveStep(move, model.observe(move)))).toMatchObject([{ side: "ownerBinding", write: { kind: "delete" } }]);
    for (let round = 0; round < 2; round += 1) for (const write of stepWrites(nextMoveStep(move, model.observe(move)))) model.carry(write);
    expect([holderOf(model), observationOf(model.ownerBinding as never).epoch]).toEqual(["nobody", MOVE_EPOCH]);
  });

  it("gives up where the owner binding cannot be emptied for five minutes (I4)", () => {
    const model = createModel([WEB]);
    const move = aMove({ phase: "REVOKE" });
    const stepAt = (ms: number) => nextMoveStep(move, model.observe(move, { now: millis(move.phaseSince + ms) }));
    expect(stepAt(299_000)).toMatchObject({ kind: "write" });
    expect(stepAt(301_000)).toMatchObject({ kind: "abort", why: { code: "NO_REFUSAL" } });
  });

  it("never takes time for a refusal: it gives up where another binding lets the old owner write, or nobody answers", () => {
    const model = createModel([WEB]);
    const move = aMove({ phase: "REVOKE" });
    for (const write of stepWrites(nextMoveStep(move, model.observe(move)))) model.carry(write);
    const late = (ms: number) => ({ now: millis(move.phaseSince + ms) });
    expect(nextMoveStep(move, model.observe(move, { answer: "allowed", ...late(59_000) }))).toMatchObject({ kind: "probe" });
    expect(nextMoveStep(move, model.observe(move, { answer: "allowed", ...late(61_000) }))).toMatchObject({
      why: { code: "OWNER_BINDING_BYPASSED" },
    });
    expect(nextMoveStep(move, model.observe(move, { answer: "silent", ...late(301_000) }))).toMatchObject({ why: { code: "NO_REFUSAL" } });
    expect(nextMoveStep(move, model.observe(move, { answer: "refused", ...late(3_600_000) }))).toMatchObject({ kind: "probe" });
  });
});

describe("environments with owner bindings of the unit", () => {
  const DONE: Visited = { environment: "prod", outcome: { kind: "done" } };
  const AWAY: Visited = { environment: "stage", outcome: { kind: "away", why: "no answer" } };
  const FENCED: Visited = { environment: "prod", outcome: { kind: "fenced" } };
  const WAITING: Visited = { environment: "prod", outcome: { kind: "waiting" } };
  const decided = (phase: MovePhase, visits: readonly Visited[] | undefined, ms = 0, over: Partial<MoveWorld> = {}) => {
    const model = createModel([WEB]);
    const move = aMove({ phase });
    if (phase === "REVOKE" || phase === "GRANT")
      for (const write of stepWrites(nextMoveStep(move, model.observe(move)))) model.carry(write);
    const world = model.observe(move, { visits, now: millis(move.phaseSince + ms), ...over });
    return nextMoveStep(move, { ...world, onSource: phase === "CLEANUP" ? [] : world.onSource });
  };

  it.each(["PREPARE", "REVOKE", "GRANT", "CLEANUP", "ABORT"] as const)("are gone to in %s before anything follows from it", (phase) => {
    expect(decided(phase, undefined, 0, { isRefusalProven: true })).toEqual({ kind: "visit" });
    expect(decided(phase, [FENCED])).toEqual({ kind: "late" });
    expect(decided(phase, [WAITING])).toMatchObject({ kind: "wait", why: expect.stringContaining("environment prod") });
    expect(decided(phase, [DONE, AWAY], 5_000)).toEqual({ kind: "wait", why: "for environment stage: no answer" });
  });

  it("commits nothing while one of them is not revoked, however well the refusal is proven elsewhere (I1)", () => {
    expect(decided("REVOKE", [DONE, AWAY], 5_000, { isRefusalProven: true })).toMatchObject({ kind: "wait" });
    expect(decided("REVOKE", [DONE, DONE], 5_000, { isRefusalProven: true })).toMatchObject({ kind: "advance", to: "COMMIT" });
  });

  it("gives a move up before COMMIT where one cannot be reached, and names it", () => {
    for (const [phase, ms] of [
      ["PREPARE", 11_000],
      ["REVOKE", 61_000],
    ] as const) {
      const step = decided(phase, [DONE, AWAY], ms, { isRefusalProven: true });
      const text = expect.stringContaining("environment stage");
      expect(step).toMatchObject({ kind: "abort", why: { code: "ENVIRONMENT_UNREACHABLE", text } });
    }
  });

  it("goes forward after COMMIT without one that stays away", () => {
    expect(decided("GRANT", [DONE, AWAY], 61_000)).toMatchObject({ kind: "advance", to: "ACTIVATE" });
    expect(decided("CLEANUP", [DONE, AWAY], 11_000)).toMatchObject({ kind: "clear", side: "source" });
    expect(decided("ABORT", [DONE, AWAY], 11_000)).toMatchObject({ kind: "clear", side: "target" });
  });

  it("needs no refusal where nobody gets to of a source that was stopped, and all the others as ever", () => {
    const stopped = { isSourceStopped: true };
    expect(decided("PREPARE", [DONE, AWAY], 11_000, stopped)).toMatchObject({ kind: "write" });
    expect(decided("REVOKE", [DONE, AWAY], 61_000, stopped)).toMatchObject({ kind: "probe", whom: "source" });
    expect(decided("REVOKE", [DONE, AWAY], 0, { ...stopped, isRefusalProven: true })).toMatchObject({ kind: "advance", to: "COMMIT" });
    expect(decided("REVOKE", [FENCED], 0, { ...stopped, isRefusalProven: true })).toEqual({ kind: "late" });
    expect(decided("GRANT", [AWAY], 0, stopped)).toMatchObject({ kind: "advance", to: "ACTIVATE" });
    expect(decided("CLEANUP", [AWAY], 0, stopped)).toMatchObject({ kind: "clear" });
  });

  it("names the one where the old owner may still write, or where nobody says that it may not", () => {
    const at = (answer: Answer, ms: number) => decided("REVOKE", [DONE], ms, { answer, askedAt: "prod" });
    const text = expect.stringContaining("in environment prod");
    expect(at("allowed", 61_000)).toMatchObject({ why: { code: "OWNER_BINDING_BYPASSED", text } });
    expect(at("silent", 301_000)).toMatchObject({ why: { code: "NO_REFUSAL", text } });
    expect(at("silent", 1_000)).toMatchObject({ kind: "probe", why: "for the old owner to be refused in environment prod" });
  });

  it("does not wait for ever for the new owner to compare what it deploys to a cluster that is gone", () => {
    const elsewhere = anApplication({ argoName: "web", spec: { ...WEB.spec, destination: { environment: "prod", namespace: "web" } } });
    for (const [application, kind] of [
      [WEB, "wait"],
      [elsewhere, "advance"],
    ] as const) {
      const model = createModel([application]);
      for (const write of stepWrites(nextMoveStep(aMove(), model.observe(aMove())))) model.carry(write);
      const move = aMove({ phase: "ACTIVATE" });
      for (const write of stepWrites(nextMoveStep(move, model.observe(move)))) model.carry(write);
      expect(nextMoveStep(move, model.observe(move, { now: millis(move.phaseSince + 181_000) }))).toMatchObject({ kind });
    }
  });
});

describe("deletions and edits during a move", () => {
  it("leave a deleted application's copy as it is, for its owner to delete after the move (I6)", () => {
    const model = createModel([deleted(WEB, "cascade")]);
    for (const write of stepWrites(nextMoveStep(aMove(), model.observe(aMove())))) model.carry(write);
    const activating = aMove({ phase: "ACTIVATE" });
    expect(nextMoveStep(activating, model.observe(activating))).toMatchObject({ kind: "advance", to: "VERIFY" });
    expect(observationOf(model.objects.target.get("web") as never).isPaused).toBe(true);
  });

  it("activate what the row wants then, not what it wanted when the copy was made (I3, I6)", () => {
    const before = createModel([WEB]);
    for (const write of stepWrites(nextMoveStep(aMove(), before.observe(aMove())))) before.carry(write);
    const edited = { ...WEB, desiredRevision: 3, spec: { ...WEB.spec, source: { ...WEB.spec.source, path: "other" } } };
    const after = createModel([edited]);
    after.objects.target.set("web", before.objects.target.get("web") as never);
    const move = aMove({ phase: "ACTIVATE" });
    for (const write of stepWrites(nextMoveStep(move, after.observe(move)))) after.carry(write);
    expect(after.objects.target.get("web")?.["spec"]).toMatchObject({ source: { path: "other" }, syncPolicy: { automated: {} } });
  });
});

it("empties the side it leaves only of what is not newer than the move", () => {
  const model = createModel([WEB]);
  const move = aMove({ phase: "CLEANUP", fromEpoch: EPOCH });
  for (let round = 0; round < 3; round += 1) for (const write of stepWrites(nextMoveStep(move, model.observe(move)))) model.carry(write);
  expect(model.objects.source.size).toBe(0);
  expect(nextMoveStep(move, model.observe(move))).toEqual({ kind: "clear", side: "source" });
});

it.each([
  [false, 9_000, { kind: "wait", why: expect.stringContaining("former instance") }],
  [false, 11_000, { kind: "clear", side: "source" }],
  [true, 0, { kind: "clear", side: "source" }],
] as const)(
  "leaves a source that went after COMMIT to the sweep (fail-over: %s, %i ms): it takes ten seconds at most (I4)",
  (isFailOver, ms, step) => {
    const model = createModel([WEB]);
    const move = aMove({ phase: "CLEANUP", isFailOver });
    expect(nextMoveStep(move, model.observe(move, { onSource: [], isSourceAway: true, now: millis(move.phaseSince + ms) }))).toMatchObject(
      step,
    );
  },
);
