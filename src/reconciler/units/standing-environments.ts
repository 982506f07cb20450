import type { Environment } from "../../domain/environment.ts";
import type { UnitId } from "../../domain/ids.ts";
import type { Application, PlacementUnit } from "../../domain/workspace.ts";
import { type MissingPrerequisite, missingPrerequisiteOf } from "../../shard/missing-prerequisite.ts";

/**
 * For which units this process has made what their deployments to environments need: project, repository Secrets, cluster entries. The rows
 * do not say it: a version that knows one project of a unit only acknowledges the same revision.
 */
export interface StandingEnvironments {
  /** It stands for this revision of the unit, but for what is missing. */
  add(unit: Pick<PlacementUnit, "id" | "epoch" | "desiredRevision">, missingPrerequisites: readonly MissingPrerequisite[]): void;
  /** The unit has none of it any more. */
  remove(id: UnitId): void;
  /** Whether it stands for this application. */
  covers(row: {
    readonly unit: Pick<PlacementUnit, "id" | "epoch" | "desiredRevision">;
    readonly application: Pick<Application, "spec">;
    readonly environment: Pick<Environment, "id"> | undefined;
  }): boolean;
}

export function createStandingEnvironments(): StandingEnvironments {
  const standing = new Map<
    UnitId,
    { readonly epoch: number; readonly revision: number; readonly missingPrerequisites: readonly MissingPrerequisite[] }
  >();
  return {
    add: ({ id, epoch, desiredRevision }, missingPrerequisites) =>
      void standing.set(id, { epoch, revision: desiredRevision, missingPrerequisites }),
    remove: (id) => void standing.delete(id),
    covers(row) {
      const one = standing.get(row.unit.id);
      if (one === undefined || one.epoch !== row.unit.epoch || one.revision < row.unit.desiredRevision) return false;
      return missingPrerequisiteOf(row, one.missingPrerequisites) === undefined;
    },
  };
}
