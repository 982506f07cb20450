import { describe, expect, test } from "vitest";
import { millis } from "../domain/clock.ts";
import type { InstanceId } from "../domain/ids.ts";
import { diffObject } from "./diff-object.ts";
import { nextTokenStep, parseEntry } from "./entry-token.ts";
import { manifestOf } from "./managed-object.ts";
import { renderClusterEntry } from "./render-instance.ts";
import { DESTINATION } from "./testing/builders.ts";

const HOUR = 3_600_000;
const madeAt = millis(Date.UTC(2026, 0, 1));
const TOKEN = { token: "a-token", madeAt, endsAt: millis(madeAt + 12 * HOUR), accountUid: "uid-1" };
const life = { lifeMs: 12 * HOUR, renewAfterMs: 8 * HOUR };
const INSTANCE = { id: "instance-1" as InstanceId, namespace: "argocd-1", entries: "shared" } as const;
const rendered = manifestOf(renderClusterEntry(INSTANCE, DESTINATION, TOKEN));

interface Over {
  readonly data?: object;
  readonly annotations?: object;
}

const seen = ({ data = {}, annotations = {} }: Over = {}) =>
  parseEntry({
    ...rendered,
    data: { ...(rendered["data"] as object), ...data },
    metadata: { ...rendered.metadata, annotations: { ...rendered.metadata.annotations, ...annotations }, uid: "u", resourceVersion: "1" },
  });
const stepAt = (hours: number, entry: ReturnType<typeof parseEntry>, accountUid = "uid-1") =>
  nextTokenStep(entry, { account: "read-1", accountUid, now: millis(madeAt + hours * HOUR), life });

test("an entry is settled by what was written, and so is one that had Argo CD read the cluster anew", () => {
  for (const refreshAt of [undefined, "2026-01-01T00:00:00Z"]) {
    const desired = renderClusterEntry(INSTANCE, DESTINATION, { ...TOKEN, refreshAt });
    const written = manifestOf(desired);
    const observed = parseEntry({ ...written, metadata: { ...written.metadata, uid: "u", resourceVersion: "1" } });
    expect(diffObject(desired, observed).kind, refreshAt).toBe("settled");
  }
});

describe("the token of an instance's entry", () => {
  test("stays while it is good, for whoever reads it", () => {
    expect(stepAt(5.9, seen())).toEqual({ kind: "keep", token: TOKEN });
  });

  test("is replaced long before its end, until which it works", () => {
    expect(stepAt(8, seen())).toEqual({ kind: "renew", why: "due", goodUntil: TOKEN.endsAt });
    expect(stepAt(12, seen())).toEqual({ kind: "renew", why: "due" });
  });

  test("is made where there is none", () => {
    expect(stepAt(0, undefined)).toEqual({ kind: "renew", why: "missing" });
    expect(stepAt(0, seen({ data: { config: "bm9uZQ==" } }))).toEqual({ kind: "renew", why: "missing" });
  });

  test("is replaced when somebody put another one there", () => {
    const config = Buffer.from(JSON.stringify({ bearerToken: "another" })).toString("base64");
    expect(stepAt(1, seen({ data: { config } }))).toEqual({ kind: "renew", why: "changed" });
  });

  test("is replaced when a program of before wrote one without an end, and left what is said of the one before", () => {
    const former = renderClusterEntry(INSTANCE, DESTINATION, { ...TOKEN, token: "endless" });
    const { metadata, ...content } = manifestOf(former);
    const annotations = { ...rendered.metadata.annotations, "argosy.dev/hash": metadata.annotations["argosy.dev/hash"] };
    const entry = parseEntry({ ...content, metadata: { ...metadata, annotations, uid: "u", resourceVersion: "1" } });
    expect(stepAt(1, entry)).toEqual({ kind: "renew", why: "endless", goodUntil: Number.MAX_SAFE_INTEGER });
  });

  test("is replaced when its account was made anew, because it is worth nothing then", () => {
    expect(stepAt(1, seen(), "uid-2")).toEqual({ kind: "renew", why: "other-account" });
  });

  test("is replaced when nothing says that it ends, and works until it is", () => {
    const entry = seen({ annotations: { "argosy.dev/token-ends": undefined } });
    expect(stepAt(1, entry)).toMatchObject({ kind: "renew", why: "endless", goodUntil: Number.MAX_SAFE_INTEGER });
  });
});

test("no token of an environment's entry is kept in memory", () => {
  const labels = { "argosy.dev/environment": "e" };
  const config = Buffer.from(JSON.stringify({ bearerToken: "t" })).toString("base64");
  const entry = (more: object) => parseEntry({ metadata: { name: "n", uid: "u", resourceVersion: "1", ...more }, data: { config } });
  expect([entry({})?.token, entry({ labels })?.token]).toEqual(["t", undefined]);
});
