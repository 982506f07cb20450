import { readClass } from "../domain/fleet.ts";
import type { Instance } from "../domain/instance.ts";
import type { InstanceTraits } from "../domain/needs.ts";
import { isBelowFloor } from "../domain/version.ts";

/**
 * What an instance offers apart from capacity. Region, trust and version channel are those of its class, which it keeps for life:
 * if its pool is declared anew, the instance keeps the traits it was made with. Whether its version is safe follows from the `floor`
 * that is declared now; `undefined`: none is.
 */
export function instanceTraits(instance: Pick<Instance, "class" | "engineCluster" | "version">, floor: string | undefined): InstanceTraits {
  const { region, trust, channel } = readClass(instance.class);
  return {
    ...{ class: instance.class, region, trust, engineCluster: instance.engineCluster },
    ...(channel === undefined ? {} : { channel }),
    isBelowFloor: floor !== undefined && isBelowFloor(instance.version, floor),
  };
}
