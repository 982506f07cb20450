import { UNIT_OBJECT_KINDS } from "../../../shard/unit-object-kinds.ts";

/** Expression: the lowest revision that the owner of unit `u` has acknowledged for the unit's objects, 0 while one is missing. */
export const UNIT_APPLIED_REVISION = `coalesce((
         select case when count(*) = ${UNIT_OBJECT_KINDS.length} then min(p.applied_revision) end
           from shard_object p
          where p.subject = u.id and p.instance = u.owner and p.epoch = u.epoch and p.kind in (${UNIT_OBJECT_KINDS.map((kind) => `'${kind}'`).join(", ")})), 0)`;
