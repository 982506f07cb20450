import { describe, expect, it } from "vitest";
import { aDecision, aToken } from "../builders.ts";
import { eventually, soon, type World } from "../world.ts";

const HOUR_MS = 3_600_000;
const SHORT_MS = 50;
const entry = (verdict: string) =>
  aDecision({ subject: "token/a", kind: "directive", verdict, rule: "COMMAND", details: { actor: "anna" } });

export function describeTokens(world: () => World): void {
  describe("tokens", () => {
    const hashes = async () => [...(await world().store.tokens.readHashes(soon())).keys()];
    const states = async () => (await world().store.tokens.list(soon())).map(({ name, state }) => `${name} ${state}`);
    const journal = async () => (await world().store.decisions.list({ subject: "token/a" }, 10, soon())).map(({ verdict }) => verdict);

    it("are found by hash, listed by name, replaced and removed", async () => {
      const { tokens } = world().store;
      await tokens.put(aToken({ name: "b" }), undefined, soon());
      const made = await tokens.put(aToken({ name: "a", role: "operator" }), undefined, soon());
      expect((await tokens.readHashes(soon())).get("hash-a")).toEqual({ name: "a", role: "operator", endsInMs: undefined });
      expect(await tokens.list(soon())).toEqual([made, expect.objectContaining({ name: "b" })]);
      expect(made).toEqual({
        ...{ name: "a", role: "operator", state: "active", owner: "the team", createdBy: "anna", createdAt: expect.any(Number) },
        ...{ expiresAt: undefined, lastUsedAt: undefined, revokedAt: undefined },
      });
      await tokens.put(aToken({ name: "a", role: "approver", hash: "hash-new" }), undefined, soon());
      expect((await tokens.readHashes(soon())).get("hash-a")).toBeUndefined();
      expect((await tokens.readHashes(soon())).get("hash-new")).toMatchObject({ name: "a", role: "approver" });
      await tokens.remove("a", soon());
      await tokens.remove("a", soon());
      expect(await states()).toEqual(["b active"]);
    });

    it("keep what their role is limited to, until they are replaced without", async () => {
      const { tokens } = world().store;
      const limited = { name: "a", role: "operator", scope: { classes: ["eu/shared/public"], workspaces: ["team-*"] } } as const;
      const made = await tokens.put(aToken(limited), undefined, soon());
      expect(made).toMatchObject(limited);
      expect((await tokens.readHashes(soon())).get("hash-a")).toEqual({ ...limited, endsInMs: undefined });
      expect(await tokens.list(soon())).toEqual([made]);
      await tokens.put(aToken({ name: "a", role: "operator" }), undefined, soon());
      expect((await tokens.readHashes(soon())).get("hash-a")).toEqual({ name: "a", role: "operator", endsInMs: undefined });
    });

    it("end when they should, and say until then how long they last", async () => {
      const { tokens } = world().store;
      const { createdAt, expiresAt } = await tokens.put(aToken({ name: "a", lifetimeMs: HOUR_MS }), undefined, soon());
      expect(Number(expiresAt) - createdAt).toBe(HOUR_MS);
      const { endsInMs = 0 } = (await tokens.readHashes(soon())).get("hash-a") ?? {};
      expect(endsInMs).toBeGreaterThan(HOUR_MS - 60_000);
      expect(endsInMs).toBeLessThanOrEqual(HOUR_MS);
      await tokens.put(aToken({ name: "b", lifetimeMs: SHORT_MS }), undefined, soon());
      await eventually(async () => expect(await states()).toEqual(["a active", "b expired"]));
      expect(await hashes()).toEqual(["hash-a"]);
    });

    it("are revoked once, which the journal says, and can be made anew", async () => {
      const { tokens } = world().store;
      await tokens.put(aToken({ name: "a", lifetimeMs: HOUR_MS }), entry("TOKEN_CREATED"), soon());
      expect(await tokens.revoke("a", entry("TOKEN_REVOKED"), soon())).toBe(true);
      expect(await tokens.revoke("a", entry("TOKEN_REVOKED"), soon())).toBe(false);
      expect(await tokens.revoke("nobody", entry("TOKEN_REVOKED"), soon())).toBe(false);
      expect(await hashes()).toEqual([]);
      expect((await tokens.list(soon()))[0]).toMatchObject({ state: "revoked", revokedAt: expect.any(Number) });
      expect(await journal()).toEqual(["TOKEN_REVOKED", "TOKEN_CREATED"]);
      await tokens.put(aToken({ name: "a" }), entry("TOKEN_CREATED"), soon());
      expect(await states()).toEqual(["a active"]);
      expect((await tokens.list(soon()))[0]).toMatchObject({ revokedAt: undefined, expiresAt: undefined });
    });

    it("say when they were used last, to a minute", async () => {
      const { tokens } = world().store;
      await tokens.put(aToken({ name: "a" }), undefined, soon());
      await tokens.put(aToken({ name: "b" }), undefined, soon());
      await tokens.recordUse([], soon());
      await tokens.recordUse(["hash-a", "hash-nobody"], soon());
      const first = await tokens.list(soon());
      expect(first.map(({ lastUsedAt }) => lastUsedAt)).toEqual([expect.any(Number), undefined]);
      await tokens.recordUse(["hash-a"], soon());
      expect(await tokens.list(soon())).toEqual(first);
    });
  });
}
