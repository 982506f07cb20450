import type { SyncRun } from "../../domain/sync-run.ts";
import type { Application } from "../../domain/workspace.ts";

/** What the database knows of a run, as far as its user's status goes. */
export interface RunRecord {
  readonly run: SyncRun;
  readonly application: Pick<Application, "argoName" | "name" | "spec" | "deletedAt"> | undefined;
  readonly isPlaced: boolean;
  /** Unfinished runs that go first. */
  readonly ahead: number;
}
