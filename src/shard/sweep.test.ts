import { describe, expect, test } from "vitest";
import { millis } from "../domain/clock.ts";
import type { ApplicationId, InstanceId } from "../domain/ids.ts";
import { type Ended, judgeOrphans, planOrphanEnd, type RowsOfOrphans, type UnitOwner, whyRevisit } from "./orphans.ts";
import { differsInContent, differsInReport, differsInRequest, type ObservedApplication, parseApplication } from "./parse-application.ts";
import { CASCADE_FINALIZER, planDeparture } from "./plan-application.ts";
import { letGoOfStatus } from "./project-status.ts";
import { waitForOthersMs, whatToRecord } from "./record-status.ts";
import { renderApplication } from "./render-application.ts";
import { anApplication, anApplicationPlacement, type Stored, setField, setMeta, stored, TARGET } from "./testing/builders.ts";

function anObserved(id = "application-1", change: (raw: Stored) => void = () => undefined): ObservedApplication {
  const raw = stored(
    renderApplication(anApplicationPlacement(), anApplication({ id: id as ApplicationId, argoName: `name-${id}` }), TARGET),
    `uid-${id}`,
  );
  change(raw);
  const observed = parseApplication(raw);
  if (observed === undefined) throw new Error("unreadable");
  return observed;
}
const ids = (...names: readonly string[]): ReadonlySet<ApplicationId> => new Set(names as ApplicationId[]);
const HERE = { instance: "instance-1" as InstanceId };
const ELSEWHERE = "instance-2" as InstanceId;
const uids = (...observed: readonly ObservedApplication[]): ReadonlySet<string> => new Set(observed.map((one) => one.uid));

describe("Applications that stand where they do not belong", () => {
  const one = anObserved("application-1");
  const two = anObserved("application-2");

  test("are reported at the first sweep and may go at the second, when their rows are gone", () => {
    const rows = { ...HERE, belonging: ids("application-1"), existing: new Map(), ended: new Map() };
    expect(judgeOrphans([one, two], rows, new Set())).toEqual([
      { observed: two, reason: "no-row", deletion: "orphan", isRemovable: false },
    ]);
    expect(judgeOrphans([two, one], rows, uids(two))).toEqual([{ observed: two, reason: "no-row", deletion: "orphan", isRemovable: true }]);
    expect(judgeOrphans([two], rows, new Set(["another-uid"]))[0]?.isRemovable).toBe(false);
  });

  test("stay while their row exists, for their owner is another instance, unless its unit rests there under no older epoch", () => {
    const judged = (over: Omit<UnitOwner, "owner"> & Partial<UnitOwner>, seen = uids(two), unitOwner = { owner: ELSEWHERE, ...over }) =>
      judgeOrphans(
        [two],
        { ...HERE, belonging: ids(), existing: new Map([["application-2" as ApplicationId, unitOwner]]), ended: new Map() },
        seen,
      );
    const stays = [{ observed: two, reason: "owned-elsewhere", deletion: "orphan", isRemovable: false }];
    expect(judged({ epoch: 6, phase: "IDLE" })).toEqual(stays);
    expect(judged({ epoch: 7, phase: "MOVING" })).toEqual(stays);
    expect(judged({ epoch: 8, phase: "MOVING" })).toEqual(stays);
    // It came to rest here after those that belong here were read.
    for (const epoch of [7, 8]) expect(judged({ owner: HERE.instance, epoch, phase: "IDLE" })).toEqual(stays);
    expect(judged({ epoch: 8, phase: "IDLE" }, new Set())).toEqual(stays);
    // What its move's FENCE reached has the epoch under which the unit rests by now.
    for (const epoch of [7, 8])
      expect(judged({ epoch, phase: "IDLE" })).toEqual([
        { observed: two, reason: "owned-elsewhere", deletion: "orphan", isRemovable: true },
      ]);
  });

  test("lose whatever finalizer they have before they go from an instance that their unit has left (I2)", () => {
    const held = anObserved("application-2", setMeta("finalizers", ["post-delete-finalizer.argocd.argoproj.io"]));
    expect(planDeparture(held)).toMatchObject({
      kind: "change",
      patch: expect.arrayContaining([{ op: "add", path: "/metadata/finalizers", value: [] }]),
    });
    expect(planDeparture(two)).toMatchObject({ kind: "delete", preconditions: { uid: two.uid } });
    expect(planDeparture(undefined)).toEqual({ kind: "gone" });
  });

  test("are only reported when very many rows are missing at once, as after a loss of data (I2)", () => {
    const many = Array.from({ length: 11 }, (_, index) => anObserved(`application-${index + 10}`));
    expect(
      judgeOrphans(many, { ...HERE, belonging: ids(), existing: new Map(), ended: new Map() }, uids(...many)).some(
        (orphan) => orphan.isRemovable,
      ),
    ).toBe(false);
    expect(
      judgeOrphans(many.slice(1), { ...HERE, belonging: ids(), existing: new Map(), ended: new Map() }, uids(...many)).every(
        (orphan) => orphan.isRemovable,
      ),
    ).toBe(true);
  });

  test("do not count when they say nothing of an application, or are on their way out", () => {
    const probe = anObserved("probe", (raw) => void delete (raw.metadata["labels"] as Record<string, string>)["argosy.dev/application"]);
    const leaving = anObserved("application-3", setMeta("deletionTimestamp", "2026-01-01T00:00:00Z"));
    expect(
      judgeOrphans([probe, leaving], { ...HERE, belonging: ids(), existing: new Map(), ended: new Map() }, uids(probe, leaving)),
    ).toEqual([{ observed: leaving, reason: "no-row", deletion: "orphan", isRemovable: false }]);
  });
});

