/** What is wrong with a resource, in words for its user. */
export interface Problem {
  /** Field as users write it. */
  readonly path: string;
  readonly message: string;
  /** Words for a resource that was accepted before, where they differ. */
  readonly onUpdate?: string;
}

/** Problems that are named: who mends these sees the rest. */
const NAMED = 10;

/** One text for all problems, naming the first ten; `isKnown` when the resource was accepted before. */
export function describeProblems(problems: readonly Problem[], isKnown: boolean): string {
  const named = problems.slice(0, NAMED).map(({ message, onUpdate }) => (isKnown ? (onUpdate ?? message) : message));
  return [...named, ...(problems.length > NAMED ? [`and ${problems.length - NAMED} more`] : [])].join("; ");
}
