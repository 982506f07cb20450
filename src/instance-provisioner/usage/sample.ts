/** The controller's resident memory in bytes, as Go programs tell it of themselves. */
export const RESIDENT_MEMORY = "process_resident_memory_bytes";

/**
 * The value of a sample without labels, if a line of a metrics page (Prometheus text format) is that sample; `undefined` for
 * every other line. A page has a line for each application and more; only one is wanted.
 */
export function sampleOf(line: string, name: string): number | undefined {
  if (!line.startsWith(`${name} `)) return undefined;
  const text = /^\d+(\.\d+)?([eE][+-]?\d+)?(?=\s|$)/.exec(line.slice(name.length + 1).trimStart())?.[0];
  const value = text === undefined ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}
