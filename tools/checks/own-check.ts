import type { Project } from "./project.ts";

/** A rule of the house that no linter knows, decided from the text of the checkout alone. */
export interface OwnCheck {
  readonly name: string;
  /** What a person does about a problem. */
  readonly mend: string;
  readonly find: (project: Project) => Findings;
}

export interface Findings {
  readonly problems: readonly string[];
  /** Worth knowing, and no failure. */
  readonly notes?: readonly string[];
}
