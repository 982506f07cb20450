import { z } from "zod";
import { ENTRIES, INSTANCE_STATES, RAISABLE_AMOUNTS } from "../domain/instance.ts";
import { LOAD_DIMENSIONS } from "../domain/load.ts";
import { OPERATION_KINDS, OPERATION_STATES } from "../domain/operation.ts";
import { HEALTH_STATES, SYNC_STATES } from "../domain/status.ts";
import { TOKEN_ROLES } from "../store/token/port.ts";

const time = z.iso.datetime().describe("UTC, RFC 3339");
export const loadView = z.object(
  Object.fromEntries(LOAD_DIMENSIONS.map((name) => [name, z.number()])) as Record<(typeof LOAD_DIMENSIONS)[number], z.ZodNumber>,
);

export const raisedAmount = z
  .object({
    amount: z.enum(RAISABLE_AMOUNTS),
    declared: z.string().describe("what its pool declares"),
    given: z.string().describe("what it has"),
  })
  .meta({ id: "RaisedAmount" });
export const instanceViewSchema = z
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
    entries: z.enum(ENTRIES).describe("whether it reads the API cluster by one cluster entry for all its workspaces, or by one for each"),
    units: z.number().int(),
    load: loadView.describe("planning load of the units it holds, in the units of fleet.yaml"),
    capacity: loadView.describe("in the units of fleet.yaml"),
    raised: z.array(raisedAmount).describe("resources that it has beyond those of its pool, because it ran out of them"),
    clusterEntries: z
      .number()
      .int()
      .nullable()
      .describe("clusters it caches, its own share of the API cluster among them; null unless asked for with usage=true and read"),
    controllerMemoryBytes: z
      .number()
      .nullable()
      .describe("resident memory of its controller; null unless asked for with usage=true and read"),
    utilisation: z.number().describe("largest share of a dimension in use, 0 to 1 and beyond"),
  })
  .meta({ id: "Instance" });

export const workspaceViewSchema = z
  .object({
    id: z.string(),
    namespace: z.string(),
    apiCluster: z.string(),
    trustClass: z.string(),
    state: z.enum(["active", "deleting"]),
    applications: z.number().int(),
    units: z.array(
      z.object({
        id: z.string(),
        class: z.string(),
        wantedClass: z
          .string()
          .nullable()
          .describe("the class it is to have by labels of its namespace or by an order, while it has another one; else null"),
        instance: z.string().nullable(),
        epoch: z.number().int(),
        phase: z.string(),
      }),
    ),
  })
  .meta({ id: "Workspace" });

const syncFailureView = z.object({
  message: z.string(),
  since: time.nullable().describe("when Argo CD began the sync that fails; null where it does not say"),
  attempt: z.number().int().describe("how often it was tried, the first time being 1"),
});

export const failingSyncView = syncFailureView
  .extend({
    application: z.string().describe("namespace/name"),
    instance: z.string().nullable(),
    phase: z.string().nullable().describe("of Argo CD's operation; null: it has none"),
    text: z.string().describe("the same as a sentence"),
  })
  .meta({ id: "FailingSync" });

const syncOperationView = z.object({
  phase: z.string().describe("Running, Terminating, Succeeded, Failed or Error"),
  message: z.string(),
  revision: z.string(),
  startedAt: time.nullable(),
  finishedAt: time.nullable().describe("when the last attempt ended; one that is Running all the same waits for the next"),
  attempt: z.number().int(),
});

export const applicationViewSchema = z
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
    failure: syncFailureView.nullable().describe("its sync fails; null: none does"),
    operation: syncOperationView.nullable().describe("Argo CD's present or last operation on it; null before the first"),
    errors: z.array(z.object({ type: z.string(), message: z.string() })).describe("Argo CD's conditions that are errors"),
  })
  .meta({ id: "Application" });

export const operationViewSchema = z
  .object({
    id: z.string(),
    kind: z.enum([...OPERATION_KINDS, "sync"]).describe("sync: an operation of Argo CD's that is under way, or fails"),
    subject: z.string().describe("id of the application it is about"),
    subjectName: z.string().nullable().describe("namespace/name of that application; null once it is gone"),
    workspace: z.string(),
    instance: z.string().nullable(),
    state: z.enum(OPERATION_STATES),
    attempts: z.number().int(),
    createdAt: time,
    updatedAt: time,
    deadline: time.nullable().describe("when it should have been completed; null: a sync of Argo CD's has no such time"),
    message: z.string(),
  })
  .meta({ id: "Operation" });

export const decisionViewSchema = z
  .object({
    at: time,
    subject: z.string(),
    kind: z.string(),
    verdict: z.string(),
    rule: z.string(),
    text: z.string().describe("what was decided, by whom and why, as a sentence"),
    details: z.record(z.string(), z.unknown()).describe("what it rests on; `reason` and `actor` mean the same everywhere"),
  })
  .meta({ id: "Decision" });

