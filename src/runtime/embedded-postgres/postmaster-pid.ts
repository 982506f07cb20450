/** What a running server says of itself in `postmaster.pid` of its data directory. */
export interface PostmasterPid {
  readonly pid: number;
  readonly dataDir: string;
  /** Absent until the server has chosen its port. */
  readonly port: number | undefined;
  readonly status: "starting" | "ready" | "stopping" | "standby" | "unknown";
}

const STATUSES = ["starting", "ready", "stopping", "standby"] as const;

/**
 * Reads the text of a `postmaster.pid`: one fact a line, in the order of PostgreSQL's `pidfile.h` (pid, data directory, start
 * time, port, socket directory, listen address, shared memory key, status padded to eight characters). The server writes it
 * line by line, so a file seen early is short: the missing facts are `undefined` or "unknown". `undefined` when there is no
 * pid in it.
 */
export function parsePostmasterPid(text: string): PostmasterPid | undefined {
  const lines = text.split("\n").map((line) => line.trim());
  const pid = positive(lines[0]);
  const dataDir = lines[1];
  if (pid === undefined || dataDir === undefined || dataDir === "") return undefined;
  return { pid, dataDir, port: positive(lines[3]), status: STATUSES.find((status) => status === lines[7]) ?? "unknown" };
}

// A standalone backend writes a negative pid: no server anybody can connect to.
function positive(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,10}$/.test(text)) return undefined;
  const value = Number(text);
  return value > 0 ? value : undefined;
}
