import type { RegisterSight } from "../../shard/parse-sight.ts";

/** What stands on the API cluster and says who may write, and under which epochs that was written. */
export interface Standing {
  /** The newest epoch on any account of ours: users cannot write there. 0 where there is none. */
  newestEpoch(signal: AbortSignal): Promise<number>;
  /** Every register, of whatever unit. */
  listRegisters(signal: AbortSignal): Promise<readonly RegisterSight[]>;
  /** Takes the right from whomever it names, if it is as it was read. */
  revoke(register: RegisterSight, signal: AbortSignal): Promise<void>;
}
