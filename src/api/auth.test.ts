import { describe, expect, it } from "vitest";
import { UnavailableError } from "../domain/errors.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import { aDecision, aToken } from "../store/testing/builders.ts";
import { TOKEN_ROLES, type ValidToken } from "../store/token/port.ts";
import { createAuthenticate, includesRole, mayMakeToken, tokenHash } from "./auth.ts";
import type { Caller } from "./identity/port.ts";

const never = new AbortController().signal;
const SECRET = "argosy_0123456789abcdef";

function aTokenStore(tokens: ReadonlyMap<string, ValidToken>) {
  const store = {
    reads: 0,
    answer: async (): Promise<void> => {},
    async readHashes() {
      store.reads += 1;
      const found = new Map(tokens);
      await store.answer();
      return found;
    },
  };
  return store;
}

describe("authentication", () => {
  const known = new Map([[tokenHash(SECRET), { name: "anna", role: "operator", endsInMs: undefined } as const]]);

  it("knows a bearer token by its hash", async () => {
    const authenticate = createAuthenticate(aTokenStore(known), createVirtualClock());
    expect(await authenticate(`Bearer ${SECRET}`)).toEqual({ name: "anna", role: "operator" });
  });

  it.each([undefined, "", "Basic abc", "Bearer short", `Bearer ${SECRET}x`, `bearer ${SECRET}`, `Bearer ${SECRET} trailing`])(
    "refuses %j",
    async (header) => {
      const authenticate = createAuthenticate(aTokenStore(known), createVirtualClock());
      expect(await authenticate(header)).toBeUndefined();
    },
  );

  it("asks the database once in five seconds for a token it knows, and again after that", async () => {
    const store = aTokenStore(known);
    const clock = createVirtualClock();
    const authenticate = createAuthenticate(store, clock);
    await authenticate(`Bearer ${SECRET}`);
    await authenticate(`Bearer ${SECRET}`);
    expect(store.reads).toBe(1);
    await clock.advance(5_001);
    await authenticate(`Bearer ${SECRET}`);
    expect(store.reads).toBe(2);
  });

  it("asks the database once in five seconds for a token it does not know, however often that is tried", async () => {
    const tokens = new Map<string, ValidToken>();
    const store = aTokenStore(tokens);
    const clock = createVirtualClock();
    const authenticate = createAuthenticate(store, clock);
    for (let attempt = 0; attempt < 100; attempt += 1) expect(await authenticate(`Bearer ${SECRET}`)).toBeUndefined();
    expect(store.reads).toBe(1);
    tokens.set(tokenHash(SECRET), { name: "anna", role: "operator", endsInMs: undefined });
    await clock.advance(5_001);
    expect(await authenticate(`Bearer ${SECRET}`)).toBeDefined();
  });

  it("costs the database five reads a second in a flood of wrong ones, and right ones are known all the same", async () => {
    const tokens = new Map<string, ValidToken>(known);
    const store = aTokenStore(tokens);
    const clock = createVirtualClock();
    const authenticate = createAuthenticate(store, clock);
    expect(await authenticate(`Bearer ${SECRET}`)).toBeDefined();
    const answers: Promise<Caller | undefined>[] = [];
    for (let tick = 0; tick < 100; tick += 1) {
      for (let wrong = 0; wrong < 200; wrong += 1) answers.push(authenticate(`Bearer wrong-token-number-${tick}-${wrong}`));
      expect(await authenticate(`Bearer ${SECRET}`)).toBeDefined();
      await clock.advance(100);
    }
    const late = authenticate("Bearer made-in-the-middle");
    tokens.set(tokenHash("made-in-the-middle"), { name: "otto", role: "viewer", endsInMs: undefined });
    await clock.advance(1000);
    expect(await late).toEqual({ name: "otto", role: "viewer" });
    expect(new Set(await Promise.all(answers))).toEqual(new Set([undefined]));
    expect(store.reads).toBeLessThanOrEqual(53);
  });

  it("believes no read that began before the token was shown, nor lets two run at once", async () => {
    const tokens = new Map<string, ValidToken>();
    const store = aTokenStore(tokens);
    const gates: (() => void)[] = [];
    store.answer = () => new Promise<void>((resolve) => gates.push(resolve));
    const clock = createVirtualClock();
    const authenticate = createAuthenticate(store, clock);
    const wrong = authenticate("Bearer some-wrong-token");
    await clock.advance(1000);
    tokens.set(tokenHash(SECRET), { name: "anna", role: "operator", endsInMs: undefined });
    const right = authenticate(`Bearer ${SECRET}`);
    await clock.advance(1000);
    expect(store.reads).toBe(1);
    gates[0]?.();
    expect(await wrong).toBeUndefined();
    await clock.advance(1000);
    expect(store.reads).toBe(2);
    gates[1]?.();
    expect(await right).toBeDefined();
  });

  it("fails while the database is away, and works once it is back", async () => {
    const store = aTokenStore(known);
    store.answer = () => Promise.reject(new UnavailableError("reading tokens", { code: "store.unavailable" }));
    const clock = createVirtualClock();
    const authenticate = createAuthenticate(store, clock);
    await expect(authenticate(`Bearer ${SECRET}`)).rejects.toThrow(UnavailableError);
    store.answer = async () => {};
    const again = authenticate(`Bearer ${SECRET}`);
    await clock.advance(1000);
    expect(await again).toBeDefined();
  });

  it("refuses a token from the moment on at which it ends, though the database was asked before", async () => {
    const clock = createVirtualClock();
    const ending = new Map([[tokenHash(SECRET), { name: "anna", role: "operator", endsInMs: 3_000 } as const]]);
    const store = aTokenStore(ending);
    const authenticate = createAuthenticate(store, clock);
    expect(await authenticate(`Bearer ${SECRET}`)).toBeDefined();
    await clock.advance(2_999);
    expect(await authenticate(`Bearer ${SECRET}`)).toBeDefined();
    await clock.advance(1);
    expect(await authenticate(`Bearer ${SECRET}`)).toBeUndefined();
    expect(store.reads).toBe(1);
  });

  it("refuses a token on another process five seconds after it was revoked at the latest", async () => {
    const clock = createVirtualClock();
    const { tokens } = createMemoryStore({ clock });
    await tokens.put(aToken({ hash: tokenHash(SECRET) }), undefined, never);
    const [one, other] = [createAuthenticate(tokens, clock), createAuthenticate(tokens, clock)];
    for (const authenticate of [one, other]) expect(await authenticate(`Bearer ${SECRET}`)).toBeDefined();
    await clock.advance(1_000);
    await tokens.revoke("otto", aDecision(), never);
    await clock.advance(5_000);
    for (const authenticate of [one, other]) expect(await authenticate(`Bearer ${SECRET}`)).toBeUndefined();
  });

  it("tells of every use of a good token, and of no other", async () => {
    const used: string[] = [];
    const ended = tokenHash("argosy_that_has_ended");
    const store = aTokenStore(new Map<string, ValidToken>([...known, [ended, { name: "otto", role: "viewer", endsInMs: 0 }]]));
    const authenticate = createAuthenticate(store, createVirtualClock(), (hash) => used.push(hash));
    await authenticate(`Bearer ${SECRET}`);
    await authenticate(`Bearer ${SECRET}`);
    await authenticate("Bearer argosy_that_has_ended");
    expect(used).toEqual([tokenHash(SECRET), tokenHash(SECRET)]);
  });

  it("reads the database 51 times for 10,000 wrong tokens in ten seconds, and forgets what would be too much", async () => {
    const store = aTokenStore(known);
    const clock = createVirtualClock();
    const authenticate = createAuthenticate(store, clock);
    const answers: Promise<Caller | undefined>[] = [];
    for (let wrong = 0; wrong < 10_000; wrong += 1) {
      answers.push(authenticate(`Bearer wrong-token-number-${wrong}`));
      await clock.advance(1);
    }
    await clock.advance(1_000);
    expect((await Promise.all(answers)).every((answer) => answer === undefined)).toBe(true);
    expect(store.reads).toBeLessThanOrEqual(51);
  });

  it("lets approvers alone make tokens, and nobody one with more than he has", () => {
    const may = TOKEN_ROLES.flatMap((held) => TOKEN_ROLES.map((wanted) => [held, wanted] as const)).filter((pair) => mayMakeToken(...pair));
    expect(may).toEqual([
      ["approver", "viewer"],
      ["approver", "operator"],
      ["approver", "approver"],
    ]);
  });

  it("ranks roles", () => {
    expect(includesRole("approver", "viewer")).toBe(true);
    expect(includesRole("operator", "operator")).toBe(true);
    expect(includesRole("viewer", "operator")).toBe(false);
  });
});
