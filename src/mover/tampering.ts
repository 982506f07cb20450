import type { RegisterSight } from "../shard/parse-sight.ts";
import type { Tampering } from "../shard/tampering.ts";
import type { Write } from "./verdict.ts";

/**
 * What somebody else did to a register that is handed over, judged from what stands and from the write that mends it; `undefined`: the
 * write is the move's own. A register of ours has an epoch, and is neither away nor ending.
 */
export function tamperingOf(register: RegisterSight | undefined, write: Write): Tampering | undefined {
  if (register === undefined) return write.kind === "create" ? { what: "deleted", by: undefined } : undefined;
  if (write.kind === "delete") return { what: "replaced", by: register.lastWrite };
  if (register.isDeleting) return { what: "deleted", by: register.lastWrite };
  return register.epoch === undefined ? { what: "edited", by: register.lastWrite } : undefined;
}
