import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const INODE = 9;

/** Which of these processes holds the connection that leaves 127.0.0.1 from a port, as the kernel has it (proc(5)). */
export function whoSends(port: number, pids: readonly number[]): number | undefined {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const sockets = new Set(rows.filter(([, from]) => from === local).map((row) => `socket:[${row[INODE]}]`));
  return pids.find((pid) => descriptors(pid).some((descriptor) => sockets.has(descriptor)));
}

/** What a process has open; nothing of one that is gone, or of a descriptor that was closed between the two reads. */
function descriptors(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => linkOf(`/proc/${pid}/fd/${name}`));
  } catch {
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
