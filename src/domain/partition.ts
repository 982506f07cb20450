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

/** A process's share of the keys. Being wrong about it costs double work, never correctness. */
export interface Partition {
  isMine(key: string): boolean;
  /** Calls `listener` after the share may have changed; the returned function ends that. */
  onChange(listener: () => void): () => void;
}
