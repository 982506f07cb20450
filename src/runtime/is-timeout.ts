/** Whether this is what `AbortSignal.timeout` rejects with: a deadline of one's own, not somebody's answer. */
export function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError";
}
