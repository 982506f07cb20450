import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import type { Question } from "./main.ts";

/**
 * Searches for secrets in its own process, so that nothing stays open in this one: it reads everything a run
 * produced. Resolves with what was searched. Rejects with what was found where.
 */
export async function askSecrecy(question: Question): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "main.ts")], { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(JSON.stringify(question));
  const [out, error, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  if (status !== 0) throw new Error(error);
  return out;
}
