import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { commandLine, readStat } from "../../hack/dev-cluster/processes/proc.ts";

/** What the processes of a run belong to, besides Argosy's own. */
export const PARTS = ["API server", "etcd", "database", "engine"] as const;
export type Part = (typeof PARTS)[number];

const TICKS_PER_SECOND = 100;

/** CPU seconds that each part's processes have used since their start, of a run whose files are in this directory. */
export function readParts(directory: string): Readonly<Record<Part, number>> {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const own = pids.flatMap((pid) => {
    const part = partOf(commandLine(pid), directory);
    return part === undefined ? [] : [{ pid, part }];
  });
  const databases = new Set(own.filter(({ part }) => part === "database").map(({ pid }) => pid));
  const backends = pids.filter((pid) => databases.has(parentOf(pid))).map((pid) => ({ pid, part: "database" as const }));
  const seconds = Object.fromEntries(PARTS.map((part) => [part, 0])) as Record<Part, number>;
  for (const { pid, part } of [...own, ...backends]) seconds[part] += (readStat(pid)?.cpuTicks ?? 0) / TICKS_PER_SECOND;
  // Connections come and go, and with each its process.
  for (const pid of databases) seconds.database += ticksOfChildren(pid) / TICKS_PER_SECOND;
  return seconds;
}

const PROGRAMS: Readonly<Record<string, Part>> = { "kube-apiserver": "API server", etcd: "etcd", postgres: "database" };

/** The part whose program this is; the guardian of a process, which is a shell, is none. */
export function partOf([command = "", ...args]: readonly string[], directory: string): Part | undefined {
  if (!args.some((arg) => arg.includes(directory))) return undefined;
  if (args.some((arg) => arg.endsWith("bench/engine/main.ts"))) return basename(command).startsWith("node") ? "engine" : undefined;
  return PROGRAMS[basename(command)];
}

function parentOf(pid: number): number {
  return fieldsOf(pid)[1] ?? 0;
}

/** Of children that have ended, in clock ticks: user and system time. */
function ticksOfChildren(pid: number): number {
  const fields = fieldsOf(pid);
  return (fields[13] ?? 0) + (fields[14] ?? 0);
}

/** The fields of `/proc/PID/stat` after the name, whose first is the state, as numbers (proc_pid_stat(5)). */
function fieldsOf(pid: number): readonly number[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
  } catch {
    return [];
  }
}
