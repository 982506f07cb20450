import type { MemberId } from "../../domain/ids.ts";

export interface Lease {
  readonly key: string;
  readonly holder: MemberId;
  /** Rises each time the lease changes hands; writes on its strength carry it. */
  readonly fence: number;
}

/** As whom a process acts on the API cluster, in that cluster's words. */
export interface MemberAccount {
  readonly user: string;
  readonly groups: readonly string[];
}

export interface LiveMember {
  readonly id: MemberId;
  readonly roles: readonly string[];
  /** Absent: it has not said so, as programs of before never do. */
  readonly account: MemberAccount | undefined;
}

/** Who is alive and who holds what, on the database's clock. */
export interface MemberStore {
  /** Says that `id` is alive with these roles; returns who is alive now by role, sorted. */
  heartbeat(id: MemberId, roles: readonly string[], ttlMs: number, signal: AbortSignal): Promise<ReadonlyMap<string, readonly MemberId[]>>;
  leave(id: MemberId, signal: AbortSignal): Promise<void>;
  /** Keeps beside a member's signs of life as whom it acts. False: it has given none, so that nothing was kept. */
  recordAccount(id: MemberId, account: MemberAccount, signal: AbortSignal): Promise<boolean>;
  /** Everybody who is alive, sorted by id. */
  listLive(signal: AbortSignal): Promise<readonly LiveMember[]>;
  /** Takes or renews a lease; `undefined` while somebody else holds it. */
  acquire(key: string, holder: MemberId, ttlMs: number, signal: AbortSignal): Promise<Lease | undefined>;
  release(lease: Lease, signal: AbortSignal): Promise<void>;
}
