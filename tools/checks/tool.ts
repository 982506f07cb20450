import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";

export interface Answer {
  readonly status: number;
  /** Standard output and standard error, as they came. */
  readonly output: string;
}

/** Runs a Node.js program of the checkout to its end. */
export async function runTool(program: string, args: readonly string[], signal: AbortSignal): Promise<Answer> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"], signal });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  const [status] = (await once(child, "close")) as [number | null];
  return { status: status ?? 1, output: Buffer.concat(chunks).toString("utf8").trim() };
}
