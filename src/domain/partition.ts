import { sha256 } from "./hash.ts";

/**
 * Which of the live members should work on a key: rendezvous hashing, so that a member that comes or goes changes the
 * owner of its own share only. Two members may disagree for a moment; that costs double work, never correctness.
 * Returns `undefined` when nobody is alive.
 */
export function ownerOf<Member extends string>(key: string, members: readonly Member[]): Member | undefined {
  let best: { readonly member: Member; readonly score: string } | undefined;
  for (const member of members) {
    const score = sha256(`${member}|${key}`);
    if (best === undefined || score > best.score) best = { member, score };
  }
  return best?.member;
}

/** What a change of the live members has made of one member's share. */
export interface ShareChange {
  /** Whether a key may have been gained at all. Where it is false no key need be visited: what went to another member is that one's work. */
  readonly mayGain: boolean;
  /** Whether a key is this member's now and was not before. Nothing is known of what became of it meanwhile. */
  gained(key: string): boolean;
}

/**
 * Decides what a member gains when the live members change. Rendezvous hashing gives a key another owner only where its owner has gone or a member has come:
 * one that was there before gains nothing by others that come.
 */
export function shareChange<Member extends string>(
  member: Member,
  { before, now }: { readonly before: readonly Member[]; readonly now: readonly Member[] },
): ShareChange {
  const mayGain = now.includes(member) && !(before.includes(member) && before.every((each) => now.includes(each)));
  return { mayGain, gained: (key) => mayGain && ownerOf(key, now) === member && ownerOf(key, before) !== member };
}

/** A process's share of the keys. Being wrong about it costs double work, never correctness. */
export interface Partition {
  isMine(key: string): boolean;
  /** Calls `listener` after the share may have changed; the returned function ends that. */
  onChange(listener: (change: ShareChange) => void): () => void;
  /**
   * Says that whoever works on these keys has listed what it needs for that. Resolves when the share is known. Absent: the share is this process's from
   * the start.
   */
  readonly join?: () => Promise<void>;
}

/** What joining those that work on these keys will bring a process. */
export interface Prospect {
  /** Whether others work on the keys until this process has joined. */
  readonly isServed: boolean;
  /** Whether a key becomes this process's when it joins, as far as is known now. */
  willBeMine(key: string): boolean;
}
