import { z } from "zod";
import * as say from "../messages.ts";
import {
  conditions,
  count,
  LONGEST_MESSAGE,
  LONGEST_NAME,
  LONGEST_REVISION,
  ruled,
  type SchemaNotes,
  textSchema,
  time,
} from "../parts/schema.ts";

export const syncRunSpec = ruled(
  z.object({
    gitopsDeploymentName: ruled(textSchema(LONGEST_NAME, "Name of a manual GitOpsDeployment of this namespace."), [
      { cel: "self == oldSelf", message: say.DEPLOYMENT_NAME_CHANGED },
    ]),
    revisionID: textSchema(LONGEST_REVISION, "Revision to deploy; empty means the deployment's own.").optional(),
    prune: z.boolean().describe("Whether objects that left Git are deleted; absent means no.").optional(),
    ttlSecondsAfterFinished: z
      .int()
      .min(0)
      .max(2_147_483_647)
      .describe("Seconds after its end until the run is deleted; absent means never.")
      .optional(),
  }),
  [
    {
      cel: "(has(self.revisionID) ? self.revisionID : '') == (has(oldSelf.revisionID) ? oldSelf.revisionID : '')",
      message: say.REVISION_CHANGED,
    },
  ],
);

export const syncRunStatus = z.object({
  observedGeneration: count("Generation of the resource this status is about.").optional(),
  conditions: conditions.optional(),
  phase: textSchema(64, "Pending, Running, Succeeded, Failed or Terminated.").optional(),
  revision: textSchema(LONGEST_REVISION, "Revision that was deployed.").optional(),
  startedAt: time("When the sync began.").optional(),
  finishedAt: time("When the sync ended.").optional(),
  message: textSchema(LONGEST_MESSAGE, "How it went.").optional(),
  hooks: z
    .array(
      z.object({
        kind: textSchema(LONGEST_NAME, "Kind.").optional(),
        namespace: textSchema(LONGEST_NAME, "Namespace.").optional(),
        name: textSchema(LONGEST_NAME, "Name.").optional(),
        type: textSchema(LONGEST_NAME, "PreSync, Sync, PostSync or SyncFail.").optional(),
        phase: textSchema(LONGEST_NAME, "Running, Succeeded, Failed, Error or Terminating.").optional(),
        message: textSchema(LONGEST_MESSAGE, "How it went.").optional(),
      }),
    )
    .meta({ listType: "atomic", description: "Results of the sync's hooks, at most 50." } satisfies SchemaNotes & { description: string })
    .optional(),
});

export type SyncRunStatus = z.infer<typeof syncRunStatus>;
