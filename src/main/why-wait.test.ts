import { describe, expect, it } from "vitest";
import { DefectError, InputError, RefusedError, UnavailableError } from "../domain/errors.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { waitingForDatabase, whyWaitForDatabase, whyWaitForNewDatabase } from "./why-wait.ts";

const input = (code: string): InputError =>
  new InputError("using a database that has no schema yet", { code, path: "database.url", remedy: "Run `argosy migrate`" });
const socket = Object.assign(new Error("connect ECONNREFUSED 10.0.0.1:5432"), { code: "ECONNREFUSED" });

describe("a database that cannot be used", () => {
  it("is waited for while it is away, with what lies beneath", () => {
    const away = new UnavailableError("connecting to the database", { code: "store.unavailable", cause: socket });
    expect(whyWaitForDatabase(away)).toEqual({
      key: "store.unavailable ECONNREFUSED",
      sentence: "connecting to the database: connect ECONNREFUSED 10.0.0.1:5432",
    });
    const nameless = Object.assign(new Error(""), { code: "ECONNREFUSED" });
    const both = new UnavailableError("connecting to the database", { code: "store.unavailable", cause: nameless });
    expect(whyWaitForDatabase(both)?.sentence).toBe("connecting to the database: ECONNREFUSED");
    expect(whyWaitForDatabase(new UnavailableError("asking", { code: "store.unavailable" }))?.sentence).toBe("asking");
  });

  it.each([
    "store.refused",
    "store.no-right",
    "store.missing-rights",
    "store.postgres-too-old",
    "store.schema",
    "store.schema-newer",
    "store.schema-changed",
    "store.schema-older",
    "store.untrusted",
  ])("is waited for because of %s, with what to do", (code) => {
    expect(whyWaitForDatabase(input(code))).toEqual({
      key: code,
      sentence: "using a database that has no schema yet. Run `argosy migrate`",
    });
  });

  it("is not waited for where its address is none, a key is wrong, or we are", () => {
    for (const code of ["store.url", "store.tls-file", "config.key", "main.old-database"])
      expect(whyWaitForDatabase(input(code))).toBeUndefined();
    expect(whyWaitForDatabase(new DefectError("running a statement", { code: "store.statement" }))).toBeUndefined();
    expect(whyWaitForDatabase(new Error("oops"))).toBeUndefined();
  });
});

describe("a process that waits for a database", () => {
  const away = new UnavailableError("asking", { code: "store.unavailable" });

  it.each([
    ["its user was refused", "the password", "store.refused"],
    ["the server was not trusted", "the address", "store.untrusted"],
  ])("ends when %s for ten minutes on end: %s that it was started with may be an old one", async (_what, _whose, code) => {
    const clock = createVirtualClock();
    const whyWait = waitingForDatabase(clock);
    expect(whyWait(input(code))).toBeDefined();
    await clock.advance(599_999);
    expect(whyWait(input(code))).toBeDefined();
    await clock.advance(1);
    expect(whyWait(input(code))).toBeUndefined();
  });

  it("waits for anything else for ever, and counts anew after that", async () => {
    const clock = createVirtualClock();
    const whyWait = waitingForDatabase(clock);
    for (const error of [away, input("store.schema"), input("store.refused"), away, input("store.refused")]) {
      expect(whyWait(error)).toBeDefined();
      await clock.advance(500_000);
    }
    expect(whyWait(input("config.key"))).toBeUndefined();
  });
});

describe("a database that may be older than what stands", () => {
  it.each([
    input("main.old-database"),
    input("main.unfinished-recovery"),
    new RefusedError("listing accounts", { code: "kube.forbidden" }),
    new UnavailableError("asking", { code: "store.unavailable" }),
  ])("is waited for: $code", (error) => {
    expect(whyWaitForNewDatabase(error)?.key).toBe(error.code);
  });

  it("is not waited for where nothing is said that could pass", () => {
    expect(whyWaitForNewDatabase(input("kube.kubeconfig"))).toBeUndefined();
  });
});
