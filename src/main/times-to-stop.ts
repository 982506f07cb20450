/** What a process needs to leave in order once no request is under way any more. In ms. */
const LEAVING_MS = 3_000;

/**
 * When a process that was asked to stop `goneMs` ago closes its API and cuts off requests that are still under way, each from now on, in
 * ms. It takes requests for `delayMs`, and ends all of them early enough to leave within `graceMs`; of a short grace they get half.
 */
export function timesToStop(
  { delayMs, graceMs }: { readonly delayMs: number; readonly graceMs: number },
  goneMs: number,
): { readonly closeInMs: number; readonly cutInMs: number } {
  const closeInMs = Math.max(0, delayMs - goneMs);
  const cutInMs = Math.max(graceMs - LEAVING_MS, graceMs / 2) - goneMs;
  return { closeInMs, cutInMs: Math.max(closeInMs, cutInMs) };
}