test("an orphan that is deleted and paused goes: Argo CD ends nothing that is paused", () => {
  const copy = anObserved("application-3", (raw) => {
    raw.metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    raw.metadata["annotations"] = { ...(raw.metadata["annotations"] as object), "argocd.argoproj.io/skip-reconcile": "true" };
  });
  const [orphan] = judgeOrphans([copy], { ...HERE, belonging: ids(), existing: new Map(), ended: new Map() }, uids(copy));
  expect(orphan).toMatchObject({ reason: "no-row", isRemovable: true });
});

describe("an Application that was created after a cascade had ended what it stands for", () => {
  const late = anObserved("application-1");
  const ended = (over: Partial<Ended> = {}) =>
    new Map([["application-1" as ApplicationId, { argoName: "name-application-1", unitEpoch: 7, ...over }]]);
  const judged = (rows: Partial<RowsOfOrphans>, observed = late) =>
    judgeOrphans([observed], { ...HERE, belonging: ids(), existing: new Map(), ended: new Map(), ...rows }, uids(observed))[0]?.deletion;
  const cascade = { deletion: "cascade", now: millis(0), mayWait: true } as const;

  test("goes with what it deployed, and any other without", () => {
    expect(judged({ ended: ended() })).toBe("cascade");
    expect(judged({ ended: ended({ unitEpoch: 8 }) })).toBe("cascade");
    expect(judged({ ended: new Map([["application-2" as ApplicationId, { argoName: "name-application-1", unitEpoch: 7 }]]) })).toBe(
      "orphan",
    );
  });

  test("does not when it has another's name, no epoch, or one that the unit has not reached, nor while its row is there (I2)", () => {
    expect(judged({ ended: ended({ argoName: "other" }) })).toBe("orphan");
    expect(judged({ ended: ended({ unitEpoch: 6 }) })).toBe("orphan");
    expect(
      judged(
        { ended: ended() },
        anObserved("application-1", (raw) => void delete raw.metadata["annotations"]),
      ),
    ).toBe("orphan");
    expect(
      judged({ ended: ended(), existing: new Map([["application-1" as ApplicationId, { owner: ELSEWHERE, epoch: 9, phase: "IDLE" }]]) }),
    ).toBe("orphan");
  });

  test("is brought to rest first, and then deleted by its uid alone (I2)", () => {
    const orphan = judgeOrphans([late], { ...HERE, belonging: ids(), existing: new Map(), ended: ended() }, uids(late))[0];
    if (orphan === undefined) throw new Error("nothing is found");
    const step = planOrphanEnd(orphan, cascade, late);
    expect(step).toMatchObject({
      kind: "change",
      patch: expect.arrayContaining([
        { op: "test", path: "/metadata/uid", value: late.uid },
        { op: "add", path: "/metadata/finalizers", value: [CASCADE_FINALIZER] },
        { op: "add", path: "/metadata/annotations/argosy.dev~1revision", value: String((late.revision ?? 0) + 1) },
        { op: "remove", path: "/spec/syncPolicy/automated" },
      ]),
    });
    const marked = anObserved("application-1", (raw) => {
      raw.metadata["finalizers"] = [CASCADE_FINALIZER];
      delete ((raw["spec"] as Stored)["syncPolicy"] as Record<string, unknown>)["automated"];
    });
    expect(planOrphanEnd(orphan, cascade, marked)).toMatchObject({ kind: "delete", preconditions: { uid: late.uid } });
    const syncing = anObserved("application-1", setMeta("finalizers", [CASCADE_FINALIZER]));
    expect(planOrphanEnd(orphan, { ...cascade, mayWait: false }, syncing)).toMatchObject({ kind: "delete" });
    expect(planOrphanEnd(orphan, cascade, { ...late, uid: "another" })).toEqual({ kind: "gone" });
  });
});

