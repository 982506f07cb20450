import { type Bug, seeing } from "./bug.ts";

/** Mistakes that only several things together show, and that scenarios drawn anew for each seed were the first to find. */
export const DRAWN_BUGS: readonly Bug[] = [
  {
    name: "home-unseen",
    about: "a move takes the namespace of its unit for there, whatever became of it",
    ...{ property: "I4", scenario: "move-ended-namespaces", seed: 33 },
    breaker: seeing((world) => ({ ...world, isNamespaceGone: false })),
  },
  {
    name: "leftovers-kept",
    about: "a move leaves on its target what stood there for deployments that are gone",
    ...{ property: "settled", scenario: "move-back", seed: 9 },
    breaker: seeing((world) => ({
      ...world,
      onTarget: world.onTarget.filter(({ at }) => world.pairs.some(({ target }) => target?.at.name === at.name)),
    })),
  },
];
