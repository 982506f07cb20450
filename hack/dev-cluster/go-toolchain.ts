import { execFile, spawn } from "node:child_process";
import { promisify } from "node:util";
import { InputError, UnavailableError } from "../../src/domain/errors.ts";

const run = promisify(execFile);

/** The Go on this machine and how the sets are built with it. */
export interface GoToolchain {
  /** As `go env GOVERSION` says, e.g. `go1.26.8`. */
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Finds Go and the environment to build with: none of the caller's flags or workspace, no download of another
 * toolchain, and only the first proxy. With further proxies, a version that the first one refuses would be looked for
 * at a version-control host. If that cannot be reached, the answer takes minutes. Throws `InputError` if there is no
 * Go.
 */
export async function findGo(): Promise<GoToolchain> {
  const asked = await run("go", ["env", "GOVERSION", "GOPROXY"], { env: { ...process.env, GOTOOLCHAIN: "local" } }).catch(
    (cause: unknown) => {
      throw new InputError("Looking for Go", {
        code: "dev.no-go",
        path: "PATH",
        remedy: "install Go (https://go.dev/dl), which builds the development cluster",
        cause,
      });
    },
  );
  const [version = "", proxies = ""] = asked.stdout.trim().split("\n");
  const env = {
    ...process.env,
    GOFLAGS: "",
    GOWORK: "off",
    GOTOOLCHAIN: "local",
    CGO_ENABLED: "0",
    GOPROXY: proxies.split(/[,|]/)[0] ?? "",
  };
  return { version, env };
}

/** Whether Go `have` (`go1.26.8`) can build a module that asks for `need` (`1.26.3`). Missing parts count as 0. */
export function isGoNewEnough(have: string, need: string): boolean {
  const [a, b] = [have.replace(/^go/, ""), need].map((text) => text.split(/[.\-a-z]/).map((part) => Number(part) || 0));
  for (let part = 0; part < 3; part++) {
    const difference = (a?.[part] ?? 0) - (b?.[part] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** Runs `go` in `directory`. Throws `UnavailableError` with its last lines of output if it fails. */
export async function runGo(
  go: GoToolchain,
  job: { readonly directory: string; readonly args: readonly string[] },
  signal: AbortSignal,
): Promise<string> {
  const child = spawn("go", job.args, { cwd: job.directory, env: go.env, stdio: ["ignore", "pipe", "pipe"], signal });
  const output: Record<"out" | "err", Buffer[]> = { out: [], err: [] };
  child.stdout.on("data", (chunk: Buffer) => output.out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => output.err.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code === 0) return Buffer.concat(output.out).toString("utf8");
  const said = Buffer.concat(output.err).toString("utf8").trim().split("\n").slice(-8).join("\n");
  throw new UnavailableError(`Running go ${job.args[0] ?? ""} in ${job.directory}: ${said}`, {
    code: "dev.go-failed",
    context: { exit: code ?? -1 },
  });
}
