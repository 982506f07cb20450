/** What is wrong with a resource, in words for its user. */
export interface Problem {
  /** Field as users write it. */
  readonly path: string;
  readonly message: string;
  /** Words for a resource that was accepted before, where they differ. */
  readonly onUpdate?: string;
}

/** One text for all problems; `isKnown` when the resource was accepted before. */
export function describeProblems(problems: readonly Problem[], isKnown: boolean): string {
  return problems.map(({ message, onUpdate }) => (isKnown ? (onUpdate ?? message) : message)).join("; ");
}
