/** Formats a duration in ms as the reports of stories do, such as `4.2 s`; `-` for something that never ended. */
export function inSeconds(ms: number | undefined): string {
  return ms === undefined ? "-" : `${(ms / 1000).toFixed(1)} s`;
}
