import { afterAll, beforeAll, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import type { DecisionKind } from "../../../domain/decision.ts";
import type { ApplicationId, RolloutId, UnitId } from "../../../domain/ids.ts";
import type { Instance, InstanceState } from "../../../domain/instance.ts";
import type { MoveMessageCode } from "../../../domain/move.ts";
import type { OperationState } from "../../../domain/operation.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import type { Store } from "../../port.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { soon } from "../../testing/world.ts";
import { migrate } from "./migrate.ts";
import { readMigrations } from "./migration-files.ts";
import { createPostgresStore } from "./postgres-store.ts";

// Rows that were written before files of migrations/ gave them more: they have to be decided as they were.

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const MIGRATIONS = await readMigrations();

/** The store on a database that has these rows since before this file, and every file now. */
async function upgraded(file: string, rows: string): Promise<Store> {
  const { url } = await server.createEmpty();
  const options = { url, log: silentLog, signal: soon() };
  await migrate({ ...options, migrations: MIGRATIONS.filter(({ name }) => name < file) });
  await server.query(rows, url);
  await migrate(options);
  return createPostgresStore({ url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 2 });
}

const UNIT_ROWS = `
  insert into workspace (id, plane, api_cluster, namespace, namespace_uid, trust_class, state)
  values ('w', 'kubernetes', 'api', 'team', 'uid', 'standard', 'active');
  insert into placement_unit (id, workspace, bucket, class, created_at) values ('u', 'w', 0, 'c', now())`;

const INSTANCE_ROW = `
  insert into instance (id, name, engine_cluster, namespace, pool, class, version, desired_version, state, state_since, reason, attempt, capacity, weight, applied_hash, revision)
  values ('i', 'i', 'eu-1', 'argosy-i', 'p', 'c', '3.5.7', '3.5.7', 'ACTIVE', now(), '', 0, '{1,1,1,1,1}', 1, '', 1)`;

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const MESSAGES: readonly (readonly [message: string, code: MoveMessageCode | undefined])[] = [
  ["", undefined],
  ["for the copy of web to be compared", "WAITS"],
  ["for a write that is refused: quota", "WAITS"],
  ["VERIFY failed, waiting for web to be as well as before", "WORSE"],
  ["VERIFY failed, waiting for web to be as well as before; what stands on its former instance goes once that can be reached", "WORSE"],
  ["given up by otto", "GIVEN_UP"],
  ["the target was not ready in five minutes: waiting for web", undefined],
  ["the instance it was to go to took nothing any more when its turn came", undefined],
];

it("gives the messages of moves their codes, so that what a person gave up is no failure", async () => {
  const moves = MESSAGES.map(
    ([message], index) =>
      `('m-${index}', 'u', 'from', 'to-${index}', 1, ${index + 2}, 'ABORTED', now(), 'drain', 'FORCED', 'otto', now(), now(), ${quoted(message)})`,
  );
  const store = await upgraded(
    "0002",
    `${UNIT_ROWS};
     insert into move (id, unit, from_instance, to_instance, from_epoch, to_epoch, phase, phase_since, kind, reason, actor, created_at, ended_at, message)
     values ${moves.join(", ")}`,
  );
  const found = new Map(
    (await store.moves.list({}, 100, soon())).map(({ id, message, messageCode }) => [id as string, [message, messageCode]]),
  );
  expect(MESSAGES.map((_, index) => found.get(`m-${index}`))).toEqual(MESSAGES);
  const failed = (await store.plans.readFacts("c", millis(0), soon())).failures.map(({ to }) => Number(to.slice("to-".length)));
  expect(failed.toSorted((a, b) => a - b)).toEqual(MESSAGES.flatMap(([, code], index) => (code === "GIVEN_UP" ? [] : [index])));
  await store.close();
});

const WAITING = "it takes no new units and is retired when it holds none";

const REASONS: readonly (readonly [state: InstanceState, reason: string, cause: Instance["cause"] | undefined])[] = [
  ["ACTIVE", "all its pods are ready", undefined],
  ["ACTIVE", "uncordoned by otto: done", undefined],
  ["CORDONED", "cordoned by otto: odd disk", { code: "PERSON" }],
  ["CORDONED", "cordoned by otto: rollout r-1: not yet", { code: "PERSON" }],
  ["CORDONED", "cordoned by rollout 01-r: emptied before it is given 3.5.7", { code: "ROLLOUT", rollout: "01-r" as RolloutId }],
  ["CORDONED", "cordoned by health: quarantine of team-a, which took most of standard-1", { code: "QUARANTINE" }],
  ["CORDONED", `its pool asks for fewer instances: ${WAITING}`, { code: "POOL" }],
  ["CORDONED", `its pool asks for instances of another class: ${WAITING}`, { code: "POOL" }],
  ["CORDONED", `its pool was removed from fleet.yaml: ${WAITING}`, { code: "POOL" }],
  ["DRAINING", `its pool asks for fewer instances: ${WAITING}`, undefined],
  [
    "FAILED",
    "namespace argosy-i-10 is there already and was not made by Argosy: delete it, or rename the pool",
    { code: "NAMESPACE_TAKEN" },
  ],
  ["FAILED", "given up after 5 attempts: namespace argosy-i-11 is there already", undefined],
  ["WARMING", "waiting for its pods", undefined],
  [
    "WARMING",
    "waiting for its pods: argocd-server: no node has room for it: 0/1",
    { code: "PODS", trouble: "argocd-server: no node has room for it: 0/1" },
  ],
];

it("gives instances the cause of what they say of themselves, so that who cordoned one calls that off", async () => {
  const instances = REASONS.map(
    ([state, reason], index) =>
      `('i-${index}', 'i-${index}', 'eu-1', 'argosy-i-${index}', 'p', 'c', '3.5.7', '3.5.7', '${state}', now(), ${quoted(reason)}, 0, '{1,1,1,1,1}', 1, '', 1)`,
  );
  const store = await upgraded(
    "0003",
    `insert into instance (id, name, engine_cluster, namespace, pool, class, version, desired_version, state, state_since, reason, attempt, capacity, weight, applied_hash, revision)
     values ${instances.join(", ")}`,
  );
  const found = new Map(
    (await store.fleet.listInstances(soon())).map(({ id, state, reason, cause }) => [id as string, [state, reason, cause]]),
  );
  expect(REASONS.map((_, index) => found.get(`i-${index}`))).toEqual(REASONS);
  await store.close();
});

const SAID: readonly (readonly [state: OperationState, message: string, trouble: string | undefined])[] = [
  ["Waiting", "Waiting: for an instance", undefined],
  ["Waiting", "Waiting: for its instance to take it", undefined],
  ["Waiting", "Waiting: no instance has room", undefined],
  ["In_Progress", "Trying again: no answer", "Trying again: no answer"],
  [
    "Failed",
    "Refused: the instance's cluster does not take the Application: quota",
    "Refused: the instance's cluster does not take the Application: quota",
  ],
  ["Completed", "Superseded: the application was deleted", undefined],
];

it("tells users of the trouble that operations have met with, and of no wait before that", async () => {
  const applications = SAID.map(
    (_, index) =>
      `('a-${index}', 'w', 'u', 'a-${index}', 'uid-${index}', 1, '{"source": {}, "destination": {}}', 'https://git.example/x', 'argo-${index}', 1)`,
  );
  const operations = SAID.map(
    ([state, message], index) =>
      `('o-${index}', 'w', 'a-${index}', 'apply-application', '${state}', 1, now(), now(), now(), ${quoted(message)})`,
  );
  const store = await upgraded(
    "0006",
    `${UNIT_ROWS};
     insert into application (id, workspace, unit, name, uid, generation, spec, repo_url, argo_name, desired_revision) values ${applications.join(", ")};
     insert into application_status (application, unit) select id, unit from application;
     insert into operation (id, workspace, subject, kind, state, revision, created_at, updated_at, deadline, message) values ${operations.join(", ")}`,
  );
  const ids = SAID.map((_, index) => `a-${index}` as ApplicationId);
  const views = await store.intents.readByIds(ids, soon());
  expect(views.map(({ trouble }) => trouble)).toEqual(SAID.map(([, , trouble]) => trouble));
  await store.close();
});

it("lets the hour of sync runs go on counting from their creation", async () => {
  const store = await upgraded(
    "0004",
    `insert into sync_run (uid, api_cluster, namespace, name, revision, prune, created_at) values ('run', 'api', 'team', 'once', '', false, '2026-01-01T12:00:00Z')`,
  );
  const [view] = await store.syncRuns.readViews(["run"], soon());
  expect(view?.run.recordedAt).toBe(Date.UTC(2026, 0, 1, 12));
  await store.close();
});

const RULES: readonly (readonly [kind: string, rule: string, now: readonly [kind: DecisionKind, rule: string]])[] = [
  ["register", "EDITED", ["owner-binding", "EDITED"]],
  ["deletion", "PATIENCE", ["deletion", "TIMEOUT"]],
  ["placement", "REGISTER_BYPASSED", ["placement", "OWNER_BINDING_BYPASSED"]],
  ["placement", "PATIENCE", ["placement", "PATIENCE"]],
  ["health", "PERIODIC-LOOKS", ["health", "PERIODIC-REFRESHES"]],
  ["health", "REDIS", ["health", "REDIS"]],
];

it("gives the journal and verdicts the present names of their codes", async () => {
  const decisions = RULES.map(([kind, rule], index) => `('d-${index}', now(), 's', '${kind}', 'V', '${rule}', '{}')`);
  const store = await upgraded(
    "0007",
    `${INSTANCE_ROW};
     insert into instance_verdict (instance, at, since, state, cause, component, text, evidence)
     values ('i', now(), now(), 'stalled', 'periodic-looks', 'controller', '', '[]');
     insert into decision (id, at, subject, kind, verdict, rule, details) values ${decisions.join(", ")}`,
  );
  const found = (await store.decisions.list({ subject: "s" }, 10, soon())).map(({ kind, rule }) => [kind, rule]);
  expect(found.toReversed()).toEqual(RULES.map(([, , now]) => now));
  expect(await store.health.listVerdicts(soon())).toMatchObject([{ instanceId: "i", cause: "periodic-refreshes" }]);
  await store.close();
});

it("goes on with an owner binding that an instance has acknowledged, so that the unit's Applications need not wait for it again", async () => {
  const kinds = ["account", "project", "register"];
  const objects = kinds.map((kind) => `('u', '${kind}', 'i', 'u', 3, 3, 7, 'uid-${kind}', 'h')`);
  const store = await upgraded(
    "0007",
    `${INSTANCE_ROW};
     ${UNIT_ROWS};
     update placement_unit set owner = 'i', epoch = 7, desired_revision = 3 where id = 'u';
     insert into application (id, workspace, unit, name, uid, generation, spec, repo_url, argo_name, desired_revision)
     values ('a', 'w', 'u', 'a', 'uid', 1, '{"source": {}, "destination": {}}', 'https://git.example/x', 'argo', 1);
     insert into application_status (application, unit) select id, unit from application;
     insert into shard_object (subject, kind, instance, unit, desired_revision, applied_revision, epoch, uid, hash) values ${objects.join(", ")}`,
  );
  const unit = await store.shards.readUnit("u" as UnitId, soon());
  expect(unit?.acknowledged.map(({ kind, uid, appliedRevision }) => [kind, uid, appliedRevision])).toEqual([
    ["account", "uid-account", 3],
    ["owner-binding", "uid-register", 3],
    ["project", "uid-project", 3],
  ]);
  const [application] = await store.shards.readApplications(["a" as ApplicationId], soon());
  expect(application?.unitAppliedRevision).toBe(3);
  await store.close();
});

it("lets tokens of before work on without an end, and knows that nobody has said whose they are", async () => {
  const store = await upgraded(
    "0011",
    "insert into api_token (name, hash, role, created_at) values ('ops', 'h', 'approver', '2020-01-01')",
  );
  expect((await store.tokens.readHashes(soon())).get("h")).toEqual({ name: "ops", role: "approver", endsInMs: undefined });
  expect(await store.tokens.list(soon())).toEqual([
    {
      ...{ name: "ops", role: "approver", state: "active", createdAt: Date.parse("2020-01-01"), owner: undefined, createdBy: undefined },
      ...{ expiresAt: undefined, lastUsedAt: undefined, revokedAt: undefined },
    },
  ]);
  await store.close();
});
