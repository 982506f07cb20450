import type { MoveWorld } from "../../mover/next-step.ts";
import type { EngineShard } from "../../reconciler/port.ts";
import type { Property } from "../checkers/checker.ts";
import type { Breaker, Ports } from "../fleet/argosy.ts";
import type { PartsBreaker } from "../run.ts";

/** A mistake that Argosy could make, made on purpose by an adapter or a core function, and the property through which it must be found. */
export interface Bug {
  readonly name: string;
  readonly about: string;
  readonly property: Property;
  /** The scenario whose runs have to find it. */
  readonly scenario: string;
  /** A seed that found it; absent: the first one did. A change of the order of calls makes it useless; then the hunt goes on from seed 1. */
  readonly seed?: number;
  readonly breaker?: Breaker;
  /** What it breaks of what parts of a workspace go by. */
  readonly parts?: PartsBreaker;
}

/** Replaces ports. */
export const withPorts =
  (change: (ports: Ports) => Partial<Ports>): Breaker =>
  (ports) => ({ ...ports, ...change(ports) });

/** Replaces methods of the port through which the Applications of every instance are read and written. */
export const withApplications = (
  engines: Ports["engines"],
  change: (applications: Applications) => Partial<Applications>,
): Ports["engines"] => {
  // One for each, as the port itself has one: whoever follows it notices another.
  const changed = new WeakMap<object, EngineShard>();
  return {
    ...engines,
    async get(place) {
      const shard = await engines.get(place);
      if (shard === undefined) return undefined;
      const one = changed.get(shard) ?? { ...shard, applications: { ...shard.applications, ...change(shard.applications) } };
      changed.set(shard, one);
      return one;
    },
  };
};
type Applications = EngineShard["applications"];

/** Makes the mover decide by another world than there is. */
export const seeing = (blur: (world: MoveWorld, move: Parameters<Ports["decide"]>[0]) => MoveWorld): Breaker =>
  withPorts(({ decide }) => ({ decide: (move, world) => decide(move, blur(world, move)) }));