test("what deserves a comparison with its row is missing, leaving, of another epoch, or not what it says it is", () => {
  expect(whyRevisit({ epoch: 7 }, undefined)).toBe("missing");
  expect(whyRevisit({ epoch: 7 }, anObserved())).toBeUndefined();
  expect(whyRevisit({ epoch: 8 }, anObserved())).toBe("epoch");
  expect(whyRevisit({ epoch: 7 }, anObserved("a", setField("spec", {})))).toBe("edited");
  expect(whyRevisit({ epoch: 7 }, anObserved("a", setMeta("deletionTimestamp", "2026-01-01T00:00:00Z")))).toBe("deleting");
});

describe("changes that are worth a reconcile", () => {
  const before = anObserved();
  const reported = anObserved("application-1", setField("status", { sync: { status: "Synced" } }));

  test("are not Argo CD's reports", () => {
    expect(differsInRequest(before, reported)).toBe(false);
    expect(differsInReport(before, reported)).toBe(true);
    expect(differsInReport(reported, reported)).toBe(false);
  });

  test("are all that we decide on", () => {
    const changes: readonly ((raw: Stored) => void)[] = [
      setField("spec", {}),
      (raw) => void delete raw.metadata["labels"],
      setMeta("annotations", { "argosy.dev/epoch": "9" }),
      setMeta("uid", "other"),
      setMeta("deletionTimestamp", "2026-01-01T00:00:00Z"),
    ];
    for (const change of changes) expect(differsInContent(before, anObserved("application-1", change))).toBe(true);
    expect(differsInRequest(before, anObserved("application-1", setMeta("finalizers", ["x"])))).toBe(true);
    expect(differsInRequest(undefined, before)).toBe(true);
    expect(differsInContent(before, anObserved("application-1", setMeta("resourceVersion", "999")))).toBe(false);
  });
});

describe("what is recorded of a status", () => {
  const at = (reconciledAt: string) => anObserved("application-1", setField("status", { sync: { status: "Synced" }, reconciledAt }));
  const first = at("2026-01-01T00:00:00Z");
  const last = { hash: first.report?.hash ?? "", epoch: 7, reconciledAt: first.report?.reconciledAt };

  test("is the whole of it, with whose it is", () => {
    const found = whatToRecord(first, undefined);
    expect(found?.kind === "status" && found.status).toMatchObject({
      applicationId: "application-1",
      instanceId: "instance-1",
      epoch: 7,
      hash: last.hash,
      reconciledAt: millis(Date.UTC(2026, 0, 1)),
    });
  });

  test("is nothing for a mere refresh, but once in ten minutes", () => {
    expect(whatToRecord(at("2026-01-01T00:09:59Z"), last)).toBeUndefined();
    expect(whatToRecord(at("2026-01-01T00:10:00Z"), last)).toMatchObject({ kind: "refresh", refresh: { hash: last.hash, epoch: 7 } });
    expect(whatToRecord(first, { ...last, epoch: 6 })).toMatchObject({ kind: "status" });
    expect(whatToRecord(first, { ...last, hash: "other" })).toMatchObject({ kind: "status" });
    const silent = anObserved("application-1", setField("status", { sync: { status: "Synced" } }));
    expect(whatToRecord(silent, { hash: silent.report?.hash ?? "", epoch: 7, reconciledAt: undefined })).toBeUndefined();
  });

  test("needs no status for a mere refresh, and has to be read again for anything else where the status was let go of", () => {
    const refreshed = at("2026-01-01T00:10:00Z");
    if (refreshed.report !== undefined) letGoOfStatus(refreshed.report);
    expect(whatToRecord(refreshed, last)).toMatchObject({ kind: "refresh" });
    expect(whatToRecord(refreshed, { ...last, epoch: 6 })).toEqual({ kind: "unread" });
    expect(whatToRecord(refreshed, undefined)).toEqual({ kind: "unread" });
  });

  test("waits for others at the full minute when it is a mere refresh", () => {
    const minute = Date.UTC(2026, 0, 1, 0, 11);
    for (const [atMs, waitMs] of [
      [minute, 0],
      [minute + 5_000, 0],
      [minute + 5_001, 54_999],
      [minute + 59_999, 1],
    ] as const)
      expect(waitForOthersMs(millis(atMs))).toBe(waitMs);
  });

  test("is nothing without a report, an epoch, or an owner", () => {
    expect(whatToRecord(anObserved(), undefined)).toBeUndefined();
    for (const map of ["labels", "annotations"]) {
      const anonymous = anObserved("application-1", (raw) => {
        raw["status"] = { sync: { status: "Synced" } };
        delete raw.metadata[map];
      });
      expect(whatToRecord(anonymous, undefined)).toBeUndefined();
    }
  });
});
