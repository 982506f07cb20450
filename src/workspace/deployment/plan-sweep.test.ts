import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { ApplicationId } from "../../domain/ids.ts";
import { aResource } from "../testing/builders.ts";
import { planSweep, requestOf, type SweptRow } from "./plan-sweep.ts";

const aRow = (uid: string, over: Partial<SweptRow> = {}): SweptRow => ({
  applicationId: `a-${uid}` as ApplicationId,
  uid,
  namespace: "jane",
  name: "guestbook",
  deletedAt: undefined,
  ...over,
});
const sweep = (over: Partial<Parameters<typeof planSweep>[0]>) =>
  planSweep({ cluster: "api", rows: [], resources: [], isMine: () => true, isRecorded: () => true, ...over });

describe("comparing rows with resources", () => {
  it("finds nothing to do where every row has its resource and every request is recorded", () => {
    expect(sweep({ rows: [aRow("uid-1")], resources: [aResource()] })).toEqual({ suspects: [], keys: [] });
  });

  it("suspects a row whose resource cannot be seen, or has another uid", () => {
    expect(sweep({ rows: [aRow("uid-1")] }).suspects).toEqual([aRow("uid-1")]);
    expect(sweep({ rows: [aRow("uid-0"), aRow("uid-1")], resources: [aResource()] }).suspects).toEqual([aRow("uid-0")]);
  });

  it("does not suspect a row that is marked already", () => {
    expect(sweep({ rows: [aRow("uid-1", { deletedAt: millis(1) })] }).suspects).toEqual([]);
  });

  it("reconciles again resources without row, with a request not recorded, or on their way out", () => {
    const resources = [
      aResource({ name: "new", uid: "uid-2" }),
      aResource({ name: "changed", uid: "uid-3" }),
      aResource({ name: "going", uid: "uid-4", isDeleting: true }),
      aResource(),
    ];
    const rows = ["uid-1", "uid-3", "uid-4"].map((uid) => aRow(uid));
    expect(sweep({ rows, resources, isRecorded: ({ name }) => name !== "changed" }).keys).toEqual([
      "api|jane|new",
      "api|jane|changed",
      "api|jane|going",
    ]);
  });

  it("leaves other processes' namespaces to them", () => {
    expect(
      sweep({ rows: [aRow("uid-0")], resources: [aResource({ isDeleting: true })], isMine: (namespace) => namespace !== "jane" }),
    ).toEqual({ suspects: [], keys: [] });
  });

  it("tells requests apart by generation and poke", () => {
    const requests = [aResource(), aResource({ generation: 2 }), aResource({ refreshedAt: "now" })].map(requestOf);
    expect(new Set(requests).size).toBe(3);
  });
});
