import process from "node:process";
import { describe, expect, it } from "vitest";
import { readProject } from "../checks/project.ts";
import { importGraph } from "../imports/import-graph.ts";
import { ALL_PARTS, FEW_PARTS, neededParts } from "./needed-parts.ts";

const { files } = readProject(process.cwd());
const graph = importGraph(files);
const partsOf = (...paths: readonly string[]) => neededParts(graph, paths);

describe("what tests have to find built", () => {
  it.each([
    ["nothing for a test of core", "src/scheduler/plan/cover.test.ts", []],
    ["nothing for one that has a cache of its own", "hack/dev-cluster/build.contract.test.ts", []],
    ["Kubernetes for one that asks for a real API server", "src/workspace/api/crd.contract.test.ts", ["kubernetes"]],
    ["a Git server for one that speaks SSH", "hack/git-server/git-ssh-server.contract.test.ts", ["tools"]],
    ["everything for one that starts a development cluster", "hack/dev-cluster/dev-cluster.contract.test.ts", ALL_PARTS],
    ["everything for one that starts it as a program", "hack/up/up.contract.test.ts", ALL_PARTS],
    ["a real node, too, for one on a real node", "hack/dev-cluster/real-node/real-node.contract.test.ts", [...ALL_PARTS, "real-node"]],
    ["Helm and schemas for one of the chart", "hack/dev-cluster/chart-tools/chart-tools.contract.test.ts", ["chart-tools"]],
    ["a real node and those for one that installs it", "e2e/chart/of-any-name.e2e.test.ts", ["real-node", "chart-tools"]],
    ["everything for the setup of e2e", "e2e/setup.ts", ALL_PARTS],
  ])("is %s", (_what, path, parts) => {
    expect(partsOf(path)).toEqual(parts);
  });

  it("is listed of no file that is gone", () => {
    const paths = new Set(files.map(({ path }) => path));
    expect(Object.keys(FEW_PARTS).filter((path) => !paths.has(path))).toEqual([]);
  });
});
