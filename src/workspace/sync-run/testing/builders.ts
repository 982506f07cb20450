import { type Millis, millis } from "../../../domain/clock.ts";
import type { ApplicationId } from "../../../domain/ids.ts";
import { NOT_BEGUN, type RunProgress, type SyncRun } from "../../../domain/sync-run.ts";
import type { ObservedResource } from "../../../domain/user-resource.ts";
import { aRecord, aResource } from "../../testing/builders.ts";
import type { RunRecord } from "../run-status.ts";

export const NOW: Millis = millis(Date.UTC(2026, 0, 1, 12));

export function aRunResource(over: Partial<ObservedResource> = {}, spec: Readonly<Record<string, unknown>> = {}): ObservedResource {
  const base = { name: "release-42", uid: "run-1", createdAt: "2026-01-01T12:00:00Z" };
  return aResource({ ...base, spec: { gitopsDeploymentName: "guestbook", ...spec }, ...over });
}

export function aSyncRun(progress: Partial<RunProgress> = {}, over: Partial<SyncRun> = {}): SyncRun {
  const asked = { revision: "", prune: false, createdAt: NOW, recordedAt: NOW, isCancelled: false, requestedAt: undefined };
  const applicationId = "application-1" as ApplicationId;
  return { uid: "run-1", namespace: "jane", name: "release-42", applicationId, ...asked, progress: { ...NOT_BEGUN, ...progress }, ...over };
}

/** What is recorded of {@link aRunResource}, whose deployment is placed and manual. */
export function aRunRecord(progress: Partial<RunProgress> = {}, over: Partial<RunRecord> = {}): RunRecord {
  const { application } = aRecord(undefined);
  return {
    run: aSyncRun(progress),
    application: { ...application, spec: { ...application.spec, type: "manual" } },
    isPlaced: true,
    ahead: 0,
    ...over,
  };
}
