import type { Entry, History } from "../history.ts";

/** A property that did not hold, and when. */
export interface Violation {
  readonly property: Property;
  readonly at: number;
  readonly text: string;
}

/** The properties that are checked; I-numbers are those of docs/invariants.md. */
export const PROPERTIES = {
  I1: "at most one account is authorised to write for a unit",
  I2: "nothing is deleted that its user, or Git, did not delete",
  I3: "what users want is never changed, and no move takes it back",
  I4: "every move ends",
  I6: "what its user deleted does not come back, and what its user changed is live",
  I7: "epochs only grow",
  I8: "an owner binding names nobody but the account of the unit's owner, under the owner's epoch",
  idle: "a copy does nothing before its instance owns it",
  whole: "no move cuts a sync off, and no change of the spec ends a sync that deploys what is wanted",
  held: "a deployment with the user's finalizer stays until what it deployed is gone",
  settled: "once all is calm, rows, objects, owner bindings, Git and users' statuses agree, and nothing is left over",
  quiet: "at rest Argosy writes nothing",
} as const;
export type Property = keyof typeof PROPERTIES;

/** Reads the history entry by entry and returns what is wrong. It knows nothing but the entries. */
export interface Checker {
  readonly property: Property;
  observe(entry: Entry): string | undefined;
}

/** Follows a history with checkers and gathers what they find. */
export function followHistory(history: History, checkers: readonly Checker[]): readonly Violation[] {
  const violations: Violation[] = [];
  history.follow((entry) => {
    for (const { property, observe } of checkers) {
      const text = observe(entry);
      if (text !== undefined) violations.push({ property, at: entry.at, text });
    }
  });
  return violations;
}
