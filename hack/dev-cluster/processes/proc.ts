import { readFileSync } from "node:fs";

/** What the kernel says about a process: some fields of `/proc/PID/stat` (proc_pid_stat(5)). */
export interface ProcStat {
  readonly pid: number;
  /** One letter. `Z`: it has ended and waits for its parent. `T`: it is stopped. */
  readonly state: string;
  /** When it was started, in clock ticks since boot. Together with the id this identifies a process. */
  readonly startTicks: number;
  /** User and system time together, in clock ticks (1/100 s). */
  readonly cpuTicks: number;
  /** The same of its children that have ended and were waited for, and of theirs. */
  readonly childTicks: number;
}

/** Parses one line of `/proc/PID/stat`. The name may have spaces and brackets, so fields are counted after its last bracket. */
export function parseStat(line: string): ProcStat | undefined {
  const end = line.lastIndexOf(")");
  const pid = Number.parseInt(line, 10);
  const fields = line.slice(end + 2).split(" ");
  const [state, startTicks] = [fields[0], Number(fields[19])];
  if (end < 0 || !Number.isInteger(pid) || state === undefined || !Number.isInteger(startTicks)) return undefined;
  return { pid, state, startTicks, cpuTicks: Number(fields[11]) + Number(fields[12]), childTicks: Number(fields[13]) + Number(fields[14]) };
}

export function readStat(pid: number): ProcStat | undefined {
  const text = readProc(pid, "stat");
  return text === undefined ? undefined : parseStat(text);
}

/** When the process was started, in ticks since boot. `undefined`: there is none, or it has ended and waits for its parent. */
export function startTicks(pid: number): number | undefined {
  const stat = readStat(pid);
  return stat === undefined || stat.state === "Z" || stat.state === "X" ? undefined : stat.startTicks;
}

/** Memory of the process in RAM, in bytes. */
export function residentBytes(pid: number): number | undefined {
  return bytesOf(readProc(pid, "status"), "VmRSS");
}

/** The most memory in RAM that the process ever had, in bytes. */
export function peakResidentBytes(pid: number): number | undefined {
  return bytesOf(readProc(pid, "status"), "VmHWM");
}

/** Memory of the process in RAM, in bytes; what several processes share counts in equal parts for each (proc_pid_smaps(5), Pss). */
export function proportionalBytes(pid: number): number | undefined {
  return bytesOf(readProc(pid, "smaps_rollup"), "Pss");
}

function bytesOf(text: string | undefined, name: string): number | undefined {
  const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text ?? "")?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

export function commandLine(pid: number): readonly string[] {
  return (readProc(pid, "cmdline") ?? "").split("\0").slice(0, -1);
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}
