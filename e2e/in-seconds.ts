/** A duration in milliseconds as the reports of stories tell it, such as `4.2 s`; `-` where it never ended. */
export function inSeconds(ms: number | undefined): string {
  return ms === undefined ? "-" : `${(ms / 1000).toFixed(1)} s`;
}
