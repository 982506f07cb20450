import { beforeEach, describe, expect, it } from "vitest";
import type { ApplicationId, UnitId } from "../../domain/ids.ts";
import { repositoryKey } from "../../domain/repository-credential.ts";
import { createVirtualClock, type VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import type { MissingPrerequisite } from "../../shard/missing-prerequisite.ts";
import { anApplication } from "../../shard/testing/builders.ts";
import { createApplicationRows, createWaitingRows, OLD_MS, type WaitingRows } from "./application-rows.ts";

const aRow = (id: string, unit: string, revision = 1) => ({
  application: { id: id as ApplicationId, desiredRevision: revision },
  unit: { id: unit as UnitId },
});

describe("rows that wait for their unit", () => {
  let waiting: WaitingRows<ReturnType<typeof aRow>>;
  let clock: VirtualClock;
  const release = (unit: string, mayGoOn: (row: ReturnType<typeof aRow>) => boolean = () => true) =>
    waiting.release(unit as UnitId, mayGoOn).map(({ row }) => row);

  beforeEach(() => {
    clock = createVirtualClock();
    waiting = createWaitingRows(clock);
    for (const row of [aRow("one", "ours"), aRow("two", "ours"), aRow("three", "theirs")]) waiting.add(row);
  });

  it("come out with their unit, all of them and no others, once", () => {
    expect(release("ours")).toEqual([aRow("one", "ours"), aRow("two", "ours")]);
    expect(release("ours")).toEqual([]);
    expect(release("theirs")).toEqual([aRow("three", "theirs")]);
  });

  it("stay when they may not go on, until they may or are read anew", () => {
    expect(release("ours", ({ application }) => application.id !== "one")).toEqual([aRow("two", "ours")]);
    expect(release("ours", () => false)).toEqual([]);
    expect(release("ours")).toEqual([aRow("one", "ours")]);
  });

  it("come out as they were read last", () => {
    waiting.add(aRow("two", "ours", 2));
    expect(release("ours")).toEqual([aRow("one", "ours"), aRow("two", "ours", 2)]);
  });

  it("stay when an older row of their application comes later", () => {
    waiting.add(aRow("two", "ours", 2));
    waiting.add(aRow("two", "ours", 1));
    expect(release("ours")).toEqual([aRow("one", "ours"), aRow("two", "ours", 2)]);
  });

  it("do not come out once they were read anew, and the others of their unit do", () => {
    waiting.remove("one" as ApplicationId);
    waiting.remove("one" as ApplicationId);
    waiting.remove("nobody" as ApplicationId);
    expect(release("ours")).toEqual([aRow("two", "ours")]);
    waiting.remove("three" as ApplicationId);
    expect(release("theirs")).toEqual([]);
  });

  it("are old after three seconds, whatever waits beside them: another process may have let them go", async () => {
    await clock.advance(OLD_MS);
    waiting.add(aRow("two", "ours", 2));
    await clock.advance(1);
    const released = waiting.release("ours" as UnitId, () => true);
    expect(released).toEqual([
      { row: aRow("one", "ours"), isOld: true },
      { row: aRow("two", "ours", 2), isOld: false },
    ]);
  });

  it("may wait again after they came out, for another unit too", () => {
    release("ours");
    waiting.add(aRow("one", "theirs"));
    waiting.add(aRow("two", "ours"));
    waiting.remove("one" as ApplicationId);
    expect(release("theirs")).toEqual([aRow("three", "theirs")]);
    expect(release("ours")).toEqual([aRow("two", "ours")]);
  });
});

describe("rows at hand", () => {
  const clock = createVirtualClock();
  const row = (over: Parameters<typeof anApplication>[0] = {}, unitAppliedRevision = 1) => ({
    application: anApplication({ id: "one" as ApplicationId, ...over }),
    unit: { id: "ours" as UnitId },
    environment: undefined,
    unitAppliedRevision,
  });
  const missingPrerequisite: MissingPrerequisite = {
    kind: "repository",
    url: anApplication().spec.source.repoUrl,
    urlKey: repositoryKey(anApplication().spec.source.repoUrl),
  };

  const id = "one" as ApplicationId;

  it("are those that were kept, until a run takes them out", () => {
    const rows = createApplicationRows<ReturnType<typeof row>>(clock);
    expect(rows.take(id)).toBeUndefined();
    rows.keep(row());
    expect(rows.take(id)).toEqual(row());
    expect(rows.take(id)).toBeUndefined();
  });

  it("are dropped when a run has read its own, which learns of that", () => {
    const rows = createApplicationRows<ReturnType<typeof row>>(clock);
    expect(rows.remove(id)).toBe(false);
    rows.keep(row());
    expect(rows.remove(id)).toBe(true);
    expect(rows.take(id)).toBeUndefined();
    rows.wait(row());
    expect(rows.remove(id)).toBe(true);
    expect(rows.release("ours" as UnitId, 1, [])).toEqual([]);
  });

  it("are what was read last: kept, or waiting, and never both", () => {
    const rows = createApplicationRows<ReturnType<typeof row>>(clock);
    rows.wait(row());
    rows.keep(row());
    expect(rows.release("ours" as UnitId, 1, [])).toEqual([]);
    rows.wait(row());
    expect(rows.take(id)).toBeUndefined();
    expect(rows.release("ours" as UnitId, 1, [])).toEqual([]);
  });

  it("are those that waited, at the revision at which the prerequisites stand, unless they are old", async () => {
    const rows = createApplicationRows<ReturnType<typeof row>>(clock);
    rows.wait(row({ id: "old" as ApplicationId }));
    await clock.advance(OLD_MS + 1);
    rows.wait(row());
    expect(rows.release("ours" as UnitId, 7, [])).toEqual(["old", "one"]);
    expect(rows.take("old" as ApplicationId)).toBeUndefined();
    expect(rows.take(id)).toEqual(row({}, 7));
    expect(rows.release("ours" as UnitId, 7, [])).toEqual([]);
  });

  it("wait on while they need prerequisites that are missing for the unit, and no longer than until their row is read", () => {
    const rows = createApplicationRows<ReturnType<typeof row>>(clock);
    rows.wait(row());
    expect(rows.release("ours" as UnitId, 1, [missingPrerequisite])).toEqual([]);
    expect(rows.release("ours" as UnitId, 1, [])).toEqual(["one"]);
    rows.wait(row());
    expect(rows.take(id)).toBeUndefined();
    expect(rows.release("ours" as UnitId, 1, [])).toEqual([]);
  });
});
