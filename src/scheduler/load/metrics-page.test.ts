import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PAGE_LIMITS, parseLoadPage } from "./metrics-page.ts";

const read = (lines: readonly string[], limits = PAGE_LIMITS) => {
  const page = parseLoadPage(limits);
  for (const line of lines) if (!page.take(line)) break;
  return page.end();
};
const sumsOf = (lines: readonly string[]) => {
  const page = read(["process_start_time_seconds 1.7952542583e+09", ...lines]);
  if (page.kind !== "page") throw new Error(page.rule);
  return page.sums;
};
const request = (project: string, value: string | number, more = "") =>
  `argocd_app_k8s_request_total{dry_run="false",name="m-1"${more},project="${project}",verb="List"} ${value}`;

const reconciled = (server: string, value: string | number, more = "") =>
  `argocd_app_reconcile_sum{dest_server="${server}"${more},namespace="n"} ${value}`;

describe("a controller's metrics page", () => {
  it("is summed up by project, whatever else it contains", () => {
    const sums = sumsOf([
      "# HELP process_cpu_seconds_total Total user and system CPU time spent in seconds.",
      "process_cpu_seconds_total 1.6",
      'argocd_app_info{name="m-1",project="ws-a"} 1',
      request("ws-a", 5),
      request("ws-b", 7),
      request("ws-a", 1, ',resource_kind="Pod"'),
      reconciled("https://a", 4.5),
      reconciled("https://b?managedEnvironment=e", 0.25),
      reconciled("https://a", 1.5, ',le="4"'),
      'argocd_app_reconcile_count{dest_server="https://a",namespace="n"} 9',
      'argocd_git_request_total{repo="https://git/a",request_type="fetch"} 1',
      'argocd_git_request_total{repo="https://git/a",request_type="ls-remote"} 8',
      'argocd_git_request_duration_seconds_sum{repo="https://git/a",request_type="fetch"} 0.5',
      'argocd_git_request_duration_seconds_count{repo="https://git/a",request_type="fetch"} 1',
      'argocd_cluster_api_resource_objects{server="https://a"} 700',
      'argocd_cluster_api_resource_objects{server="https://b",} 9 1700000000000',
      'argocd_cluster_api_resources{server="https://a"} 29',
      "",
    ]);
    expect(sums).toEqual({
      ...{ startedAt: 1_795_254_258.3, cpuSeconds: 1.6, cachedObjects: 709 },
      requests: new Map([
        ["ws-a", 6],
        ["ws-b", 7],
      ]),
      reconciliations: new Map([["https://a", 9]]),
      gitRequests: new Map([["https://git/a", 8]]),
      gitSeconds: new Map([["https://git/a", 0.5]]),
      reconcileSeconds: new Map([
        ["https://a", 6],
        ["https://b?managedEnvironment=e", 0.25],
      ]),
      entryObjects: new Map([
        ["https://a", 700],
        ["https://b", 9],
      ]),
      entryApis: new Map([["https://a", 29]]),
    });
  });

  it.each(["NaN", "-1", "+Inf", "-Inf", "1e999", "0x10", "", "1 2 3", "abc", "1,5"])("ignores the value %j", (value) => {
    expect(sumsOf([request("ws-a", value), `process_cpu_seconds_total ${value}`])).toMatchObject({
      cpuSeconds: undefined,
      requests: new Map(),
    });
  });

  it("is not fooled by the content of labels", () => {
    const sums = sumsOf([
      `argocd_app_k8s_request_total{name="x\\",project=\\"ws-victim",project="ws-a"} 3`,
      `argocd_app_k8s_request_total{name="} 9",project="ws-a"} 4`,
      `argocd_app_k8s_request_total{name="x",project="ws-b" 4`,
      `argocd_app_k8s_request_total{name=x,project="ws-b"} 4`,
      `argocd_app_k8s_request_total_extra{project="ws-b"} 4`,
      `argocd_app_k8s_request_total{project="${"w".repeat(300)}"} 4`,
      `argocd_app_k8s_request_total{} 4`,
    ]);
    expect(sums.requests).toEqual(new Map([["ws-a", 7]]));
  });

  it.each([
    ["TOO_LARGE", { ...PAGE_LIMITS, characters: 500 }],
    ["TOO_MANY_PROJECTS", { ...PAGE_LIMITS, projects: 5 }],
    ["TOO_MANY_SERVERS", { ...PAGE_LIMITS, servers: 5 }],
    ["TOO_MANY_REPOSITORIES", { ...PAGE_LIMITS, repositories: 5 }],
  ] as const)("is refused as %s and read no further", (rule, limits) => {
    const page = parseLoadPage(limits);
    let taken = 0;
    const git = (repository: string): string => `argocd_git_request_total{repo="${repository}",request_type="ls-remote"} 1`;
    const line = { TOO_LARGE: request, TOO_MANY_PROJECTS: request, TOO_MANY_SERVERS: reconciled, TOO_MANY_REPOSITORIES: git }[rule];
    for (let index = 0; index < 1000 && page.take(line(`ws-${index}`, 1)); index += 1) taken = index + 1;
    expect(taken).toBeLessThan(10);
    expect(page.end()).toEqual({ kind: "refused", rule });
  });

  it("may be as large as its limits, and no larger", () => {
    const limits = { ...PAGE_LIMITS, characters: 20, projects: 2, servers: 2, repositories: 2 };
    const nine = "# comment";
    const cpu = "process_cpu_seconds_total 1";
    expect(read([nine, nine], limits)).toEqual({ kind: "refused", rule: "NOT_A_PAGE" });
    expect(read([nine, nine, ""], limits)).toEqual({ kind: "refused", rule: "TOO_LARGE" });
    const git = (repository: string) => `argocd_git_request_total{repo="${repository}",request_type="ls-remote"} 1`;
    const cached = (server: string) => `argocd_cluster_api_resource_objects{server="${server}"} 1`;
    const watched = (server: string) => `argocd_cluster_api_resources{server="${server}"} 1`;
    for (const of of [(name: string) => request(name, 1), (name: string) => reconciled(name, 1), git, cached, watched]) {
      const within = { ...limits, characters: 10_000 };
      expect(read([cpu, of("a"), of("b"), of("a"), of("b")], within).kind).toBe("page");
      expect(read([cpu, of("a"), of("b"), of("c")], within).kind).toBe("refused");
    }
  });

  it("may have labels and lines up to their limits, and is read past longer ones", () => {
    const sums = sumsOf([
      request("p".repeat(253), 1),
      request("q".repeat(254), 1),
      reconciled("s".repeat(2_048), 1),
      reconciled("t".repeat(2_049), 1),
    ]);
    expect([...sums.requests.keys(), ...sums.reconcileSeconds.keys()].map((name) => name[0])).toEqual(["p", "s"]);
    const cpu = "process_cpu_seconds_total 1.5";
    expect(sumsOf([cpu.padEnd(65_536)]).cpuSeconds).toBe(1.5);
    expect(sumsOf([cpu.padEnd(65_537)]).cpuSeconds).toBeUndefined();
  });

  it("has the counters of its process unchanged, and sums metrics without a label without one", () => {
    expect(sumsOf(["process_cpu_seconds_total 1", "process_cpu_seconds_total 2"]).cpuSeconds).toBe(2);
    expect(sumsOf(["process_cpu_seconds_total{} 1.5"]).cpuSeconds).toBe(1.5);
    expect(sumsOf(["process_cpu_seconds_total{}1.5", "process_cpu_seconds_total{ 1.5"]).cpuSeconds).toBeUndefined();
    expect(sumsOf(['argocd_cluster_api_resource_objects{server=""} 4']).cachedObjects).toBe(4);
  });

  it("is not a page if it has none of the metrics", () => {
    expect(read(["<html>", request("ws-a", 1)])).toEqual({ kind: "refused", rule: "NOT_A_PAGE" });
    expect(read([])).toEqual({ kind: "refused", rule: "NOT_A_PAGE" });
  });

  it("skips lines that are too long, and reads any text without an error", () => {
    expect(sumsOf([request("w".repeat(70_000), 1)]).requests.size).toBe(0);
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            fc.string().map((text) => request(text, text)),
          ),
        ),
        (lines) => {
          const page = read(lines);
          return page.kind === "refused" || [...page.sums.requests.values()].every((value) => Number.isFinite(value) && value >= 0);
        },
      ),
    );
  });
});
