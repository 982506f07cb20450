import { z } from "zod";
import type { InstanceId, UnitId, WorkspaceId } from "../../domain/ids.ts";

/** What a workspace filled on an instance: the disk or the memory of its repo-server. */
export const FILLED = ["disk", "memory"] as const;
export type Filled = (typeof FILLED)[number];

const id = <Id extends string>() => z.string().transform((text) => text as Id);

/** What the journal keeps of a quarantine: enough for anybody to carry it on. */
export const quarantineEntry = z.object({
  source: id<InstanceId>().describe("the instance that has too much to do"),
  sourceName: z.string(),
  class: z.string(),
  workspaceId: id<WorkspaceId>(),
  unitId: id<UnitId>(),
  namespace: z.string(),
  target: z.string().describe("name of the instance that is to be the workspace's own"),
  pool: z.string(),
  isNew: z.boolean().describe("whether its pool is asked for it"),
  filled: z.enum(FILLED).optional().describe("what it filled there; absent: it took most of an instance that was overloaded"),
});
export type QuarantineEntry = z.infer<typeof quarantineEntry>;
