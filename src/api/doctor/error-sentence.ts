/** What we were doing when it failed, and the deepest reason known; never a stack. */
export function errorSentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  let deepest: Error = error;
  while (deepest.cause instanceof Error) deepest = deepest.cause;
  return deepest === error || deepest.message === "" ? error.message : `${error.message}: ${deepest.message}`;
}
