import { describe, expect, it } from "vitest";
import { type AuditEntry, auditLine, auditText, LONGEST_DETAILS } from "../../../domain/audit.ts";
import { createAuditCheck } from "../../../domain/audit-check.ts";
import { type Millis, millis } from "../../../domain/clock.ts";
import { sha256 } from "../../../domain/hash.ts";
import type { AuditFilter, AuditPage } from "../../audit/port.ts";
import { aFleet, anAuditEntry, aPool } from "../builders.ts";
import { soon, type World } from "../world.ts";

const FUTURE = millis(4_000_000_000_000);

export function describeAudit(world: () => World): void {
  const append = (over: Partial<AuditEntry> = {}) => world().store.audit.append(anAuditEntry(over), soon());
  const all = () => world().store.audit.list({}, { limit: 1000, order: "oldest-first" }, soon());
  const check = async () => {
    const trail = createAuditCheck();
    for (const record of await all()) trail.add(auditText(auditLine(record)));
    return trail.report();
  };

  describe("the audit trail", () => {
    it("numbers and chains records, whatever text they hold", async () => {
      const odd = 'quote " slash \\ / line\nfeed \u0001\u007f\u2028 ü € 🚢';
      const entries = [
        anAuditEntry({ outcome: "asked", details: { body: { [odd]: odd, 10: 1, 9: [0.5, -1, true, null, {}] }, empty: [] } }),
        anAuditEntry({ actor: odd, action: odd, target: odd, code: odd, remote: odd, role: odd }),
        anAuditEntry({ answers: 1, count: 12 }),
      ];
      for (const [index, entry] of entries.entries()) expect(await world().store.audit.append(entry, soon())).toBe(index + 1);
      expect(await all()).toMatchObject(entries.map((entry, index) => ({ ...entry, seq: index + 1 })));
      expect(await check()).toMatchObject({ ok: true, records: 3, first: 1, last: 3, unanswered: [] });
    });

    it("keeps what no text can hold as a mark, and is whole all the same", async () => {
      await append({ actor: "nul\u0000", details: { nul: "\u0000", half: "\ud800", "\udc00": 1 } });
      const [record] = await all();
      expect(record).toMatchObject({ actor: "nul\ufffd", details: { nul: "\u0000", half: "\ufffd", "\ufffd": 1 } });
      expect(await check()).toMatchObject({ ok: true });
    });

    it("has one chain without gaps when many write at once", async () => {
      const numbers = await Promise.all(Array.from({ length: 40 }, (_, index) => append({ actor: `a-${index}` })));
      expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
      expect(await check()).toMatchObject({ ok: true, records: 40 });
    });

    it("is listed by page in either order, and by who, what, when and outcome", async () => {
      for (const actor of ["ada", "bob", "ada"])
        await append({ actor, action: `by-${actor}`, outcome: actor === "bob" ? "refused" : "ok" });
      const list = async (filter: AuditFilter, page: AuditPage) =>
        (await world().store.audit.list(filter, page, soon())).map(({ seq }) => seq);
      const rest = { limit: 10, order: "oldest-first" } as const;
      expect(await list({}, { ...rest, limit: 2 })).toEqual([1, 2]);
      expect(await list({}, { ...rest, from: 2 })).toEqual([3]);
      expect(await list({}, { limit: 2, order: "newest-first" })).toEqual([3, 2]);
      expect(await list({}, { limit: 2, order: "newest-first", from: 2 })).toEqual([1]);
      expect(await list({ actor: "ada" }, rest)).toEqual([1, 3]);
      expect(await list({ action: "by-bob", outcome: "refused" }, rest)).toEqual([2]);
      expect(await list({ since: FUTURE }, rest)).toEqual([]);
    });

    it("cuts details that are too long, and says what the whole was by its hash", async () => {
      const details = { list: Array.from({ length: 10_000 }, (_, index) => ({ index, text: "some text" })), after: "short" };
      await append({ details });
      const [record] = await all();
      const { list, after, cut } = record!.details as { list: unknown[]; after: string; cut: object };
      expect(auditText(record!.details).length).toBeLessThanOrEqual(LONGEST_DETAILS);
      expect([list.length > 1000, list, after]).toEqual([true, details.list.slice(0, list.length), "short"]);
      expect(cut).toEqual({ characters: auditText(details).length, sha256: sha256(auditText(details)) });
      expect(await check()).toMatchObject({ ok: true });
    });

    it("has every declaration of a fleet with all that it changed, in the transaction of the change", async () => {
      const { fleet } = world().store;
      await fleet.applyFleet(aFleet({ pools: [aPool("a")] }), "ada", soon());
      await fleet.applyFleet(aFleet({ pools: [aPool("a", { instances: { min: 4, max: 9 } })] }), "bob", soon());
      await fleet.applyFleet(aFleet({ pools: [aPool("a", { instances: { min: 4, max: 9 } })] }), "bob", soon());
      const records = await all();
      expect(records).toHaveLength(2);
      expect(records[0]).toMatchObject({ actor: "ada", via: "argosy", action: "declareFleet", details: { revision: 1 } });
      const { changes } = records[0]!.details as { changes: readonly { path: string; after: unknown }[] };
      expect(changes.find(({ path }) => path === "pools.a")).toMatchObject({
        change: "added",
        after: { name: "a", engineClusters: aPool("a").engineClusters },
      });
      expect(records[1]).toMatchObject({ actor: "bob", details: { revision: 2 } });
      expect(records[1]?.details["changes"]).toEqual([
        {
          ...{ path: "pools.a", change: "changed" },
          fields: [
            { path: "instances.max", before: aPool("a").instances.max, after: 9 },
            { path: "instances.min", before: aPool("a").instances.min, after: 4 },
          ],
        },
      ]);
      expect(await check()).toMatchObject({ ok: true });
    });

    it("is not shortened by what is younger than thirty days", async () => {
      for (let count = 0; count < 3; count += 1) await append();
      expect(await world().store.retention.forgetAudit(FUTURE, 10, soon())).toBe(0);
      expect(await all()).toHaveLength(3);
    });
  });
}

/** What retention does to a trail whose first `count` records are of `old`, and the only other one is young. */
export async function forgetsTheOldest({
  store,
  old,
  count,
}: {
  readonly store: World["store"];
  readonly old: Millis;
  readonly count: number;
}): Promise<void> {
  const all = () => store.audit.list({}, { limit: 1000, order: "oldest-first" }, soon());
  const report = async (fromHash?: string) => {
    const trail = createAuditCheck(fromHash);
    for (const record of await all()) trail.add(auditText(auditLine(record)));
    return trail.report();
  };
  const before = await all();
  expect(await store.retention.forgetAudit(old, 10, soon())).toBe(0);
  expect(await store.retention.forgetAudit(millis(old + 1), count - 1, soon())).toBe(count - 1);
  expect(await store.retention.forgetAudit(millis(old + 1), count, soon())).toBe(1);
  expect(await store.retention.forgetAudit(millis(old + 1), count, soon())).toBe(0);
  const after = await all();
  expect(after.slice(0, -2)).toEqual(before.slice(count));
  expect(after.at(-1)).toMatchObject({ actor: "retention", via: "argosy", details: { through: count, hash: before[count - 1]?.hash } });
  expect(await report()).toMatchObject({ ok: true, first: count + 1, forgotten: count });
  expect(await report(before[count - 1]?.hash)).toMatchObject({ ok: true });
  expect(await report(before[0]?.hash)).toMatchObject({ ok: false, fault: { code: "REWRITTEN" } });
}
