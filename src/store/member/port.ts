import type { MemberId } from "../../domain/ids.ts";

export interface Lease {
  readonly key: string;
  readonly holder: MemberId;
  /** Rises each time the lease changes hands; writes on its strength carry it. */
  readonly fence: number;
}

/** Who is alive and who holds what, on the database's clock. */
export interface MemberStore {
  /** Says that `id` is alive with these roles; returns who is alive now by role, sorted. */
  heartbeat(id: MemberId, roles: readonly string[], ttlMs: number, signal: AbortSignal): Promise<ReadonlyMap<string, readonly MemberId[]>>;
  leave(id: MemberId, signal: AbortSignal): Promise<void>;
  /** Takes or renews a lease; `undefined` while somebody else holds it. */
  acquire(key: string, holder: MemberId, ttlMs: number, signal: AbortSignal): Promise<Lease | undefined>;
  release(lease: Lease, signal: AbortSignal): Promise<void>;
}
