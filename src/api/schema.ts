import { z } from "zod";
import { INSTANCE_STATES } from "../domain/instance.ts";
import { LOAD_DIMENSIONS } from "../domain/load.ts";
import { OPERATION_KINDS, OPERATION_STATES } from "../domain/operation.ts";
import { HEALTH_STATES, SYNC_STATES } from "../domain/status.ts";

const time = z.iso.datetime().describe("UTC, RFC 3339");
const load = z.object(
  Object.fromEntries(LOAD_DIMENSIONS.map((name) => [name, z.number()])) as Record<(typeof LOAD_DIMENSIONS)[number], z.ZodNumber>,
);

export const instanceView = z
  .object({
    id: z.string(),
    name: z.string(),
    pool: z.string(),
    class: z.string(),
    engineCluster: z.string(),
    namespace: z.string(),
    version: z.string(),
    desiredVersion: z.string(),
    state: z.enum(INSTANCE_STATES),
    since: time,
    reason: z.string(),
    units: z.number().int(),
    load: load.describe("planning load of the units it holds, in the units of fleet.yaml"),
    capacity: load.describe("in the units of fleet.yaml"),
    utilisation: z.number().describe("largest share of a dimension in use, 0 to 1 and beyond"),
  })
  .meta({ id: "Instance" });

export const workspaceView = z
  .object({
    id: z.string(),
    namespace: z.string(),
    apiCluster: z.string(),
    trustClass: z.string(),
    state: z.enum(["active", "deleting"]),
    applications: z.number().int(),
    units: z.array(
      z.object({ id: z.string(), class: z.string(), instance: z.string().nullable(), epoch: z.number().int(), phase: z.string() }),
    ),
  })
  .meta({ id: "Workspace" });

export const applicationView = z
  .object({
    id: z.string(),
    namespace: z.string(),
    name: z.string(),
    argoName: z.string(),
    instance: z.string().nullable(),
    repoUrl: z.string(),
    path: z.string(),
    targetRevision: z.string(),
    type: z.enum(["automated", "manual"]),
    sync: z.enum(SYNC_STATES),
    revision: z.string(),
    health: z.enum(HEALTH_STATES),
    reconciledAt: time.nullable(),
    deleting: z.boolean(),
  })
  .meta({ id: "Application" });

export const operationView = z
  .object({
    id: z.string(),
    kind: z.enum(OPERATION_KINDS),
    subject: z.string().describe("id of the application it is about"),
    subjectName: z.string().nullable().describe("namespace/name of that application; null once it is gone"),
    workspace: z.string(),
    instance: z.string().nullable(),
    state: z.enum(OPERATION_STATES),
    attempts: z.number().int(),
    createdAt: time,
    updatedAt: time,
    message: z.string(),
  })
  .meta({ id: "Operation" });

export const decisionView = z
  .object({
    at: time,
    subject: z.string(),
    kind: z.string(),
    verdict: z.string(),
    rule: z.string(),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "Decision" });

export const explanationView = z
  .object({
    workspace: workspaceView,
    /** The same facts as sentences, one per line. */
    text: z.array(z.string()),
    decisions: z.array(decisionView),
  })
  .meta({ id: "Explanation" });

export const problemView = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.string(),
    complaints: z.array(z.object({ path: z.string(), message: z.string(), remedy: z.string() })).optional(),
  })
  .meta({ id: "Problem" });

export const checkView = z.object({ name: z.string(), ok: z.boolean(), detail: z.string(), remedy: z.string() }).meta({ id: "Check" });

export const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(200),
  after: z.string().max(512).default("").describe("`next` of the page before"),
});

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), next: z.string().describe("pass as `after` for the next page; empty at the end") });
}

export type InstanceView = z.infer<typeof instanceView>;
export type WorkspaceView = z.infer<typeof workspaceView>;
export type ApplicationView = z.infer<typeof applicationView>;
export type OperationView = z.infer<typeof operationView>;
export type DecisionView = z.infer<typeof decisionView>;
export type ExplanationView = z.infer<typeof explanationView>;
export type CheckView = z.infer<typeof checkView>;
export type ProblemView = z.infer<typeof problemView>;
