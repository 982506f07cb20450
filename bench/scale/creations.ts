import { openLoopWhile } from "../load.ts";
import { queryOnce } from "../world/query-once.ts";
import { type Deployment, deploymentKey, isReported, isThere } from "../world/users.ts";
import { someOf } from "./latencies.ts";
import type { ScaleRun } from "./run.ts";

/** Creations a second. */
const RATE = 2;
/** How many of the slowest are described. */
const SLOWEST = 5;

/** What became of one creation, and when, in ms of `performance.now()`. */
export interface Creation {
  readonly deployment: Deployment;
  /** When the user meant to create it. */
  readonly dueAt: number;
  /** When the API server had stored it. */
  readonly storedAt: number;
  /** When its Application was seen. */
  readonly appliedAt: number;
  /** When its user saw it synced. */
  readonly reportedAt: number;
}

/** Something that went on meanwhile. */
export interface Phase {
  readonly what: string;
  readonly startedAt: number;
}

/** Creations at a fixed rate, in workspaces all over the fleet. Ends when all of them have been reported. */
export async function createWhile(
  { world: { users }, standing, signal }: ScaleRun,
  goesOn: (started: number) => boolean,
): Promise<readonly Creation[]> {
  const namespaces = someOf(standing, 100).map(({ namespace }) => namespace);
  const create = async (index: number): Promise<Omit<Creation, "dueAt">> => {
    const deployment = users.next(namespaces[index % namespaces.length] ?? "");
    await users.create(deployment);
    const storedAt = performance.now();
    const [appliedAt, reportedAt] = await Promise.all([
      users.applications.until(deployment.path, isThere),
      users.deployments.until(deploymentKey(deployment), isReported),
    ]);
    return { deployment, storedAt, appliedAt, reportedAt };
  };
  const loop = await openLoopWhile({ rate: RATE, goesOn }, create, signal);
  return loop.map(({ intendedAt, result }) => ({ ...result, dueAt: intendedAt }));
}

/** How long after it was due each had its Application, in ms. */
export function untilApplied(creations: readonly Creation[]): readonly number[] {
  return creations.map(({ dueAt, appliedAt }) => appliedAt - dueAt);
}

/** The slowest ones, a line each: what went on when each was due, and how long after that it had come how far. */
export async function describeSlowest(
  { world: { databaseUrl } }: ScaleRun,
  creations: readonly Creation[],
  phases: readonly Phase[],
): Promise<readonly string[]> {
  const slowest = creations.toSorted((a, b) => b.appliedAt - b.dueAt - (a.appliedAt - a.dueAt)).slice(0, SLOWEST);
  const recorded = await readRecorded(databaseUrl, slowest);
  const [first] = phases;
  return slowest.map(({ deployment, dueAt, storedAt, appliedAt, reportedAt }) => {
    const after = (at: number | undefined): string => (at === undefined ? "?" : `${((at - dueAt) / 1_000).toFixed(1)} s`);
    const phase = phases.findLast(({ startedAt }) => startedAt <= dueAt);
    const due = ((dueAt - (first?.startedAt ?? dueAt)) / 1_000).toFixed(1);
    const row = recorded.get(deploymentKey(deployment));
    return [
      `${deploymentKey(deployment)} was due at ${due} s (${phase?.what ?? "?"}):`,
      `stored after ${after(storedAt)}, in the database ${after(row)}, Application ${after(appliedAt)}, Synced ${after(reportedAt)}`,
    ].join(" ");
  });
}

/** When the database had each, by key, in ms of `performance.now()`: PostgreSQL runs on this machine and shares its clock. */
async function readRecorded(databaseUrl: string, creations: readonly Creation[]): Promise<ReadonlyMap<string, number>> {
  const rows = await queryOnce<{ readonly key: string; readonly at: number }>(
    databaseUrl,
    `select workspace.namespace || '/' || application.name as key, extract(epoch from min(operation.created_at))::float8 * 1000 as at
     from application
     join workspace on workspace.id = application.workspace
     join operation on operation.subject = application.id and operation.kind = 'apply-application'
     where workspace.namespace || '/' || application.name = any($1)
     group by 1`,
    [creations.map(({ deployment }) => deploymentKey(deployment))],
  );
  return new Map(rows.map(({ key, at }) => [key, at - performance.timeOrigin]));
}
