import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import type { Token } from "./token-source.ts";
import { createTokenSource, expiryOfJwt } from "./token-source.ts";

const never = new AbortController().signal;

function sourceOf(life: (nowMs: number) => number | undefined) {
  const clock = createVirtualClock();
  const state = { reads: 0, failing: false };
  const read = async (): Promise<Token> => {
    state.reads++;
    if (state.failing) throw new Error("away");
    return { value: `t${state.reads}`, expiresAtMs: life(clock.now()) };
  };
  return { clock, state, source: createTokenSource({ read, now: clock.now }) };
}

describe("createTokenSource", () => {
  it("reads once for fifty who ask at the same time", async () => {
    const { source, state } = sourceOf(() => undefined);
    const tokens = await Promise.all(Array.from({ length: 50 }, () => source.token(never)));
    expect(new Set(tokens)).toEqual(new Set(["t1"]));
    expect(state.reads).toBe(1);
  });

  it("renews an hour's token a minute and a half before it expires", async () => {
    const { source, clock } = sourceOf((now) => now + 3_600_000);
    await source.token(never);
    await clock.advance(3_600_000 - 90_001);
    expect(await source.token(never)).toBe("t1");
    await clock.advance(1);
    expect(await source.token(never)).toBe("t2");
  });

  it("renews a short-lived token after four fifths of its life", async () => {
    const { source, clock } = sourceOf((now) => now + 60_000);
    await source.token(never);
    await clock.advance(47_999);
    expect(await source.token(never)).toBe("t1");
    await clock.advance(1);
    expect(await source.token(never)).toBe("t2");
  });

  it("asks again after a minute for a token that does not say when it expires", async () => {
    const { source, clock } = sourceOf(() => undefined);
    await source.token(never);
    await clock.advance(59_999);
    expect(await source.token(never)).toBe("t1");
    await clock.advance(1);
    expect(await source.token(never)).toBe("t2");
  });

  it("goes on with a token that is still good while a new one cannot be had, and then says so", async () => {
    const { source, clock, state } = sourceOf((now) => now + 600_000);
    await source.token(never);
    state.failing = true;
    await clock.advance(599_999);
    expect(await source.token(never)).toBe("t1");
    await clock.advance(1);
    await expect(source.token(never)).rejects.toMatchObject({
      name: "UnavailableError",
      code: "kube.token-unavailable",
      cause: { message: "away" },
    });
    state.failing = false;
    expect(await source.token(never)).toBe("t4");
  });

  it("renews what was refused, but not because of an old refusal", async () => {
    const { source } = sourceOf(() => undefined);
    expect(await source.token(never)).toBe("t1");
    source.refused("t1");
    expect(await source.token(never)).toBe("t2");
    source.refused("t1");
    expect(await source.token(never)).toBe("t2");
  });

  it("lets one caller give up without taking the others' token away", async () => {
    const { source, state } = sourceOf(() => undefined);
    const impatient = new AbortController();
    const first = source.token(impatient.signal);
    const second = source.token(never);
    impatient.abort("impatient");
    await expect(first).rejects.toBe("impatient");
    expect(await second).toBe("t1");
    await expect(source.token(impatient.signal)).rejects.toBe("impatient");
    expect(state.reads).toBe(1);
  });
});

describe("expiryOfJwt", () => {
  const jwt = (claims: unknown) => `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;

  it("reads the expiry of a web token and finds none in anything else", () => {
    expect(expiryOfJwt(jwt({ exp: 1_800_000_000 }))).toBe(1_800_000_000_000);
    for (const other of [jwt({}), jwt(null), jwt({ exp: "soon" }), "opaque", "a.b.c", "", "k8s-aws-v1.aHR0cHM"])
      expect(expiryOfJwt(other)).toBeUndefined();
  });
});
