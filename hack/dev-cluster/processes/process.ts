import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { UnavailableError } from "../../../src/domain/errors.ts";
import { sha256 } from "../../../src/domain/hash.ts";
import { commandLine, parseStat, startTicks } from "./proc.ts";

/** A program to run. It outlives this process unless it is set to end with it. */
export interface ProcessSpec {
  /** Its own folder, for its process id, its command and its exit code. */
  readonly directory: string;
  readonly command: string;
  readonly args: readonly string[];
  /** A program with its arguments that becomes this one, such as nsenter(1). */
  readonly via?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** File its output is appended to. */
  readonly log: string;
  /** Whether it is ended when this process is gone, however that happened. */
  readonly endsWithUs: boolean;
}

export interface DevProcess {
  readonly pid: number;
  isAlive(): boolean;
  /** Does nothing once the process is gone. */
  signal(name: NodeJS.Signals): void;
  /** Its exit code once it is gone: 128 + n after signal n, 255 if nobody saw how it ended. */
  readonly ended: Promise<number>;
}

/**
 * The guardian: a shell that stays as the parent of each program. It records the program's id and how it ended, so
 * that a later process can read both, and it ends the program's own children (for example git) with it. It leads a
 * process group that has nothing else in it, so `kill 0` cannot hit another process. When this process dies,
 * descriptor 3 is closed, if there is one.
 */
const guardian = `
directory=$1; log=$2; shift 2
"$@" >>"$log" 2>&1 </dev/null 3<&- &
program=$!
read -r line </proc/$program/stat && echo "$line" >"$directory/process"
if [ -n "$GUARDIAN_WATCHES" ]; then
  (read -r line <&3; kill -TERM $program; sleep 8; kill -KILL 0) 2>/dev/null &
fi
exec 3<&-
wait $program
echo $? >"$directory/exit"
kill -KILL 0
`;

/** Starts a program. Resolves as soon as it has a process id. */
export async function startProcess(spec: ProcessSpec): Promise<DevProcess> {
  mkdirSync(spec.directory, { recursive: true });
  for (const file of ["process", "exit"]) rmSync(join(spec.directory, file), { force: true });
  writeFileSync(join(spec.directory, "command.json"), fingerprint(spec));
  const child = spawn("/bin/sh", ["-c", guardian, "guardian", spec.directory, spec.log, ...(spec.via ?? []), spec.command, ...spec.args], {
    cwd: spec.cwd,
    env: { ...spec.env, ...(spec.endsWithUs ? { GUARDIAN_WATCHES: "yes" } : {}) },
    detached: true,
    stdio: ["ignore", "ignore", "ignore", spec.endsWithUs ? "pipe" : "ignore"],
  });
  child.unref();
  (child.stdio[3] as { unref?: () => void } | null)?.unref?.();
  const failed = new Promise<never>((_, reject) =>
    child.once("error", (cause) => reject(new UnavailableError(`Starting ${spec.command}`, { code: "dev.spawn", cause }))),
  );
  return await Promise.race([failed, whenStarted(spec, child)]);
}

/** The program that was started with `directory`, if it still runs, whoever started it. */
export function findProcess(directory: string): DevProcess | undefined {
  const recorded = parseStat(read(directory, "process"));
  if (recorded === undefined || startTicks(recorded.pid) !== recorded.startTicks) return undefined;
  const command = (JSON.parse(read(directory, "command.json") || "[]") as readonly string[])[0];
  return commandLine(recorded.pid).includes(command ?? "") ? follow(directory, recorded, undefined) : undefined;
}

/** Whether the program of `spec.directory` was started with the same command and environment. */
export function isSameProgram(spec: ProcessSpec): boolean {
  return read(spec.directory, "command.json") === fingerprint(spec);
}

/** How the program of `directory` ended. `undefined`: it runs, or was never started. */
export function exitCodeOf(directory: string): number | undefined {
  const text = read(directory, "exit");
  return text.endsWith("\n") ? Number(text) : undefined;
}

/** Asks a program to end, and kills it after `graceMs`. Resolves with its exit code when it is gone. */
export async function stopProcess(process: DevProcess, graceMs: number): Promise<number> {
  process.signal("SIGTERM");
  // A stopped program gets the signal only when it goes on.
  process.signal("SIGCONT");
  const kill = setTimeout(() => process.signal("SIGKILL"), graceMs);
  // Watching a process keeps this one from ending only where somebody waits for its end.
  const waiting = setInterval(() => undefined, 60_000);
  try {
    return await process.ended;
  } finally {
    clearTimeout(kill);
    clearInterval(waiting);
  }
}

async function whenStarted(spec: ProcessSpec, child: ChildProcess): Promise<DevProcess> {
  for (let waited = 0; waited < 2000; waited++) {
    const text = read(spec.directory, "process");
    const recorded = text.endsWith("\n") ? parseStat(text) : undefined;
    if (recorded !== undefined) return follow(spec.directory, recorded, child);
    // It may end before anybody could observe it.
    if (exitCodeOf(spec.directory) !== undefined) return follow(spec.directory, { pid: 0, startTicks: -1 }, child);
    await sleep(5);
  }
  throw new UnavailableError(`Starting ${spec.command}`, { code: "dev.spawn", context: { directory: spec.directory } });
}

function follow(
  directory: string,
  who: { readonly pid: number; readonly startTicks: number },
  child: ChildProcess | undefined,
): DevProcess {
  const isAlive = () => who.pid > 0 && startTicks(who.pid) === who.startTicks;
  return {
    pid: who.pid,
    isAlive,
    signal(name) {
      if (!isAlive()) return;
      try {
        process.kill(who.pid, name);
      } catch {
        // It ended between the check and the signal.
      }
    },
    ended: whenEnded(directory, isAlive, child),
  };
}

async function whenEnded(directory: string, isAlive: () => boolean, child: ChildProcess | undefined): Promise<number> {
  const guardianEnd = new AbortController();
  child?.once("exit", () => guardianEnd.abort());
  // Usually the guardian ends right after the program. If somebody killed only the guardian, the program goes on and
  // is polled like one that was found running. So the end of the guardian cuts one pause short, not all of them.
  while (isAlive() && !guardianEnd.signal.aborted) await pause(guardianEnd.signal);
  while (isAlive()) await pause();
  // A guardian that is still there notes the exit code, on a full machine seconds later. Whoever starts the program again before that would read it
  // as the end of the new one.
  const tries = child === undefined || guardianEnd.signal.aborted ? 40 : 2_000;
  for (let tried = 0; tried < tries && exitCodeOf(directory) === undefined; tried++) await sleep(5);
  return exitCodeOf(directory) ?? 255;
}

/** Time between two checks. Ends at once when `cut` aborts. Keeps no process alive. */
async function pause(cut?: AbortSignal): Promise<void> {
  await sleep(200, undefined, { ref: false, ...(cut === undefined ? {} : { signal: cut }) }).catch(() => undefined);
}

/** The environment may hold secrets, so only its hash is stored. */
function fingerprint(spec: ProcessSpec): string {
  return JSON.stringify([spec.command, sha256(JSON.stringify([spec.args, spec.env, ...(spec.via ?? [])]))]);
}

function read(directory: string, file: string): string {
  try {
    return readFileSync(join(directory, file), "utf8");
  } catch {
    return "";
  }
}
