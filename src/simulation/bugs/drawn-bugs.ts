import { type Bug, seeing } from "./bug.ts";

/** Mistakes that show only when several things come together; scenarios that are drawn for each seed found them first. */
export const DRAWN_BUGS: readonly Bug[] = [
  {
    name: "own-namespace-unseen",
    about: "a move does not see that the unit's own namespace is gone",
    ...{ property: "I4", scenario: "move-ended-namespaces", seed: 99 },
    breaker: seeing((world) => ({ ...world, isNamespaceGone: false })),
  },
  {
    name: "leftovers-kept",
    about: "a move leaves Applications on its target whose deployments are gone",
    ...{ property: "settled", scenario: "move-back", seed: 9 },
    breaker: seeing((world) => ({
      ...world,
      onTarget: world.onTarget.filter(({ at }) => world.pairs.some(({ target }) => target?.at.name === at.name)),
    })),
  },
];
