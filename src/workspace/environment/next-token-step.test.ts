import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { EnvironmentId, InstanceId } from "../../domain/ids.ts";
import type { ShardObject } from "../../domain/shard-object.ts";
import { isEntryBehind, isWorthTelling, nextTokenStep } from "./next-token-step.ts";

const HOUR = 3_600_000;
const madeAt = millis(Date.UTC(2026, 0, 1));
const issued = { madeAt, endsAt: millis(madeAt + 12 * HOUR), accountUid: "uid-1" };
const STORED = { server: "https://a", token: "t", issued };
const life = { lifeMs: 12 * HOUR, renewAfterMs: 8 * HOUR };
const at = (hours: number, stored: Parameters<typeof nextTokenStep>[0], accountUid = "uid-1") =>
  nextTokenStep(stored, { account: "u-1", accountUid, now: millis(madeAt + hours * HOUR), life });

describe("the token of an account on a user's cluster", () => {
  it("stays until its time has come, works until its end, and not after", () => {
    expect(at(5.9, STORED)).toEqual({ kind: "keep", token: { token: "t", issued } });
    expect(at(8, STORED)).toEqual({ kind: "renew", standing: { token: "t", issued } });
    expect(at(12, STORED)).toEqual({ kind: "renew" });
  });

  it("is asked for where none is stored, or where the account was made anew", () => {
    expect([at(0, undefined), at(0, { server: "https://a" }), at(1, STORED, "uid-2")]).toEqual(Array(3).fill({ kind: "renew" }));
  });

  it("takes the place of one without an end, which works meanwhile", () => {
    expect(at(0, { server: "https://a", token: "t" })).toEqual({ kind: "renew", standing: { token: "t" } });
  });

  it("is worth telling the user about when he has to act, or when its end is near", () => {
    const said = (standing: Parameters<typeof isWorthTelling>[0], kind: string, hours: number) =>
      isWorthTelling(standing, { kind }, millis(madeAt + hours * HOUR));
    expect([said(STORED, "forbidden", 8), said(STORED, "refused", 8), said(undefined, "unreachable", 0)]).toEqual([true, true, true]);
    expect([said(STORED, "unreachable", 8), said(STORED, "unreachable", 11), said({ token: "t" }, "unreachable", 99)]).toEqual([
      false,
      true,
      false,
    ]);
  });
});

describe("an instance's entry for an environment", () => {
  const [id, instanceId] = ["e" as EnvironmentId, "i" as InstanceId];
  const entry = { kind: "cluster-entry", subject: id, instanceId, appliedRevision: 4 } as unknown as ShardObject;
  const behind = (desiredRevision: number, acknowledged: readonly ShardObject[], environments = [{ id }]) =>
    isEntryBehind({ unit: { desiredRevision }, environments, acknowledged }, id, instanceId);

  it("is behind until it was written from rows as they are", () => {
    expect([behind(5, [entry]), behind(4, [entry]), behind(4, [])]).toEqual([true, false, true]);
  });

  it("is not waited for where nothing is deployed there", () => {
    expect(behind(5, [], [])).toBe(false);
  });
});
