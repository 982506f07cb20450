import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { cacheDirectory } from "../../hack/dev-cluster/build.ts";
import { errorText } from "../../src/cli/error-text.ts";
import { exitCodeOf } from "../../src/cli/exit-code.ts";
import { Interruption } from "../../src/cli/terminal.ts";
import { type Output, parseReleaseOptions, RELEASE_HELP, type ReleaseOptions } from "./options.ts";
import { createProgress } from "./progress.ts";
import { makeRelease } from "./release.ts";
import { renderReleased, renderVerdict } from "./report.ts";
import { readPublicKey } from "./signature.ts";
import { updatePackages } from "./update-packages.ts";
import { verifyRelease } from "./verify.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

const note = (line: string): void => void process.stderr.write(`release: ${line}\n`);
const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** `npm run release`. Resolves with the exit code: 1 as well for a release in which something differs. */
async function main(args: readonly string[], signal: AbortSignal): Promise<number> {
  const wanted = parseReleaseOptions(args);
  switch (wanted.what) {
    case "help":
      process.stdout.write(RELEASE_HELP);
      return 0;
    case "verify":
      return verify(wanted, signal);
    case "update-packages":
      return update(wanted.options, wanted.output, signal);
    case "release":
      return release(wanted.options, wanted.output, signal);
  }
}

async function release(options: ReleaseOptions, output: Output, signal: AbortSignal): Promise<number> {
  const place = { project: PROJECT, cache: cacheDirectory(), progress: createProgress(note), note };
  const released = await makeRelease(options, place, signal);
  print(output === "json" ? JSON.stringify(released, undefined, 2) : renderReleased(released));
  return 0;
}

interface Verifying {
  readonly directory: string;
  readonly publicKey: string | undefined;
  readonly output: Output;
}

async function verify({ directory, publicKey, output }: Verifying, signal: AbortSignal): Promise<number> {
  const key = publicKey === undefined ? undefined : await readPublicKey(publicKey);
  const verdict = await verifyRelease(directory, key);
  signal.throwIfAborted();
  print(output === "json" ? JSON.stringify(verdict, undefined, 2) : renderVerdict(verdict));
  return verdict.problems.length === 0 ? 0 : 1;
}

async function update({ mirrors }: ReleaseOptions, output: Output, signal: AbortSignal): Promise<number> {
  const file = join(PROJECT, "tools/release/image/debian-packages.json");
  const packages = await updatePackages(file, mirrors, signal);
  const counts = Object.entries(packages).map(([architecture, list]) => `${list.length} for ${architecture}`);
  print(output === "json" ? JSON.stringify(packages, undefined, 2) : `wrote the packages to ${file}: ${counts.join(", ")}`);
  return 0;
}

const ending = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => ending.abort(new Interruption(name)));

main(process.argv.slice(2), ending.signal).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    if (error instanceof Interruption) process.exitCode = error.exitCode;
    else {
      note(errorText(error));
      process.exitCode = exitCodeOf(error) === 2 || isUsage(error) ? 2 : 1;
    }
  },
);

function isUsage(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === "release.options";
}
