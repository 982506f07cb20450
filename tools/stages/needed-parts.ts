import type { ImportGraph } from "../imports/import-graph.ts";

/** What the suites run that is not of this project: Kubernetes, the sample engine with what renders for it, and small tools. */
export const ALL_PARTS: readonly string[] = ["kubernetes", "tools", "argo-cd-3.5.7", "kustomize-5.8.1", "helm-4.2.1"];

const BUILD = "hack/dev-cluster/build.ts";

/** What files have built that need less than everything. Whatever else names `build.ts` needs all: a pod may run any of it. */
export const FEW_PARTS: Readonly<Record<string, readonly string[]>> = {
  // Asks the setup of the contract suite, which builds for whom asks first.
  "src/runtime/kube/testing/real-api-server.ts": ["kubernetes"],
  "hack/dev-cluster/testing/contract-setup.ts": [],
  "e2e/target-cluster.ts": ["kubernetes"],
  "e2e/private-git.ts": ["tools"],
  "hack/git-server/git-ssh-server.contract.test.ts": ["tools"],
  // Build in a cache of their own, and what somebody names.
  "hack/dev-cluster/build.contract.test.ts": [],
  "hack/dev-cluster/build.test.ts": [],
  "hack/dev-cluster/main.ts": [],
  // Found by the names of tests, as a real node is.
  "hack/dev-cluster/chart-tools/chart-tools.ts": [],
  // Asks where the cache is.
  "tools/release/main.ts": [],
  // Starts a Git server that speaks SSH.
  "tools/release/image.contract.test.ts": ["tools"],
};

/** What tests on a real node run besides; made for no others, because much leads to its code without starting one. */
const REAL_NODE = "real-node";
const ON_REAL_NODES = /\/real-node[^/]*\.test\.ts$|^e2e\/chart\//;

/** What tests of the chart run besides. */
const CHART_TOOLS = "chart-tools";
const ON_CHARTS = /^(?:tools\/chart|hack\/dev-cluster\/chart-tools)\/.*\.contract\.test\.ts$|^e2e\/chart\//;

/** Everything that can be needed, in the order in which it is made. */
export const PARTS: readonly string[] = [...ALL_PARTS, REAL_NODE, CHART_TOOLS];

/** The parts that test files and setups have to find built, by what they lead to and, for a real node and the chart, by their names; in the order of PARTS. */
export function neededParts(graph: ImportGraph, roots: readonly string[]): readonly string[] {
  const needed = new Set(
    [...graph.reachedFrom(roots)].flatMap((path) => FEW_PARTS[path] ?? (graph.namedBy(path).includes(BUILD) ? ALL_PARTS : [])),
  );
  if (roots.some((path) => ON_REAL_NODES.test(path))) needed.add(REAL_NODE);
  if (roots.some((path) => ON_CHARTS.test(path))) needed.add(CHART_TOOLS);
  return PARTS.filter((part) => needed.has(part));
}
