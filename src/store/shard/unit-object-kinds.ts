import type { ShardKind } from "../../domain/shard-object.ts";

/** What must stand on a unit's owner, at the unit's desired revision, before any of its Applications may. */
export const UNIT_OBJECT_KINDS = ["account", "owner-binding", "project"] as const satisfies readonly ShardKind[];
