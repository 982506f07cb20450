import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { InputError } from "../../src/domain/errors.ts";
import { type BuildProgress, buildSet } from "./build.ts";
import { provideChartTools } from "./chart-tools/chart-tools.ts";
import { startDevCluster } from "./dev-cluster.ts";
import { allSets } from "./go-sets.ts";
import { NODES } from "./real-node/network-plan.ts";
import { prepareRealNodes } from "./real-node/real-cluster.ts";
import { stopEverything } from "./state-directory.ts";

const usage = `The development cluster: Kubernetes API servers and a node whose pods are local processes, or real nodes.

  node hack/dev-cluster/main.ts build [SET…]                 build kubernetes, tools, kustomize-<version> … (default: all);
                                                             real-node: what a real node runs, with its images;
                                                             chart-tools: Helm, kubeconform and the schemas of Kubernetes
  node hack/dev-cluster/main.ts up --state DIR [NAME…]       start clusters (default: main) and stay until interrupted
      --real-nodes N                                         with so many real nodes each, whose pods are containers
  node hack/dev-cluster/main.ts down --state DIR             end what runs there
`;

const progress: BuildProgress = ({ set, step, seconds, done }) => {
  if (done || seconds % 10 === 0) process.stdout.write(`${set}: ${step} ${done ? "built in" : "building,"} ${seconds} s\n`);
};

const REAL_NODE = "real-node";
const CHART_TOOLS = "chart-tools";

async function build(sets: readonly string[], signal: AbortSignal): Promise<void> {
  for (const set of sets.length > 0 ? sets : allSets())
    if (set === REAL_NODE) await prepareRealNodes({ say, obtain: (name, abort) => buildSet(name, { progress }, abort) }, signal);
    else if (set === CHART_TOOLS) say(Object.values(await provideChartTools({ progress }, signal)).join("\n"));
    else process.stdout.write(`${(await buildSet(set, { progress }, signal)).directory}\n`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

interface Up {
  readonly stateDir: string;
  readonly names: readonly string[];
  readonly realNodes: number;
}

async function up({ stateDir, names, realNodes }: Up, interrupted: AbortController): Promise<void> {
  const clusters = (names.length > 0 ? names : ["main"]).map((name) => ({ name, realNodes }));
  const cluster = await startDevCluster({ stateDir, clusters, endsWithUs: false, progress, say }, interrupted.signal);
  for (const api of cluster.apis.values()) process.stdout.write(`${api.name}: KUBECONFIG=${api.adminKubeconfig}\n`);
  const alive = setInterval(() => undefined, 3_600_000);
  await new Promise((done) => (interrupted.signal.aborted ? done(undefined) : interrupted.signal.addEventListener("abort", done)));
  clearInterval(alive);
  await cluster.stop();
}

function realNodesOf(text = "0"): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count <= NODES) return count;
  throw new InputError(`--real-nodes ${text}`, {
    code: "dev.real-nodes",
    path: "--real-nodes",
    remedy: `give a number from 0 to ${NODES}`,
  });
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { state: { type: "string" }, "real-nodes": { type: "string" } },
  });
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
    if (command === "up")
      return await up({ stateDir: resolve(values.state), names, realNodes: realNodesOf(values["real-nodes"]) }, interrupted);
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
