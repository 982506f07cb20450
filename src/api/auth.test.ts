import { describe, expect, it } from "vitest";
import { UnavailableError } from "../domain/errors.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import type { ApiToken } from "../store/token/port.ts";
import { createAuthenticate, includesRole, tokenHash } from "./auth.ts";

const SECRET = "argosy_0123456789abcdef";

function aTokenStore(tokens: ReadonlyMap<string, ApiToken>) {
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
  const known = new Map([[tokenHash(SECRET), { name: "anna", role: "operator" } as const]]);

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
    const tokens = new Map<string, ApiToken>();
    const store = aTokenStore(tokens);
    const clock = createVirtualClock();
    const authenticate = createAuthenticate(store, clock);
    for (let attempt = 0; attempt < 100; attempt += 1) expect(await authenticate(`Bearer ${SECRET}`)).toBeUndefined();
    expect(store.reads).toBe(1);
    tokens.set(tokenHash(SECRET), { name: "anna", role: "operator" });
    await clock.advance(5_001);
    expect(await authenticate(`Bearer ${SECRET}`)).toBeDefined();
  });

  it("costs the database five reads a second in a flood of wrong ones, and right ones are known all the same", async () => {
    const tokens = new Map<string, ApiToken>(known);
    const store = aTokenStore(tokens);
    const clock = createVirtualClock();
    const authenticate = createAuthenticate(store, clock);
    expect(await authenticate(`Bearer ${SECRET}`)).toBeDefined();
    const answers: Promise<ApiToken | undefined>[] = [];
    for (let tick = 0; tick < 100; tick += 1) {
      for (let wrong = 0; wrong < 200; wrong += 1) answers.push(authenticate(`Bearer wrong-token-number-${tick}-${wrong}`));
      expect(await authenticate(`Bearer ${SECRET}`)).toBeDefined();
      await clock.advance(100);
    }
    const late = authenticate("Bearer made-in-the-middle");
    tokens.set(tokenHash("made-in-the-middle"), { name: "otto", role: "viewer" });
    await clock.advance(1000);
    expect(await late).toEqual({ name: "otto", role: "viewer" });
    expect(new Set(await Promise.all(answers))).toEqual(new Set([undefined]));
    expect(store.reads).toBeLessThanOrEqual(53);
  });

  it("believes no read that began before the token was shown, nor lets two run at once", async () => {
    const tokens = new Map<string, ApiToken>();
    const store = aTokenStore(tokens);
    const gates: (() => void)[] = [];
    store.answer = () => new Promise<void>((resolve) => gates.push(resolve));
    const clock = createVirtualClock();
    const authenticate = createAuthenticate(store, clock);
    const wrong = authenticate("Bearer some-wrong-token");
    await clock.advance(1000);
    tokens.set(tokenHash(SECRET), { name: "anna", role: "operator" });
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

  it("ranks roles", () => {
    expect(includesRole("approver", "viewer")).toBe(true);
    expect(includesRole("operator", "operator")).toBe(true);
    expect(includesRole("viewer", "operator")).toBe(false);
  });
});
