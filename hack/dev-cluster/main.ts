import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { InputError } from "../../src/domain/errors.ts";
import { type BuildProgress, buildSet } from "./build.ts";
import { startDevCluster } from "./dev-cluster.ts";
import { allSets } from "./go-sets.ts";
import { stopEverything } from "./state-directory.ts";

const usage = `The development cluster: Kubernetes API servers and a node whose pods are local processes.

  node hack/dev-cluster/main.ts build [SET…]                 build kubernetes, tools, kustomize-<version> … (default: all)
  node hack/dev-cluster/main.ts up --state DIR [NAME…]       start clusters (default: main) and stay until interrupted
  node hack/dev-cluster/main.ts down --state DIR             end what runs there
`;

const progress: BuildProgress = ({ set, step, seconds, done }) => {
  if (done || seconds % 10 === 0) process.stdout.write(`${set}: ${step} ${done ? "built in" : "building,"} ${seconds} s\n`);
};

async function build(sets: readonly string[], signal: AbortSignal): Promise<void> {
  for (const set of sets.length > 0 ? sets : allSets()) process.stdout.write(`${(await buildSet(set, { progress }, signal)).directory}\n`);
}

async function up(stateDir: string, names: readonly string[], interrupted: AbortController): Promise<void> {
  const clusters = (names.length > 0 ? names : ["main"]).map((name) => ({ name }));
  const cluster = await startDevCluster({ stateDir, clusters, endsWithUs: false, progress }, interrupted.signal);
  for (const api of cluster.apis.values()) process.stdout.write(`${api.name}: KUBECONFIG=${api.adminKubeconfig}\n`);
  const alive = setInterval(() => undefined, 3_600_000);
  await new Promise((done) => (interrupted.signal.aborted ? done(undefined) : interrupted.signal.addEventListener("abort", done)));
  clearInterval(alive);
  await cluster.stop();
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { state: { type: "string" } } });
  const [command, ...names] = positionals;
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
  if (command === "build") return await build(names, interrupted.signal);
  if (command === "up" || command === "down") {
    if (values.state === undefined)
      throw new InputError(`Reading the options of ${command}`, {
        code: "dev.no-state",
        path: "--state",
        remedy: "name a folder to keep the clusters in",
      });
    if (command === "up") return await up(resolve(values.state), names, interrupted);
    process.stdout.write(`${await stopEverything(resolve(values.state))} processes ended\n`);
    return;
  }
  process.stdout.write(usage);
}

await main().catch((error: unknown) => {
  process.exitCode = 1;
  const text = error instanceof InputError ? `${error.message}: ${error.remedy}` : error instanceof Error ? error.message : String(error);
  process.stderr.write(`${text}\n`);
});
