import type { ChildProcess } from "node:child_process";
import process from "node:process";

/** Ends a child that was started as the leader of a group (`detached`) with all of its family, also what outlives it, such as a transport that hangs. */
export function killGroup({ pid }: Pick<ChildProcess, "pid">): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // There is nobody left in the group.
  }
}
