import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { ApplicationId } from "../../domain/ids.ts";
import { aResource } from "../testing/builders.ts";
import { requestOf, type SweptRow, suspectRows, unsettledKeys } from "./plan-sweep.ts";

const aRow = (uid: string, over: Partial<SweptRow> = {}): SweptRow => ({
  applicationId: `a-${uid}` as ApplicationId,
  uid,
  namespace: "jane",
  name: "guestbook",
  deletedAt: undefined,
  generation: 1,
  ...over,
});
const everything = (_namespace: string): boolean => true;
const notJanes = (namespace: string): boolean => namespace !== "jane";

describe("comparing rows with resources", () => {
  const suspects = (rows: readonly SweptRow[], present: readonly string[], isMine = everything) =>
    suspectRows(rows, { isPresent: ({ uid }) => present.includes(uid), isMine });
  const keys = (over: Partial<Parameters<typeof unsettledKeys>[0]>) =>
    unsettledKeys({ cluster: "api", resources: [], withRow: new Set(), isMine: everything, isRecorded: () => true, ...over });

  it("finds nothing to do where every row has its resource and every request is recorded", () => {
    expect(suspects([aRow("uid-1")], ["uid-1"])).toEqual([]);
    expect(keys({ withRow: new Set(["uid-1"]), resources: [aResource()] })).toEqual([]);
  });

  it("suspects a row whose resource cannot be seen, or has another uid", () => {
    expect(suspects([aRow("uid-1")], [])).toEqual([aRow("uid-1")]);
    expect(suspects([aRow("uid-0"), aRow("uid-1")], ["uid-1"])).toEqual([aRow("uid-0")]);
  });

  it("does not suspect a row that is marked already", () => {
    expect(suspects([aRow("uid-1", { deletedAt: millis(1) })], [])).toEqual([]);
  });

  it("reconciles again resources without row, with a request not recorded, or on their way out", () => {
    const resources = [
      aResource({ name: "new", uid: "uid-2" }),
      aResource({ name: "changed", uid: "uid-3" }),
      aResource({ name: "going", uid: "uid-4", isDeleting: true }),
      aResource(),
    ];
    const withRow = new Set(["uid-1", "uid-3", "uid-4"]);
    expect(keys({ withRow, resources, isRecorded: ({ name }) => name !== "changed" })).toEqual([
      "api|jane|new",
      "api|jane|changed",
      "api|jane|going",
    ]);
  });

  it("leaves other processes' namespaces to them", () => {
    expect(suspects([aRow("uid-0")], [], notJanes)).toEqual([]);
    expect(keys({ resources: [aResource({ isDeleting: true })], isMine: notJanes })).toEqual([]);
  });

  it("tells requests apart by generation and poke", () => {
    const requests = [aResource(), aResource({ generation: 2 }), aResource({ refreshedAt: "now" })].map(requestOf);
    expect(new Set(requests).size).toBe(3);
  });
});
