import type { SeenProject } from "../domain/seen-project.ts";

/** The AppProjects of the instance's own namespace. */
export interface Projects {
  /**
   * Lists and watches them until the signal is aborted. `onChange`: all of them as they are now; called first when they were listed whole.
   */
  follow(onChange: (projects: readonly SeenProject[]) => void, signal: AbortSignal): void;
  /** Writes the annotation that says what is let in. Throws where the cluster does not take it, or does not answer. */
  annotate(project: SeenProject, letIn: string, signal: AbortSignal): Promise<void>;
}
