/** Series about requests to Kubernetes per application: verbs, kinds and codes. */
const CALLS_EACH = 20;
const SERVER = 'dest_server="https://127.0.0.1:16443"';
const QUEUES = ["app_reconciliation_queue", "app_operation_processing_queue", "project_reconciliation_queue"];
const BOUNDS = ["1e-08", "1e-06", "0.0001", "0.001", "0.01", "0.1", "1", "10", "100", "1000", "+Inf"];

/**
 * A controller's page after so many rounds. Series are as long and as many as those of a real controller with that
 * many applications.
 */
export function pageOf(applications: number, round: number): readonly string[] {
  const lines = ["# TYPE argocd_app_info gauge"];
  for (let index = 0; index < applications; index += 1) lines.push(...linesOfApplication(index));
  const counted = applications * 10 * (round + 1);
  for (const bound of ["0.25", "1", "4", "16", "+Inf"])
    lines.push(`argocd_app_reconcile_bucket{${SERVER},namespace="a",le="${bound}"} ${counted}`);
  lines.push(
    `argocd_app_reconcile_sum{${SERVER},namespace="a"} ${counted / 50}`,
    `argocd_app_reconcile_count{${SERVER},namespace="a"} ${counted}`,
  );
  lines.push(`argocd_redis_request_total{command="set",failed="false",hostname="vm",initiator="controller"} ${counted}`);
  lines.push("process_start_time_seconds 1.795e+09", "process_cpu_seconds_total 30");
  for (const name of QUEUES) {
    const labels = `controller="${name}",name="${name}"`;
    lines.push(`workqueue_depth{${labels},priority=""} 0`);
    for (const bound of BOUNDS) lines.push(`workqueue_queue_duration_seconds_bucket{${labels},le="${bound}"} ${counted}`);
    lines.push(
      `workqueue_queue_duration_seconds_sum{${labels}} ${counted / 1_000}`,
      `workqueue_queue_duration_seconds_count{${labels}} ${counted}`,
    );
    lines.push(`workqueue_work_duration_seconds_sum{${labels}} ${counted / 100}`);
  }
  return lines;
}

function linesOfApplication(index: number): readonly string[] {
  const name = `name="app-${index}",namespace="argosy-standard-1",project="ws-${String(index % 50).padStart(20, "0")}"`;
  const where = `autosync_enabled="true",dest_namespace="team-${index % 50}",dest_server="https://127.0.0.1:16443",health_status="Healthy"`;
  const calls = Array.from(
    { length: CALLS_EACH },
    (_, call) =>
      `argocd_app_k8s_request_total{dry_run="false",${name},resource_kind="Kind${call % 5}",resource_namespace="team-${index % 50}",response_code="200",server="https://127.0.0.1:16443",verb="${call % 4}"} 3`,
  );
  return [`argocd_app_info{${where},${name},repo="https://git.example/${index % 50}",sync_status="Synced"} 1`, ...calls];
}
