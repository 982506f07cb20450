import type { Environment } from "../../domain/environment.ts";
import type { ApplicationId, EnvironmentId } from "../../domain/ids.ts";
import type { EngineStatus } from "../../domain/status.ts";
import type { Application } from "../../domain/workspace.ts";
import { type ApplicationPlacement, type Destination, ownServer } from "../../shard/application-placement.ts";
import type { DesiredObject } from "../../shard/managed-object.ts";
import { projectName } from "../../shard/names.ts";
import type { ApplicationObservation } from "../../shard/parse-observation.ts";
import { isUnderWay } from "../../shard/parse-sync.ts";
import { renderApplication, targetOf } from "../../shard/render-application.ts";

/** One application of a unit that is moved, on both instances. */
export interface Pair {
  readonly name: string;
  /** What it is to be on the target under the move's epoch, as its row says now; absent where it cannot be deployed to anywhere. */
  readonly desired: DesiredObject | undefined;
  /** It deploys to a remote cluster, which may be unreachable. */
  readonly isRemote: boolean;
  /** Its user deletes it. The deletion waits for the end of the move. */
  readonly isLeaving: boolean;
  readonly source: ApplicationObservation | undefined;
  /** Nobody observes the source: whether it is there is not known, and what was last recorded of it is all there is. */
  readonly isSourceUnknown: boolean;
  /** Its status before the move: as it is, or as it was last recorded. */
  readonly before: EngineStatus | undefined;
  readonly target: ApplicationObservation | undefined;
}

interface Row {
  readonly application: Application;
  readonly environment: Environment | undefined;
}

interface Sides {
  readonly rows: readonly Row[];
  readonly onSource: readonly ApplicationObservation[];
  /** Nobody reaches the source. */
  readonly isSourceAway: boolean;
  readonly onTarget: readonly ApplicationObservation[];
  /** Environments that the target does without: what deploys there is on neither instance for now. */
  readonly unknown: readonly EnvironmentId[];
  readonly own: Destination;
  /** The last recorded statuses, where nobody observes the source; absent: the source is observed. */
  readonly recorded: ReadonlyMap<ApplicationId, EngineStatus> | undefined;
}

/** Each application of the unit with what is on either side, in the order of the rows. `placement`: the unit on the target. */
export function pairUp(
  placement: ApplicationPlacement,
  { rows, onSource, isSourceAway, onTarget, unknown, own, recorded }: Sides,
): readonly Pair[] {
  const named = (observations: readonly ApplicationObservation[]) =>
    new Map(observations.map((observation) => [observation.at.name, observation]));
  const [source, target] = [named(onSource), named(onTarget)];
  const ownOnTarget = { server: ownServer(placement, own) };
  return rows.map(({ application, environment }) => {
    const isUnknown = environment !== undefined && unknown.includes(environment.id);
    const to = isUnknown ? undefined : targetOf(placement, application, { own: ownOnTarget, environment });
    const copy = target.get(application.argoName);
    // A copy that a version before made names the project that was raised with it. The reconciler changes that after the move.
    const project = copy?.entersBy === "own-project" ? projectName(placement.unit.id) : undefined;
    return {
      name: application.argoName,
      desired: to === undefined ? undefined : renderApplication(placement, application, to, project),
      isRemote: environment !== undefined,
      isLeaving: application.deletedAt !== undefined,
      source: source.get(application.argoName),
      isSourceUnknown: isSourceAway,
      before: recorded === undefined ? source.get(application.argoName)?.report?.status : recorded.get(application.id),
      target: copy,
    };
  });
}

/** Whether a sync of it is requested or under way. */
export function isSyncUnderWay({ sync: { operation, state } }: ApplicationObservation): boolean {
  return operation !== undefined || (state !== undefined && isUnderWay(state));
}

/** Whether what is on the target cannot become what is desired there: it is being deleted, or is of an earlier time. */
export function isUnfit(target: ApplicationObservation, epoch: number): boolean {
  return target.isDeleting || (target.epoch ?? 0) < epoch;
}

/** Whether something newer than the move was written to it. */
export function isNewer(observation: ApplicationObservation, epoch: number): boolean {
  return (observation.epoch ?? 0) > epoch;
}
