import type { Environment } from "../domain/environment.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { ShardObject } from "../domain/shard-object.ts";

interface Entered {
  /** Those the unit uses now. */
  readonly environments: readonly Pick<Environment, "id" | "name" | "createsAccount">[];
  /** What was recorded of the unit's objects, on any instance. */
  readonly acknowledged: readonly ShardObject[];
}

/**
 * Of what an instance was given to enter environments with only an account of the unit's on it can be taken from it: an environment with
 * the user's own credential, or whose recorded entry is another than that of the account, is named. `ours`: content hashes of the entries
 * of accounts, by id of the environment.
 */
export function nameFreelyEntered(
  { environments, acknowledged }: Entered,
  instanceId: InstanceId,
  ours: ReadonlyMap<string, string>,
): string | undefined {
  const soft = environments.find(({ createsAccount }) => !createsAccount);
  if (soft !== undefined) return soft.name;
  const recorded = acknowledged.filter((object) => object.kind === "cluster-entry" && object.instanceId === instanceId);
  const other = recorded.find(({ subject, hash }) => ours.get(subject) !== hash);
  return other && (environments.find(({ id }) => id === other.subject)?.name ?? other.subject);
}
