import { describe, expect, it } from "vitest";
import { HEALTH_PAGE_LIMITS, type HealthPage, parseHealthPage } from "./parse-page.ts";

const queue = 'controller="app_reconciliation_queue",name="app_reconciliation_queue"';
const operations = 'controller="app_operation_processing_queue",name="app_operation_processing_queue"';
/** Lines from the page of a real controller, with several series for each metric that is summed. */
const CONTROLLER = [
  "# TYPE argocd_app_info gauge",
  'argocd_app_info{autosync_enabled="true",dest_namespace="a",name="m-1",namespace="x",project="default",sync_status="Synced"} 1',
  'argocd_app_info{autosync_enabled="true",dest_namespace="a",name="m-2} 9",namespace="x",project="default",sync_status="Synced"} 1',
  'argocd_app_reconcile_bucket{dest_server="https://127.0.0.1:16443?b=1",namespace="x",le="0.25"} 47',
  'argocd_app_reconcile_bucket{dest_server="https://127.0.0.1:16443?b=1",namespace="x",le="16"} 90',
  'argocd_app_reconcile_bucket{dest_server="https://127.0.0.1:16443?b=1",namespace="x",le="+Inf"} 94',
  'argocd_app_reconcile_sum{dest_server="https://127.0.0.1:16443?b=1",namespace="x"} 33.5',
  'argocd_app_reconcile_count{dest_server="https://127.0.0.1:16443?b=1",namespace="x"} 94',
  'argocd_app_reconcile_count{dest_server="https://other",namespace="x"} 6',
  'argocd_redis_request_total{command="publish",failed="false",hostname="vm",initiator="argocd-application-controller"} 94',
  'argocd_redis_request_total{command="set",failed="true",hostname="vm",initiator="argocd-application-controller"} 7',
  "process_cpu_seconds_total 1.6",
  "process_resident_memory_bytes 2.8311552e+08",
  "process_start_time_seconds 1.79525425830e+09",
  `workqueue_depth{${queue},priority=""} 3`,
  `workqueue_depth{${operations},priority=""} 5`,
  `workqueue_queue_duration_seconds_bucket{${queue},le="1"} 280`,
  `workqueue_queue_duration_seconds_bucket{${queue},le="10"} 700`,
  `workqueue_queue_duration_seconds_sum{${queue}} 746.005`,
  `workqueue_queue_duration_seconds_count{${queue}} 796`,
  `workqueue_queue_duration_seconds_sum{${operations}} 2`,
  `workqueue_queue_duration_seconds_count{${operations}} 4`,
  `workqueue_work_duration_seconds_sum{${operations}} 0.5`,
];
const GIT = [
  'argocd_git_request_duration_seconds_sum{repo="https://g/a.git",request_type="fetch"} 0.18',
  'argocd_git_request_duration_seconds_count{repo="https://g/a.git",request_type="fetch"} 1',
  'argocd_git_request_duration_seconds_sum{repo="https://g/a.git",request_type="ls-remote"} 0.02',
  'argocd_git_request_duration_seconds_count{repo="https://g/a.git",request_type="ls-remote"} 11',
  "process_start_time_seconds 5",
];

function read(lines: readonly string[], limits = HEALTH_PAGE_LIMITS): HealthPage | undefined {
  const page = parseHealthPage(limits);
  for (const line of lines) page.take(line);
  return page.end();
}

describe("a page of metrics", () => {
  it("is summed over applications and clusters", () => {
    expect(read(CONTROLLER)?.counters).toEqual({
      residentBytes: 283_115_520,
      ...{ startedAt: 1_795_254_258.3, applications: 2, reconciles: 100, reconcileS: 33.5, reconcilesWithin16: 90 },
      ...{ redisRequests: 101, redisFailed: 7, depth: 3, waits: 796, waitS: 746.005, waitsWithin10: 700 },
      ...{ operationWaits: 4, operationWaitS: 2, operationWorkS: 0.5 },
    });
  });

  it("keeps how long Git took, by repository", () => {
    expect([...(read(GIT)?.git ?? [])]).toEqual([["https://g/a.git", { requests: 12, seconds: 0.19999999999999998 }]]);
  });

  it("keeps how long fetches took, apart from requests for the newest revision", () => {
    expect([...(read(GIT)?.fetchSeconds ?? [])]).toEqual([["https://g/a.git", 0.18]]);
  });

  it("keeps what is fetched at the moment, and what is pending in any way", () => {
    const lines = [
      ...GIT,
      'argocd_git_request_duration_seconds_count{repo="https://g/b.git",request_type="ls-remote"} 1',
      'argocd_git_request_total{repo="https://g/a.git",request_type="fetch"} 1',
      'argocd_git_request_total{repo="https://g/a.git",request_type="ls-remote"} 12',
      'argocd_git_request_total{repo="https://g/b.git",request_type="fetch"} 1',
      'argocd_git_request_total{repo="https://g/b.git",request_type="ls-remote"} 1',
      'argocd_repo_pending_request_total{repo="https://g/b.git"} 2',
      'argocd_repo_pending_request_total{repo="oci://g/c"} 1',
      'argocd_repo_pending_request_total{repo="https://g/a.git"} 0',
    ];
    expect([...(read(lines)?.fetchesBegun ?? [])]).toEqual([
      ["https://g/a.git", 1],
      ["https://g/b.git", 1],
    ]);
    expect([[...(read(lines)?.fetching ?? [])], [...(read(lines)?.pending ?? [])]]).toEqual([
      ["https://g/b.git"],
      ["https://g/b.git", "oci://g/c"],
    ]);
  });

  it.each([
    ["does not say when the process started", ["argocd_app_info{} 1"]],
    ["is not in the text format", ["<html>", "process_start_time_seconds NaN", "process_start_time_seconds{ 5"]],
  ])("is refused when it %s", (_what, lines) => expect(read(lines)).toBeUndefined());

  it("is refused when it is longer, or names more repositories, than a real one can", () => {
    expect(read(GIT, { ...HEALTH_PAGE_LIMITS, characters: 200 })).toBeUndefined();
    for (const name of ["argocd_git_request_duration_seconds_count", "argocd_git_request_total", "argocd_repo_pending_request_total"]) {
      const more = ["a", "b"].map((each) => `${name}{repo="https://g/${each}.git",request_type="fetch"} 1`);
      expect(read([...GIT, ...more], { ...HEALTH_PAGE_LIMITS, repositories: 1 })).toBeUndefined();
      expect(read([...GIT, ...more], { ...HEALTH_PAGE_LIMITS, repositories: 2 })).toBeDefined();
    }
    expect(parseHealthPage({ ...HEALTH_PAGE_LIMITS, characters: 5 }).take("process_start_time_seconds 5")).toBe(false);
  });
});
