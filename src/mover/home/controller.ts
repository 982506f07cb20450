import type { UnitId } from "../../domain/ids.ts";
import type { Workspace } from "../../domain/workspace.ts";
import type { ObjectAt } from "../../shard/managed-object.ts";
import { unitOf } from "../../shard/parse-application.ts";
import type { RegisterSight } from "../../shard/parse-sight.ts";
import type { ManagedCluster } from "../port.ts";

/** A unit's own namespace as a step finds it. */
export interface Home {
  readonly register: RegisterSight | undefined;
  /** It ends without a register, or is gone, whatever has its name now: nobody can be given a right there any more. */
  readonly isGone: boolean;
}

/** Nobody has looked there. */
export const UNSEEN: Home = { register: undefined, isGone: false };

/**
 * Reads the register of a unit and, where it is not there or says that it is another unit's, whether the namespace is still the unit's own:
 * in one that ends nothing can be made, and in another one of its name stands the register of whoever has that one.
 */
export async function lookHome(
  { unitId, workspace, register: at }: { readonly unitId: UnitId; readonly workspace: Workspace; readonly register: ObjectAt },
  managed: Pick<ManagedCluster, "read" | "readNamespace">,
  signal: AbortSignal,
): Promise<Home> {
  const register = await managed.read(at, signal);
  if (register !== undefined && unitOf(register) === unitId) return { register, isGone: false };
  const namespace = await managed.readNamespace(workspace.namespace, signal);
  if (namespace?.uid !== workspace.namespaceUid) return { register: undefined, isGone: true };
  return { register, isGone: register === undefined && namespace.isDeleting };
}
