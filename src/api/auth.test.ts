import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { ApiToken, TokenStore } from "../store/token/port.ts";
import { createAuthenticate, includesRole, tokenHash } from "./auth.ts";

const SECRET = "argosy_0123456789abcdef";

function aTokenStore(tokens: Map<string, ApiToken>): TokenStore & { finds: number } {
  return {
    finds: 0,
    async put(token, hash) {
      tokens.set(hash, token);
    },
    async find(hash) {
      this.finds += 1;
      return tokens.get(hash);
    },
    list: async () => [...tokens.values()],
    async remove() {},
  };
}

function aClock(at = { ms: 0 }) {
  return { at, now: () => millis(at.ms), monotonicMs: () => at.ms, after: () => () => {} };
}

describe("authentication", () => {
  const signal = new AbortController().signal;
  const known = new Map([[tokenHash(SECRET), { name: "anna", role: "operator" } as const]]);

  it("knows a bearer token by its hash", async () => {
    const authenticate = createAuthenticate(aTokenStore(new Map(known)), aClock());
    expect(await authenticate(`Bearer ${SECRET}`, signal)).toEqual({ name: "anna", role: "operator" });
  });

  it.each([undefined, "", "Basic abc", "Bearer short", `Bearer ${SECRET}x`, `bearer ${SECRET}`, `Bearer ${SECRET} trailing`])(
    "refuses %j",
    async (header) => {
      const authenticate = createAuthenticate(aTokenStore(new Map(known)), aClock());
      expect(await authenticate(header, signal)).toBeUndefined();
    },
  );

  it("asks the database once in five seconds for a token it knows, and again after that", async () => {
    const store = aTokenStore(new Map(known));
    const clock = aClock();
    const authenticate = createAuthenticate(store, clock);
    await authenticate(`Bearer ${SECRET}`, signal);
    await authenticate(`Bearer ${SECRET}`, signal);
    expect(store.finds).toBe(1);
    clock.at.ms = 5_001;
    await authenticate(`Bearer ${SECRET}`, signal);
    expect(store.finds).toBe(2);
  });

  it("asks the database once in five seconds for a token it does not know, however often that is tried", async () => {
    const tokens = new Map<string, ApiToken>();
    const store = aTokenStore(tokens);
    const clock = aClock();
    const authenticate = createAuthenticate(store, clock);
    for (let attempt = 0; attempt < 100; attempt += 1) expect(await authenticate(`Bearer ${SECRET}`, signal)).toBeUndefined();
    expect(store.finds).toBe(1);
    tokens.set(tokenHash(SECRET), { name: "anna", role: "operator" });
    clock.at.ms = 5_001;
    expect(await authenticate(`Bearer ${SECRET}`, signal)).toBeDefined();
  });

  it("keeps knowing the right ones through a flood of wrong ones", async () => {
    const store = aTokenStore(new Map(known));
    const authenticate = createAuthenticate(store, aClock());
    await authenticate(`Bearer ${SECRET}`, signal);
    for (let wrong = 0; wrong < 12_000; wrong += 1) await authenticate(`Bearer wrong-token-number-${wrong}`, signal);
    const before = store.finds;
    await authenticate(`Bearer ${SECRET}`, signal);
    expect(store.finds).toBe(before);
  });

  it("ranks roles", () => {
    expect(includesRole("approver", "viewer")).toBe(true);
    expect(includesRole("operator", "operator")).toBe(true);
    expect(includesRole("viewer", "operator")).toBe(false);
  });
});
