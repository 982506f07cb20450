const LONGEST = 500;

/** An error as the reason of a decision: what we were doing, and what the other side said to it. */
export function reasonOf(error: Error): string {
  const text = error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
