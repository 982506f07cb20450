/** How many workspaces one instance holds. */
export const PER_INSTANCE = 100;
/** The class of all of them. */
export const SEEDED_CLASS = "eu/shared/public";

/** The third application of every third workspace is left out: eight for three workspaces. */
const HAS = "not (k = 3 and n % 3 = 0)";
const CLASS = `'${SEEDED_CLASS}'`;
const RESOURCES = JSON.stringify(
  Array.from({ length: 12 }, (_, index) => ({
    group: "apps",
    kind: "Deployment",
    namespace: "team",
    name: `web-${index}`,
    health: "Healthy",
  })),
);

/** What a workspace, an instance, and an application have, of a fleet in which nothing is under way. `$1` to `$2`: numbers of the workspaces. */
const WORKSPACES = "generate_series($1::integer, $2::integer) as n";
const INSTANCES = `generate_series($1::integer / ${PER_INSTANCE}, $2::integer / ${PER_INSTANCE}) as n`;
const APPLICATIONS = `${WORKSPACES} cross join generate_series(1, 3) as k`;

const STATEMENTS: readonly string[] = [
  `insert into instance (id, name, engine_cluster, namespace, pool, class, version, desired_version, state, state_since, reason, attempt, capacity, weight, applied_hash, revision)
   select 'i' || n, 'instance-' || n, 'eu-1', 'argocd-' || n, 'standard', ${CLASS}, '3.5.7', '3.5.7', 'ACTIVE', now(), '', 0, '{400000,500,100000,4000,200000}', 1, 'hash', 1 from ${INSTANCES}`,
  `insert into instance_load (instance, at, total) select 'i' || n, now(), '{270000,0,3600,900,130000}' from ${INSTANCES}`,
  `insert into usage_mark (instance, until, processes) select 'i' || n, now(), '{}' from ${INSTANCES}`,
  `insert into instance_verdict (instance, at, since, state, cause, text, evidence) select 'i' || n, now(), now(), 'healthy', 'none', '', '[]' from ${INSTANCES}`,
  `insert into probe_sample (instance, at, signals) select 'i' || n, now() - k * interval '15 seconds', '{}' from ${INSTANCES} cross join generate_series(1, 40) as k`,
  `insert into workspace (id, plane, api_cluster, namespace, namespace_uid, trust_class, state)
   select 'w' || n, 'kubernetes', 'main', 'team-' || n, 'uid-' || n, 'public', 'active' from ${WORKSPACES}`,
  `insert into placement_unit (id, workspace, bucket, class, owner, epoch, phase, load, created_at)
   select 'u' || n, 'w' || n, 0, ${CLASS}, 'i' || n / ${PER_INSTANCE}, n + 1, 'IDLE', '{2700,0,36,9,1300}', now() - interval '40 days' from ${WORKSPACES}`,
  `insert into unit_load (unit, planning, recent, at) select 'u' || n, '{2700,0,36,8.5,1300}', '{2700,0,36,7,1300}', now() from ${WORKSPACES}`,
  `insert into application (id, workspace, unit, name, uid, generation, spec, repo_url, argo_name, desired_revision)
   select format('a%s.%s', n, k), 'w' || n, 'u' || n, 'app-' || k, format('app-uid-%s.%s', n, k), 1, '{"destination":{}}', 'https://git.example/' || n, format('app-%s-%s', n, k), 1 from ${APPLICATIONS} where ${HAS}`,
  `insert into application_status (application, unit, instance, epoch, sync, health, revision, conditions, resources, resource_count, reconciled_at, version, hash, view_revision, published_revision, published_hash)
   select format('a%s.%s', n, k), 'u' || n, 'i' || n / ${PER_INSTANCE}, n + 1, 'Synced', 'Healthy', 'main', '[]', '${RESOURCES}', 12, now(), n, 'hash', 2, 2, 'hash' from ${APPLICATIONS} where ${HAS}`,
  `insert into operation (id, workspace, instance, subject, kind, state, revision, created_at, updated_at, deadline)
   select format('o%s.%s', n, k), 'w' || n, 'i' || n / ${PER_INSTANCE}, format('a%s.%s', n, k), 'apply-application', 'Completed', 1, now(), now(), now() from ${APPLICATIONS} where ${HAS}`,
  `insert into shard_object (subject, kind, instance, unit, desired_revision, applied_revision, epoch, uid, hash)
   select format('a%s.%s', n, k), 'application', 'i' || n / ${PER_INSTANCE}, 'u' || n, 1, 1, n + 1, 'uid', 'hash' from ${APPLICATIONS} where ${HAS}`,
  `insert into shard_object (subject, kind, instance, unit, desired_revision, applied_revision, epoch, uid, hash)
   select 'u' || n, kind, 'i' || n / ${PER_INSTANCE}, 'u' || n, 1, 1, n + 1, 'uid', 'hash' from ${WORKSPACES} cross join unnest(array['account', 'owner-binding', 'project']) as k (kind)`,
  `insert into sync_run (uid, api_cluster, namespace, name, application, revision, prune, created_at, phase, finished_at, view_revision, published_revision)
   select 'run-' || n, 'main', 'team-' || n, 'run', format('a%s.1', n), '', false, now(), 'Succeeded', now(), 2, 2 from ${WORKSPACES} where n % 5 = 0`,
  `insert into repository_access (workspace, url_hash, url, state, outcome, probed_at, proven_at, ordinal)
   select 'w' || n, 'url-hash', 'https://git.example/' || n, 'proven', 'READABLE', now(), now(), 1 from ${WORKSPACES}`,
  `insert into environment (id, workspace, name, uid, state, api_url) select 'e' || n, 'w' || n, 'prod', 'env-uid-' || n, 'connected', 'https://prod.example' from ${WORKSPACES} where n % 10 = 0`,
  `insert into repository_credential (id, workspace, name, uid, generation, resource_created_at, url, url_key, credential, secret_version)
   select 'r' || n, 'w' || n, 'git', 'git-uid-' || n, 1, '2026-01-01T00:00:00Z', 'https://git.example/' || n, 'key', 's' || n, '1' from ${WORKSPACES} where n % 10 = 0`,
  `insert into credential (id, owner, purpose, key_id, data_key, ciphertext, fingerprint) select 's' || n, 'w' || n, 'repository', 'first', '', '', '' from ${WORKSPACES} where n % 10 = 0`,
  `insert into decision (id, at, subject, kind, verdict, rule, details)
   select format('d%s.%s', n, k), now() - k * interval '1 day', 'u' || n, 'placement', 'CHOSEN', 'PREFERRED', '{"reason":"it is preferred"}' from ${APPLICATIONS}`,
  `insert into move (id, unit, from_instance, to_instance, from_epoch, to_epoch, phase, phase_since, kind, reason, actor, created_at, ended_at)
   select 'm' || n, 'u' || n, 'i0', 'i' || n / ${PER_INSTANCE}, n, n + 1, 'DONE', now(), 'voluntary', 'FILL', 'scheduler', now() - interval '2 days', now() - interval '2 days' from ${WORKSPACES} where n % 5 = 0`,
  `insert into unit_move (epoch, unit, class, from_instance, to_instance, reason, plan, at)
   select n + 1, 'u' || n, ${CLASS}, 'i0', 'i' || n / ${PER_INSTANCE}, 'FILL', '', now() - interval '2 days' from ${WORKSPACES} where n % 5 = 0`,
  `insert into plan (id, class, goal, subject, snapshot_hash, plan_hash, actor, created_at, expires_at, moves, records, report)
   select 'p' || n, ${CLASS}, 'rebalance', '', 'hash', 'hash', 'scheduler', now(), now() + interval '1 hour', '[]', '[]', '{}' from ${WORKSPACES} where n % 5 = 0`,
  `insert into ended_application (id, uid, argo_name, unit, ended_at) select 'x' || n, 'ended-uid-' || n, 'ended-' || n, 'u' || n, now() from ${WORKSPACES} where n % 5 = 0`,
  `insert into usage_hour (hour, instance, used_by, workspace, namespace, controller_cpu_ms, repo_server_cpu_ms, memory_kib_s)
   select date_trunc('hour', now()) - k * interval '1 hour', 'i' || n / ${PER_INSTANCE}, 'workspace', 'w' || n, 'team-' || n, 1, 1, 1 from ${APPLICATIONS}`,
  `insert into usage_label (workspace, labels) select 'w' || n, '{}' from ${WORKSPACES}`,
];

/** Tables that are seeded. */
export const SEEDED = new Set(STATEMENTS.map((text) => /^insert into (\w+)/.exec(text)?.[1] ?? ""));

/**
 * Adds the workspaces with these numbers, all that they have, and the instances for them, to a migrated database: a fleet of one class at rest, in which everything is
 * placed, applied, compared, published and measured. `from` is 0 or a multiple of what one instance holds.
 */
export async function seedFleet(
  query: (text: string, values: readonly unknown[]) => Promise<unknown>,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  for (const text of STATEMENTS) await query(text, [from, to - 1]);
  await query("select setval('epoch_seq', greatest($1::bigint, (select last_value from epoch_seq)))", [to]);
}