export const journalEntry = decisionViewSchema
  .extend({
    name: z.string().nullable().describe("what people call the subject; null where it is gone"),
    actor: z.string().nullable().describe("who said so; null: the control plane itself"),
    holds: z
      .boolean()
      .nullable()
      .describe("whether it gives the recorded verdict when it is asked again; null: there is nothing to ask, or nobody wanted to know"),
  })
  .meta({ id: "JournalEntry" });

export const instanceExplanationView = z
  .object({
    instance: instanceViewSchema,
    text: z.array(z.string()).describe("the same facts as sentences"),
    decisions: z.array(decisionViewSchema),
  })
  .meta({ id: "InstanceExplanation" });

const said = { actor: z.string(), reason: z.string(), at: time };
export const directiveViewSchema = z
  .object({
    pin: z
      .object({ instance: z.string().nullable(), pool: z.string().nullable(), ...said })
      .nullable()
      .describe("the instance, or the pool, it has to live on"),
    hold: z
      .object({ until: time, ...said })
      .nullable()
      .describe("until when it is not moved unless it must be"),
    assigned: z
      .object({ class: z.string(), ...said })
      .nullable()
      .describe("the class it has, whatever labels of its namespace ask for"),
  })
  .meta({ id: "Directive" });

export const freezeViewSchema = z
  .object({
    name: z.string(),
    schedule: z.string().nullable().describe("five fields as cron has them, in UTC; null: it began once, when it was ordered"),
    seconds: z.number().int().describe("how long it lasts each time"),
    ...said,
  })
  .meta({ id: "Freeze" });

export const tokenViewSchema = z
  .object({
    name: z.string(),
    role: z.enum(TOKEN_ROLES),
    scope: z
      .object({
        classes: z.array(z.string()).nullable().describe("null: not limited by class"),
        workspaces: z.array(z.string()).nullable().describe("null: not limited by workspace"),
      })
      .nullable()
      .describe("what the role is limited to; null: it is for the whole fleet"),
    state: z.enum(["active", "expired", "revoked"]),
    owner: z.string().nullable().describe("whom to ask about it; null where a version of before made it"),
    createdBy: z.string().nullable().describe("name of the token that made it, or database:… for who was at the database"),
    createdAt: time,
    expiresAt: time.nullable().describe("null: never"),
    lastUsedAt: time.nullable().describe("to a minute; null: not since this is recorded"),
    revokedAt: time.nullable(),
  })
  .meta({ id: "Token" });

export const quotaView = z
  .object({
    classes: z
      .array(z.string())
      .describe(
        "the classes it goes by; of several the smaller of each number holds; none: it has no unit, and its labels may say another class",
      ),
    deployments: z.number().int(),
    syncsPerMinute: z.number().int(),
    environments: z.number().int(),
    environmentObjects: z
      .number()
      .int()
      .nullable()
      .describe("objects that an instance may cache of one environment, each API counted as 8; null: nothing bounds them"),
    cpuShare: z
      .number()
      .nullable()
      .describe("share of its instance's `capacity.milliCpu` beyond which it is reported, 0 to 1; null: it never is"),
  })
  .meta({ id: "Quota" });

export const explanationView = z
  .object({
    workspace: workspaceViewSchema,
    directive: directiveViewSchema,
    quota: quotaView.nullable().describe("what it may have; null while no fleet is declared"),
    /** The same facts as sentences, one per line. */
    text: z.array(z.string()),
    decisions: z.array(decisionViewSchema),
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

export const checkView = z
  .object({
    name: z.string(),
    ok: z.boolean(),
    detail: z.string(),
    remedy: z.string(),
    remark: z.string().optional().describe("what was ordered or declared that looks like trouble and is no failure"),
  })
  .meta({ id: "Check" });

export const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(200),
  after: z.string().max(512).default("").describe("`next` of the page before"),
});

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), next: z.string().describe("pass as `after` for the next page; empty at the end") });
}

export type InstanceView = z.infer<typeof instanceViewSchema>;
export type WorkspaceView = z.infer<typeof workspaceViewSchema>;
export type ApplicationView = z.infer<typeof applicationViewSchema>;
export type FailingSyncView = z.infer<typeof failingSyncView>;
export type OperationView = z.infer<typeof operationViewSchema>;
export type DirectiveView = z.infer<typeof directiveViewSchema>;
export type TokenView = z.infer<typeof tokenViewSchema>;
export type FreezeView = z.infer<typeof freezeViewSchema>;
export type JournalEntry = z.infer<typeof journalEntry>;
export type InstanceExplanationView = z.infer<typeof instanceExplanationView>;
export type DecisionView = z.infer<typeof decisionViewSchema>;
export type ExplanationView = z.infer<typeof explanationView>;
export type CheckView = z.infer<typeof checkView>;
export type ProblemView = z.infer<typeof problemView>;
