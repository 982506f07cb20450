import { millis } from "../../../domain/clock.ts";
import type { MemberId } from "../../../domain/ids.ts";
import type { Lease, MemberStore } from "../../member/port.ts";
import type { Transact, Transaction } from "./tables.ts";

export function createMemoryMemberStore(transact: Transact): MemberStore {
  return {
    heartbeat: (id, roles, ttlMs, signal) =>
      transact(signal, (transaction) => {
        const { tables, now, notify } = transaction;
        const before = tables.members.get(id);
        if (before === undefined || before.expires <= now() || before.roles.join() !== roles.join()) notify("member", id);
        tables.members.set(id, { ...before, roles, expires: millis(now() + ttlMs) });
        return alive(transaction);
      }),
    leave: (id, signal) =>
      transact(signal, ({ tables, notify }) => {
        if (tables.members.delete(id)) notify("member", id);
      }),
    recordAccount: (id, account, signal) =>
      transact(signal, ({ tables }) => {
        const member = tables.members.get(id);
        if (member !== undefined) tables.members.set(id, { ...member, account });
        return member !== undefined;
      }),
    listLive: (signal) =>
      transact(signal, ({ tables, now }) =>
        [...tables.members]
          .filter(([, { expires }]) => expires > now())
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([id, { roles, account }]) => ({ id, roles, account })),
      ),
    acquire: (key, holder, ttlMs, signal) => transact(signal, (transaction) => acquire(transaction, { key, holder, ttlMs })),
    release: (lease, signal) => transact(signal, (transaction) => release(transaction, lease)),
  };
}

function alive({ tables, now }: Transaction): ReadonlyMap<string, readonly MemberId[]> {
  const byRole = new Map<string, MemberId[]>();
  for (const [id, { roles, expires }] of [...tables.members].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (expires <= now()) tables.members.delete(id);
    else for (const role of new Set(roles)) byRole.set(role, [...(byRole.get(role) ?? []), id]);
  }
  return byRole;
}

function acquire(
  { tables, now }: Transaction,
  { key, holder, ttlMs }: { readonly key: string; readonly holder: MemberId; readonly ttlMs: number },
): Lease | undefined {
  const held = tables.leases.get(key);
  const isHeld = held !== undefined && held.expires > now();
  if (isHeld && held.lease.holder !== holder) return undefined;
  // A renewal keeps the number; whoever lost the lease for a moment, even to nobody, gets a new one.
  const lease = isHeld ? held.lease : { key, holder, fence: (held?.lease.fence ?? 0) + 1 };
  tables.leases.set(key, { lease, expires: millis(now() + ttlMs) });
  return lease;
}

function release({ tables, now }: Transaction, { key, holder, fence }: Lease): void {
  const held = tables.leases.get(key);
  // The row stays, or its number would start anew.
  if (held?.lease.holder === holder && held.lease.fence === fence) tables.leases.set(key, { ...held, expires: now() });
}
