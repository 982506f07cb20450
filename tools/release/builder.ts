import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { runProgram } from "./run-program.ts";

/** Buildah with a storage of its own: what the machine's engines hold is neither read nor changed. */
export interface Builder {
  run(args: readonly string[], signal: AbortSignal): Promise<string>;
}

/**
 * Opens buildah's storage below a folder of the cache. It needs root and nothing else: no daemon, no overlay file systems, no namespaces. What a
 * builder that was killed left there is removed; the caller holds the lock of the folder.
 */
export async function openBuilder(directory: string, signal: AbortSignal): Promise<Builder> {
  await mkdir(directory, { recursive: true });
  const storage = ["--root", join(directory, "storage"), "--runroot", join(directory, "run"), "--storage-driver", "vfs"];
  const env = { ...process.env, BUILDAH_ISOLATION: "chroot", TMPDIR: join(directory, "tmp") };
  await mkdir(env.TMPDIR, { recursive: true });
  const run: Builder["run"] = async (args, until) =>
    (await runProgram("buildah", [...storage, ...args], { env, name: `buildah ${args[0] ?? ""}` }, until)).toString("utf8").trim();
  await unmountBelow(directory, signal);
  await run(["rm", "--all"], signal);
  return { run };
}

/** A debootstrap that was killed leaves /proc mounted, and nothing below it could be removed. */
async function unmountBelow(directory: string, signal: AbortSignal): Promise<void> {
  for (const place of mountsBelow(directory, await readFile("/proc/self/mounts", "utf8"))) await runProgram("umount", [place], {}, signal);
}

/** The places below a folder that something is mounted at, the deepest first. */
export function mountsBelow(directory: string, mounts: string): readonly string[] {
  const places = mounts
    .split("\n")
    .map((line) => (line.split(" ")[1] ?? "").replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))));
  return places
    .filter((place) => place.startsWith(`${directory}/`))
    .sort()
    .reverse();
}
