import { z } from "zod";
import type { InstanceId, UnitId, WorkspaceId } from "../../domain/ids.ts";

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
});
export type QuarantineEntry = z.infer<typeof quarantineEntry>;
