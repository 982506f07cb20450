import { spawn } from "node:child_process";
import { once } from "node:events";
import { UnavailableError } from "../../src/domain/errors.ts";

/** Path → content; `undefined` removes the file. */
export type Files = Readonly<Record<string, string | undefined>>;

/**
 * The environment that git runs in, without any configuration of the machine or the user. `home`: a folder without
 * configuration.
 */
export function gitEnvironment(home: string): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_TERMINAL_PROMPT: "0",
    LC_ALL: "C",
  };
}

/** Runs git and returns its output. Throws `UnavailableError` with its error output if it fails. */
export async function runGit(
  args: readonly string[],
  options: { readonly cwd: string; readonly home: string; readonly input?: string },
): Promise<string> {
  const child = spawn("git", args, { cwd: options.cwd, env: gitEnvironment(options.home), stdio: ["pipe", "pipe", "pipe"] });
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  // A git that ends before it has read everything reports the reason itself.
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.input ?? "");
  const [code] = (await once(child, "close")) as [number | null];
  if (code === 0) return Buffer.concat(out).toString("utf8");
  throw new UnavailableError(`Running git ${args[0] ?? ""}: ${Buffer.concat(err).toString("utf8").trim()}`, {
    code: "dev.git-failed",
    context: { exit: code ?? -1 },
  });
}

/** One commit on `main` as git-fast-import(1) reads it, on top of `parent` if there is one. */
export function fastImport(
  files: Files,
  commit: { readonly message: string; readonly seconds: number; readonly parent: string | undefined },
): string {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const changes = Object.entries(files).map(([path, content]) =>
    content === undefined ? `D ${quoted(path)}\n` : `M 644 inline ${quoted(path)}\n${data(content)}`,
  );
  const head = `commit refs/heads/main\ncommitter Development <development@localhost> ${commit.seconds} +0000\n${data(commit.message)}`;
  return `${head}${commit.parent === undefined ? "" : `from ${commit.parent}\n`}${changes.join("")}\n`;
}

function quoted(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
