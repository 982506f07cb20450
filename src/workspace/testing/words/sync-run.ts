import * as say from "../../api/messages.ts";
import { composeRun, type RunStatusFacts } from "../../sync-run/run-status.ts";
import { aRunRecord, aRunResource, NOW } from "../../sync-run/testing/builders.ts";
import { aRecord } from "../builders.ts";
import type { WordsCase } from "./case.ts";

const said =
  (over: Partial<RunStatusFacts> = {}): WordsCase["said"] =>
  () =>
    composeRun(
      { resource: aRunResource(), record: aRunRecord(), hasDeployment: true, hidden: [], kinds: {}, quota: undefined, ...over },
      NOW,
    ).status.conditions;
const missing = { record: aRunRecord({}, { application: undefined }), hasDeployment: false };
const automated = { record: aRunRecord({}, { application: aRecord(undefined).application }) };
const leaving = { record: aRunRecord({}, { application: { ...aRunRecord().application, deletedAt: 0 } as never }) };
const wrong = { resource: aRunResource({}, { revisionID: "-x" }), record: undefined };

type Row = readonly [condition: string, message: string, compared: WordsCase["compared"], why: string, said: WordsCase["said"]];
const rows: readonly Row[] = [
  [
    "ErrorOccurred=False/",
    "",
    "better",
    "once the sync has succeeded, not when it was handed over",
    said({ record: aRunRecord({ phase: "Succeeded" }) }),
  ],
  ["ErrorOccurred=True/ErrorOccurred", say.RUN_DEPLOYMENT_UNKNOWN("guestbook"), "same", "", said(missing)],
  ["ErrorOccurred=True/ErrorOccurred", say.RUN_DEPLOYMENT_AUTOMATED("release-42"), "same", "", said(automated)],
  [
    "ErrorOccurred=True/ErrorOccurred",
    "one or more objects failed to apply",
    "better",
    "a sync that failed in Argo CD was no error",
    said({ record: aRunRecord({ phase: "Failed", message: "one or more objects failed to apply" }) }),
  ],
  [
    "Ready=True/Succeeded",
    "What revision 3f2c1d0 says was deployed",
    "new",
    "",
    said({ record: aRunRecord({ phase: "Succeeded", revision: "3f2c1d0" }) }),
  ],
  ["Stalled=True/Failed", "The sync did not take place", "new", "or Argo CD's message", said({ record: aRunRecord({ phase: "Failed" }) })],
  ["Stalled=True/Terminated", "The sync did not take place", "new", "", said({ record: aRunRecord({ phase: "Terminated" }) })],
  ["Reconciling=True/DeploymentNotFound", say.RUN_DEPLOYMENT_UNKNOWN("guestbook"), "new", "it waits for an hour", said(missing)],
  ["Stalled=True/DeploymentAutomated", say.RUN_DEPLOYMENT_AUTOMATED("release-42"), "new", "", said(automated)],
  ["Stalled=True/InvalidSpec", "spec.revisionID must not begin with '-'", "new", "", said(wrong)],
  [
    "Reconciling=True/WaitingForDeployment",
    "Waiting until the deployment 'guestbook' is accepted: see its status",
    "new",
    "",
    said({ record: undefined }),
  ],
  [
    "Reconciling=True/WaitingForCapacity",
    "There is no room for the deployment at the moment: it goes on as soon as there is",
    "new",
    "",
    said({ record: aRunRecord({}, { isPlaced: false }) }),
  ],
  [
    "Reconciling=True/QuotaExceeded",
    "This namespace may begin 20 syncs a minute: this one begins when it may",
    "new",
    "",
    said({ record: undefined, quota: 20 }),
  ],
  [
    "Reconciling=True/DeploymentDeleting",
    "The deployment is being deleted: the run waits up to an hour for another one of its name",
    "new",
    "",
    said(leaving),
  ],
  ["Reconciling=True/Queued", "Waiting for 1 earlier run of this deployment", "new", "", said({ record: aRunRecord({}, { ahead: 1 }) })],
  [
    "Reconciling=True/Pending",
    "Waiting until the deployment's latest change is applied, which its status tells of, and no other sync is under way",
    "new",
    "",
    said(),
  ],
  ["Reconciling=True/Running", "The sync is under way", "new", "", said({ record: aRunRecord({ phase: "Running" }) })],
  ["Reconciling=True/Terminating", "Waiting until the sync has ended", "new", "", said({ resource: aRunResource({ isDeleting: true }) })],
  [
    "Ready=False/Paused",
    'Nothing begins while the annotation argosy.dev/paused is "true"',
    "new",
    "",
    said({ resource: aRunResource({ isPaused: true }), record: undefined }),
  ],
];

export const syncRunWords: readonly WordsCase[] = rows.map(([condition, message, compared, why, each]) => ({
  ...{ kind: "syncRun", condition, message, compared, why, said: each },
}));
