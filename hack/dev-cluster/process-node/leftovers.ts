import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findProcess, stopProcess } from "../processes/process.ts";

const graceMs = 3000;

/**
 * Ends the processes of pods that were deleted while no node ran, and deletes their files. `known`: folders of pods
 * that exist.
 */
export async function endStrangers(directory: string, known: ReadonlySet<string>): Promise<void> {
  const strangers = readdirSync(join(directory, "pods")).filter((name) => !known.has(name));
  for (const stranger of strangers.map((name) => join(directory, "pods", name))) {
    for (const container of readdirSync(stranger)) {
      const process = findProcess(join(stranger, container, "run"));
      if (process !== undefined) await stopProcess(process, graceMs);
    }
    rmSync(stranger, { recursive: true, force: true });
  }
}
