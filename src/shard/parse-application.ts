import type { Millis } from "../domain/clock.ts";
import type { ApplicationId, InstanceId, UnitId } from "../domain/ids.ts";
import { asArray, asObject, asString, asTime, type Json } from "../domain/json.ts";
import { LABEL_APPLICATION, LABEL_INSTANCE, LABEL_UNIT, LABEL_UNIT_OF_ENVIRONMENTS } from "../domain/names.ts";
import type { ObservedObject } from "./managed-object.ts";
import { ANNOTATION_REFRESH, environmentOfServer, environmentProjectName, projectName } from "./names.ts";
import { type AutomatedSync, parseAutomatedSync } from "./parse-automated-sync.ts";
import { parseObject } from "./parse-object.ts";
import { type ObservedSync, parseSync } from "./parse-sync.ts";
import { parseUnfinished } from "./parse-unfinished.ts";
import { type KeptReport, projectKeptStatus, projectStatus, type Report } from "./project-status.ts";

/**
 * By which of its unit's projects an Application is deployed to an environment. Versions before named the project of the own namespace for
 * everything.
 */
export type EnvironmentAccess = "environment-project" | "own-project";

/** What is kept of an Argo CD Application: what we wrote in it, and what it says. */
export interface ObservedApplication extends ObservedObject {
  readonly finalizers: readonly string[];
  readonly createdAt: Millis | undefined;
  /** When its deletion was asked for. */
  readonly deletingSince: Millis | undefined;
  /** Absent until the controller has said something. */
  readonly report: KeptReport | undefined;
  readonly sync: ObservedSync;
  /** The present or last sync, where Argo CD began it by itself. */
  readonly automatedSync: AutomatedSync | undefined;
  /** It follows Git by itself. */
  readonly isAutomated: boolean;
  /** Argo CD was asked to refresh it and has not finished that. */
  readonly isRefreshing: boolean;
  /** Whether the instance's controller has work with it. */
  readonly isUnfinished: boolean;
  /** Where it is deployed to; empty where it does not say. */
  readonly server: string;
  /** Absent: it is not deployed to an environment, or by no project of its unit. */
  readonly entersBy: EnvironmentAccess | undefined;
}

/** `before`: as it was seen last. What one that is being deleted says is read anew: what it deployed is what has to go. */
export function parseApplication(raw: unknown, before?: ObservedApplication): ObservedApplication | undefined {
  return parseWith(raw, (status, isDeleting) => projectKeptStatus(status, isDeleting ? undefined : before?.report));
}

/** An Application that is read for one decision: nothing of what it says is compared with what it said before. */
export type ReadApplication = Omit<ObservedApplication, "report"> & { readonly report: Report | undefined };

export function parseReadApplication(raw: unknown): ReadApplication | undefined {
  return parseWith(raw, projectStatus);
}

function parseWith<R extends Pick<Report, "reconciledAt"> | undefined>(
  raw: unknown,
  project: (status: unknown, isDeleting: boolean) => R,
): (Omit<ObservedApplication, "report"> & { readonly report: R }) | undefined {
  const object = parseObject("application", raw);
  if (object === undefined) return undefined;
  const meta = asObject(asObject(raw)["metadata"]);
  const said = { report: project(asObject(raw)["status"], object.isDeleting), sync: parseSync(raw) };
  return {
    ...object,
    ...said,
    finalizers: asArray(meta["finalizers"]).filter((entry) => typeof entry === "string"),
    createdAt: asTime(meta["creationTimestamp"]),
    deletingSince: asTime(meta["deletionTimestamp"]),
    automatedSync: parseAutomatedSync(raw),
    isAutomated: asObject(asObject(asObject(raw)["spec"])["syncPolicy"])["automated"] !== undefined,
    isRefreshing: asObject(meta["annotations"])[ANNOTATION_REFRESH] !== undefined,
    isUnfinished: parseUnfinished(raw, said),
    server: asString(asObject(asObject(asObject(raw)["spec"])["destination"])["server"]),
    entersBy: parseAccess(unitOf(object), asObject(asObject(raw)["spec"])),
  };
}

function parseAccess(unit: UnitId | undefined, spec: Json): EnvironmentAccess | undefined {
  const isElsewhere = environmentOfServer(asString(asObject(spec["destination"])["server"])) !== undefined;
  if (unit === undefined || !isElsewhere) return undefined;
  if (spec["project"] === environmentProjectName(unit)) return "environment-project";
  return spec["project"] === projectName(unit) ? "own-project" : undefined;
}

export function applicationOf(observed: Pick<ObservedObject, "labels">): ApplicationId | undefined {
  return observed.labels[LABEL_APPLICATION] as ApplicationId | undefined;
}

export function unitOf(observed: Pick<ObservedObject, "labels">): UnitId | undefined {
  return (observed.labels[LABEL_UNIT] ?? observed.labels[LABEL_UNIT_OF_ENVIRONMENTS]) as UnitId | undefined;
}

export function holderOf(observed: Pick<ObservedObject, "labels">): InstanceId | undefined {
  return observed.labels[LABEL_INSTANCE] as InstanceId | undefined;
}

/** Whether an Application may be other than we want: Argo CD's own reports, by far the most events, do not count. */
export function differsInRequest(before: ObservedApplication | undefined, now: ObservedApplication): boolean {
  return before === undefined || differsInContent(before, now) || before.finalizers.join() !== now.finalizers.join();
}

/** Whether anything that we decide on an object has changed. */
export function differsInContent(before: ObservedObject | undefined, now: ObservedObject): boolean {
  return (
    before === undefined ||
    before.uid !== now.uid ||
    before.contentHash !== now.contentHash ||
    before.isDeleting !== now.isDeleting ||
    !sameEntries(before.labels, now.labels) ||
    !sameEntries(before.annotations, now.annotations)
  );
}

/** Whether Argo CD reports something else, or has refreshed again. */
export function differsInReport(before: ObservedApplication | undefined, now: ObservedApplication): boolean {
  return (
    now.report?.hash !== before?.report?.hash || now.report?.reconciledAt !== before?.report?.reconciledAt || now.epoch !== before?.epoch
  );
}

function sameEntries(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/** Whether a finalizer is one that Argo CD takes off by itself, once what it stands for is done. */
export function isFinalizerOfArgo(finalizer: string): boolean {
  return finalizer.includes("argocd.argoproj.io");
}
