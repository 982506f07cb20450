import type { Millis } from "../domain/clock.ts";
import { contentHash, sha256 } from "../domain/hash.ts";
import { asArray, asObject, asString, asTime } from "../domain/json.ts";
import {
  type EngineCondition,
  type EngineStatus,
  HEALTH_STATES,
  RESOURCE_LIMIT,
  type ResourceStatus,
  SYNC_STATES,
} from "../domain/status.ts";
import { mirrorOperationState } from "./mirror-operation.ts";
import { environmentOfServer } from "./names.ts";

/** Longest message and largest number of conditions kept; Argo CD's own are far below, a broken generator's are not. */
const MESSAGE_LIMIT = 4096;
const CONDITION_LIMIT = 20;
/** The same of objects' own: some are written by whoever made the object, and there may be thousands. Characters of each, and of all together. */
const HEALTH_MESSAGE_LIMIT = 500;
const HEALTH_MESSAGES_LIMIT = 64 * 1024;

export interface Report {
  readonly status: EngineStatus;
  /** Of `status` alone: a mere refresh has the same. */
  readonly hash: string;
  readonly reconciledAt: Millis | undefined;
}

/**
 * A report that is kept for as long as its Application stands, with what is decided by. Of 25,000 Applications that are kept with their statuses these are
 * four fifths.
 */
export interface KeptReport extends Omit<Report, "status">, Pick<EngineStatus, "sync" | "conditions"> {
  /** The status as a whole, to be recorded. `undefined`: let go of. */
  readonly unrecorded: EngineStatus | undefined;
  /** Of the raw status it was made of, but for the time of the last comparison. */
  readonly rawDigest: string;
}

/** Forgets the status and keeps the rest: once it is recorded, nobody asks for more. */
export function letGoOfStatus(report: KeptReport): void {
  (report as { unrecorded: EngineStatus | undefined }).unrecorded = undefined;
}

/**
 * What `projectStatus` says, to be kept. Where nothing but the time of the last comparison differs from the raw status that `before` was made of,
 * nothing is projected: `before` counts, with a status that may have been let go of. Argo CD compares each Application again every few minutes.
 */
export function projectKeptStatus(raw: unknown, before: KeptReport | undefined): KeptReport | undefined {
  const { reconciledAt, ...rest } = asObject(raw);
  const rawDigest = sha256(JSON.stringify(rest));
  if (before?.rawDigest === rawDigest) return { ...before, reconciledAt: asTime(reconciledAt) };
  const report = projectStatus(raw);
  if (report === undefined) return undefined;
  const { status, hash } = report;
  const { conditions, sync } = status;
  return { unrecorded: status, hash, reconciledAt: report.reconciledAt, conditions, sync, rawDigest };
}

/**
 * Reduces the raw `status` of an Argo CD Application (its read model, 3.2 to 3.5) to what users see. `undefined` while the
 * controller has not said anything. Nothing is trusted: unknown values become `Unknown`, everything is bounded.
 */
export function projectStatus(raw: unknown): Report | undefined {
  const source = asObject(raw);
  if (Object.keys(source).length === 0) return undefined;
  const resources = asArray(source["resources"]).map(projectResource);
  const sync = asObject(source["sync"]);
  const health = asObject(source["health"]);
  const status: EngineStatus = {
    sync: { status: oneOf(SYNC_STATES, sync["status"]), revision: asString(sync["revision"]) },
    health: { status: oneOf(HEALTH_STATES, health["status"]), message: cut(asString(health["message"])) },
    conditions: asArray(source["conditions"]).slice(0, CONDITION_LIMIT).map(projectCondition).sort(byCondition),
    resources: withinLimits(resources),
    resourceCount: resources.length,
    comparedTo: projectComparedTo(sync["comparedTo"]),
    operationState: mirrorOperationState(source["operationState"]),
  };
  return reported(status, asTime(source["reconciledAt"]));
}

/** Reading an Application before a decision needs no hash of what it says, which is most of the work of understanding one. */
function reported(status: EngineStatus, reconciledAt: Millis | undefined): Report {
  let hash: string | undefined;
  return {
    status,
    get hash() {
      hash ??= contentHash(status);
      return hash;
    },
    reconciledAt,
  };
}

function oneOf<State extends string>(states: readonly State[], raw: unknown): State | "Unknown" {
  return states.find((state) => state === raw) ?? "Unknown";
}

function projectCondition(raw: unknown): EngineCondition {
  const condition = asObject(raw);
  return { type: asString(condition["type"]), message: cut(asString(condition["message"])) };
}

function projectComparedTo(raw: unknown): EngineStatus["comparedTo"] {
  const source = asObject(asObject(raw)["source"]);
  const destination = asObject(asObject(raw)["destination"]);
  const environmentId = environmentOfServer(asString(destination["server"]));
  return {
    repoUrl: asString(source["repoURL"]),
    path: asString(source["path"]),
    targetRevision: asString(source["targetRevision"]),
    namespace: asString(destination["namespace"]),
    ...(environmentId === undefined ? {} : { environmentId }),
  };
}

function projectResource(raw: unknown): ResourceStatus {
  const resource = asObject(raw);
  const health = asObject(resource["health"]);
  const healthStatus = asString(health["status"]);
  const message = healthStatus === "Healthy" ? "" : cut(asString(health["message"]), HEALTH_MESSAGE_LIMIT);
  return {
    group: asString(resource["group"]),
    version: asString(resource["version"]),
    kind: asString(resource["kind"]),
    namespace: asString(resource["namespace"]),
    name: asString(resource["name"]),
    status: asString(resource["status"]),
    ...(healthStatus === "" ? {} : { health: { status: healthStatus, ...(message === "" ? {} : { message }) } }),
  };
}

/** Of too many objects those are kept that something is wrong with, up to the limit. */
function withinLimits(resources: readonly ResourceStatus[]): readonly ResourceStatus[] {
  const [broken, others] = [
    resources.filter(isUnhealthy).sort(byResource),
    resources.filter((each) => !isUnhealthy(each)).sort(byResource),
  ];
  let left = HEALTH_MESSAGES_LIMIT;
  const bounded = broken.slice(0, RESOURCE_LIMIT).map((resource) => {
    left -= resource.health?.message?.length ?? 0;
    return left >= 0 || resource.health === undefined ? resource : { ...resource, health: { status: resource.health.status } };
  });
  return [...bounded, ...others.slice(0, RESOURCE_LIMIT - bounded.length)].sort(byResource);
}

function isUnhealthy({ health }: ResourceStatus): boolean {
  return health !== undefined && health.status !== "Healthy";
}

function byResource(a: ResourceStatus, b: ResourceStatus): number {
  return compare(resourceKey(a), resourceKey(b));
}

function resourceKey(resource: ResourceStatus): string {
  return [resource.group, resource.kind, resource.namespace, resource.name, resource.version].join("\u0000");
}

function byCondition(a: EngineCondition, b: EngineCondition): number {
  return compare(`${a.type}\u0000${a.message}`, `${b.type}\u0000${b.message}`);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function cut(text: string, limit: number = MESSAGE_LIMIT): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}
