import { FAR_CLUSTER } from "./declared.ts";
import type { Fleet } from "./fleet.ts";

/**
 * Waits for moves that make an instance on the far cluster the owner: right after that the new owner has neither the right to write nor
 * active Applications yet. Each `act` is called once, with the unit of one such move, in the order in which they were asked for.
 */
export function createFarOwners({ world, instances }: Pick<Fleet, "world" | "instances">): (act: (unit: string) => void) => void {
  const far = new Set<string>(instances.flatMap(({ id, engineCluster }) => (engineCluster === FAR_CLUSTER ? [id] : [])));
  const waiting: ((unit: string) => void)[] = [];
  world.history.follow(({ happening }) => {
    if (happening.kind === "move" && happening.phase === "GRANT" && far.has(happening.to)) waiting.shift()?.(happening.unit);
  });
  return (act) => void waiting.push(act);
}
