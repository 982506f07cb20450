import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const INODE = 9;

/** Which of these processes has the connection from this port of 127.0.0.1, by the kernel's tables (proc(5)). */
export function whoSends(port: number, pids: readonly number[]): number | undefined {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const sockets = new Set(rows.filter(([, from]) => from === local).map((row) => `socket:[${row[INODE]}]`));
  return pids.find((pid) => descriptors(pid).some((descriptor) => sockets.has(descriptor)));
}

/** The open files of a process. Empty if it is gone; a file that was closed between the two reads is left out. */
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
