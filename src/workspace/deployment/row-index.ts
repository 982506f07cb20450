import type { ApplicationId } from "../../domain/ids.ts";

/** Which rows there may be for which resource, as far as this process has seen. Lost on a restart and found again by the sweep. */
export interface RowIndex {
  /** A resource of this key had this uid: there may be a row. */
  saw(key: string, uid: string): void;
  /**
   * There is a row. `request`: what this process has just made it hold (see `requestOf`), or seen that it holds. `listed`: what it held when rows were listed, which may
   * be a while ago: what this process recorded itself is believed before that.
   */
  recorded(
    key: string,
    row: { readonly uid: string; readonly applicationId: ApplicationId; readonly request?: string; readonly listed?: ListedRequest },
  ): void;
  hasRow(uid: string): boolean;
  /** The resource is let in, from this moment on. */
  admit(uid: string): void;
  /** Whether the resource was let in, be it that its row is still being made. */
  isAdmitted(uid: string): boolean;
  /** Whether exactly that request was recorded. */
  hasRequest(uid: string, request: string): boolean;
  /** The row, if it was listed with exactly this, and this process has neither recorded it since nor forgotten what was listed. */
  listedWith(uid: string, listed: ListedRequest): ApplicationId | undefined;
  /** Forgets with which specifications rows were listed: others may have recorded them since. */
  forgetListed(): void;
  /** Sorted. */
  uidsOf(key: string): readonly string[];
  keyOf(applicationId: ApplicationId): string | undefined;
  /** The resource is gone and its row marked. Its key stays known by the row's id until the row is gone too. */
  departed(key: string, uid: string): void;
  /** Forgets what is neither there (`isPresent`) nor has a row. */
  keepOnly(rows: ReadonlyMap<ApplicationId, string>, isPresent: (key: string, uid: string) => boolean): void;
}

/** What a row held when it was listed. */
export interface ListedRequest {
  /** See `requestOf`. */
  readonly request: string;
  /** `contentHash` of its specification; absent where it, or its workspace, is being deleted. */
  readonly specHash?: string | undefined;
}

interface Row {
  readonly key: string;
  readonly uid: string;
  readonly request: string | undefined;
  /** Whether this process recorded the request, or has seen that the row holds it. */
  readonly isOwn: boolean;
  /** Of the specification that it was listed with, until this process knows better. */
  specHash: string | undefined;
  missed: number;
}

/** A list of rows is older than what was recorded while it was read: a row has to be missing from two in a row. */
const LISTS = 2;

export function createRowIndex(): RowIndex {
  const uids = new Map<string, Set<string>>();
  const rows = new Map<ApplicationId, Row>();
  const byUid = new Map<string, ApplicationId>();
  const admitted = new Set<string>();
  const rowOf = (uid: string): Row | undefined => rows.get(byUid.get(uid) ?? ("" as ApplicationId));

  const departed = (key: string, uid: string): void => {
    const known = uids.get(key);
    known?.delete(uid);
    admitted.delete(uid);
    if (known?.size === 0) uids.delete(key);
  };
  return {
    saw(key, uid) {
      const known = uids.get(key);
      if (known === undefined) uids.set(key, new Set([uid]));
      else known.add(uid);
    },
    recorded(key, { uid, applicationId, listed, request }) {
      const known = rowOf(uid);
      const isOwn = request !== undefined || known?.isOwn === true;
      const held = isOwn ? known : (listed ?? known);
      rows.set(applicationId, {
        key,
        uid,
        isOwn,
        request: request ?? held?.request,
        specHash: isOwn ? undefined : held?.specHash,
        missed: 0,
      });
      byUid.set(uid, applicationId);
    },
    hasRow: (uid) => byUid.has(uid),
    admit: (uid) => void admitted.add(uid),
    isAdmitted: (uid) => admitted.has(uid) || byUid.has(uid),
    hasRequest: (uid, request) => rowOf(uid)?.request === request,
    listedWith(uid, { request, specHash }) {
      const row = rowOf(uid);
      return row?.specHash !== undefined && row.specHash === specHash && row.request === request ? byUid.get(uid) : undefined;
    },
    forgetListed() {
      for (const row of rows.values()) row.specHash = undefined;
    },
    uidsOf: (key) => [...(uids.get(key) ?? [])].sort(),
    keyOf: (applicationId) => rows.get(applicationId)?.key,
    departed,
    keepOnly(listed, isPresent) {
      for (const [id, row] of rows) {
        row.missed = listed.has(id) ? 0 : row.missed + 1;
        if (row.missed < LISTS) continue;
        rows.delete(id);
        byUid.delete(row.uid);
      }
      const withRow = new Set(listed.values());
      const isForgotten = (key: string, uid: string): boolean => !withRow.has(uid) && !byUid.has(uid) && !isPresent(key, uid);
      for (const [key, known] of uids) for (const uid of [...known].filter((each) => isForgotten(key, each))) departed(key, uid);
    },
  };
}
