import type { Environment } from "../domain/environment.ts";
import type { ApplicationId, EnvironmentId } from "../domain/ids.ts";
import type { EngineStatus } from "../domain/status.ts";
import type { Application } from "../domain/workspace.ts";
import type { Sight } from "../shard/parse-sight.ts";
import { renderApplication, targetOf } from "../shard/render-application.ts";
import type { Destination, Seat } from "../shard/seat.ts";
import type { Pair } from "./pair.ts";

interface Row {
  readonly application: Application;
  readonly environment: Environment | undefined;
}

interface Sides {
  readonly rows: readonly Row[];
  readonly onSource: readonly Sight[];
  /** Nobody gets to the source. */
  readonly isSourceAway: boolean;
  readonly onTarget: readonly Sight[];
  /** Environments that the target does without: what deploys there stands nowhere for now. */
  readonly unknown: readonly EnvironmentId[];
  readonly own: Destination;
  /** What was last recorded of applications whose source nobody looks at; absent: the source is looked at. */
  readonly recorded: ReadonlyMap<ApplicationId, EngineStatus> | undefined;
}

/** Each application of the unit with what stands of it on either side, in the order of the rows. */
export function pairUp(seat: Seat, { rows, onSource, isSourceAway, onTarget, unknown, own, recorded }: Sides): readonly Pair[] {
  const named = (sights: readonly Sight[]) => new Map(sights.map((sight) => [sight.at.name, sight]));
  const [source, target] = [named(onSource), named(onTarget)];
  return rows.map(({ application, environment }) => {
    const isUnknown = environment !== undefined && unknown.includes(environment.id);
    const to = isUnknown ? undefined : targetOf(seat, application, { own, environment });
    return {
      name: application.argoName,
      desired: to === undefined ? undefined : renderApplication(seat, application, to),
      isAbroad: environment !== undefined,
      isLeaving: application.deletedAt !== undefined,
      source: source.get(application.argoName),
      isSourceUnknown: isSourceAway,
      before: recorded === undefined ? source.get(application.argoName)?.report?.status : recorded.get(application.id),
      target: target.get(application.argoName),
    };
  });
}
