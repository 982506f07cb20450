export interface FaultMatch {
  readonly method?: string;
  /** Tested against path and query, e.g. /secrets\/a$/ or /watch=true/. */
  readonly path?: RegExp;
  /** How many requests it hits; default 1. */
  readonly times?: number;
}

/** What can go wrong. Everything is off until asked for, and hits the requests that come after. */
export interface Faults {
  /** Answers with this status instead of doing anything. */
  fail(fault: FaultMatch & { readonly status: number; readonly reason?: string; readonly retryAfterSeconds?: number }): void;
  /** Does what was asked and then breaks the connection instead of answering. */
  loseReply(fault: FaultMatch): void;
  /** Breaks the connection without doing anything. */
  breakConnection(fault: FaultMatch): void;
  /** Breaks every connection, whatever is asked, until the returned function is called. */
  breakAll(): () => void;
  /** Lets matching requests wait until the returned function is called. */
  hold(fault: FaultMatch): () => void;
  /** Ends all open watches as the server does under load: no error, no bookmark. */
  endWatches(): void;
  /** Resets the connections of all open watches. */
  resetWatches(): void;
  /** Open watches stay open and nothing more comes out of them; watches opened later are silent too, until `unsilenceWatches`. */
  silenceWatches(): void;
  unsilenceWatches(): void;
  /** Forgets all history: watches and continue tokens from before are answered with 410. */
  compact(): void;
  /** `compact`, and tells open watches so with an ERROR event. */
  expireWatches(): void;
  /** Sends a bookmark to all watches that asked for bookmarks. */
  bookmark(): void;
}

export type Verdict =
  | { readonly kind: "serve" }
  | { readonly kind: "fail"; readonly status: number; readonly reason: string | undefined; readonly retryAfterSeconds: number | undefined }
  | { readonly kind: "loseReply" }
  | { readonly kind: "break" }
  | { readonly kind: "hold"; readonly released: Promise<void> };

interface Pending {
  readonly match: FaultMatch;
  readonly verdict: Verdict;
  left: number;
}

/** The queue of ordered faults: the oldest one that matches a request decides what happens to it. */
export function createFaultQueue() {
  const pending: Pending[] = [];
  const add = (match: FaultMatch, verdict: Verdict) => void pending.push({ match, verdict, left: match.times ?? 1 });
  return {
    fail: (fault: Parameters<Faults["fail"]>[0]) =>
      add(fault, { kind: "fail", status: fault.status, reason: fault.reason, retryAfterSeconds: fault.retryAfterSeconds }),
    loseReply: (fault: FaultMatch) => add(fault, { kind: "loseReply" }),
    breakConnection: (fault: FaultMatch) => add(fault, { kind: "break" }),
    hold(fault: FaultMatch): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      const held: Pending = { match: fault, verdict: { kind: "hold", released: promise }, left: fault.times ?? 1 };
      pending.push(held);
      return () => {
        held.left = 0;
        resolve();
      };
    },
    breakAll(): () => void {
      const all: Pending = { match: {}, verdict: { kind: "break" }, left: Number.POSITIVE_INFINITY };
      pending.push(all);
      return () => {
        all.left = 0;
      };
    },
    next(method: string, url: string): Verdict {
      const hit = pending.find(({ match, left }) => left > 0 && (match.method ?? method) === method && (match.path?.test(url) ?? true));
      if (hit === undefined) return { kind: "serve" };
      hit.left--;
      return hit.verdict;
    },
  };
}
