import type { ObjectHappening, Photograph } from "../history.ts";
import type { EngineApplication } from "../models/engine/application.ts";
import type { Checker } from "./checker.ts";
import { createOwners, type MoveHappening } from "./owners.ts";
import { createRequests } from "./requests.ts";
import { type StandingApplication, standingApplicationOf } from "./standing.ts";

/** I4: the moves that have not ended in a photograph that is taken when all of them should have. */
export function unfinished({ moves }: Photograph): readonly string[] {
  return moves.map(({ id, phase, message }) => `move ${id} is still in ${phase}: ${message}`);
}

/** I1, before rights matter: a copy does nothing by itself until its move has changed the owner. */
export function copiesAreIdle(): Checker {
  const owners = createOwners();
  return {
    property: "idle",
    observe({ happening }) {
      owners.learn(happening);
      const changed = standingApplicationOf(happening);
      if (changed === undefined || changed.change === "DELETED") return undefined;
      const { at, unit, epoch, isAutomated } = changed.standing;
      const ownedUnit = owners.of(unit);
      const isEarly = ownedUnit !== undefined && epoch > ownedUnit.epoch && isAutomated;
      return isEarly ? `${at} syncs by itself under epoch ${epoch}, and its unit's owner has epoch ${ownedUnit.epoch}` : undefined;
    },
  };
}

/** Longer than a source may take to come to rest; after that it is cut off in any case. */
const CAP_MS = 10 * 60_000;

/**
 * Quality: when the right to write is taken from an owner, no sync of its applications is under way, and none begins until it is the
 * owner again. Fail-overs do not count: nobody can bring their source to rest.
 */
export function nothingIsCutOff(): Checker {
  const applications = new Map<string, StandingApplication & { readonly namespace: string }>();
  const sources = new Map<string, { readonly move: MoveHappening; readonly quietSince: number }>();
  // The target's copy does not count: its instance may report there what it still does for a former Application of the name.
  const isSource = ({ unit, epoch, holder }: StandingApplication): boolean => {
    const source = sources.get(unit)?.move;
    return source !== undefined && PAST_REVOKE.has(source.phase) && epoch === source.epoch && holder === source.from;
  };
  const onMove = (move: MoveHappening, at: number): string | undefined => {
    const before = sources.get(move.unit);
    if (move.isFailOver || ["ABORT", "DONE", "ABORTED", "REDIRECTED"].includes(move.phase)) return void sources.delete(move.unit);
    sources.set(move.unit, { move, quietSince: move.phase === "QUIESCE" ? at : (before?.quietSince ?? at) });
    if (move.phase !== "REVOKE" || at - (before?.quietSince ?? at) > CAP_MS) return undefined;
    // What a fail-over left elsewhere has lost its right already.
    const own = [...applications.values()].filter((each) => each.unit === move.unit && each.holder === move.from);
    const busy = own.find((each) => each.isUnderWay && !each.isDeleting);
    return busy && `the right is taken for ${move.unit} while a sync of ${busy.at} is under way`;
  };
  return {
    property: "whole",
    observe({ at, happening }) {
      if (happening.kind === "move") return onMove(happening, at);
      const changed = standingApplicationOf(happening);
      if (changed === undefined) return undefined;
      const { standing, namespace, by } = changed;
      const before = applications.get(standing.at);
      if (changed.change === "DELETED") applications.delete(standing.at);
      else applications.set(standing.at, { ...standing, namespace });
      const begins = standing.isUnderWay && before?.isUnderWay === false && !by.startsWith("argosy-");
      return begins && standing.isPaused && isSource(standing)
        ? `a sync of ${standing.at} begins after the right to write was taken`
        : undefined;
    },
  };
}
const PAST_REVOKE: ReadonlySet<string> = new Set(["REVOKE", "COMMIT", "GRANT", "ACTIVATE", "VERIFY", "CLEANUP"]);

/** Quality: Argo CD does not retry a sync whose status says that it failed, so a copy has the status of a sync that succeeded, or none. */
export function copiesKnowNoFailure(): Checker {
  return {
    property: "whole",
    observe({ happening }) {
      const changed = standingApplicationOf(happening);
      if (changed === undefined || changed.change === "DELETED") return undefined;
      const { at, isArriving, lastSync } = changed.standing;
      const isReported = changed.by.startsWith("argosy-") && isArriving && lastSync !== undefined && lastSync !== "Succeeded";
      return isReported ? `the copy ${at} has the status of a sync that is ${lastSync}` : undefined;
    },
  };
}

/** I3: nobody but its user changes a deployment's spec, and an owner never goes back to deploying an older one. */
export function requestsAreKept(): Checker {
  const owners = createOwners();
  const requests = createRequests();
  const newest = new Map<string, number>();
  const judge = ({ name, unit, epoch, path, isPaused, at: where }: StandingApplication): string | undefined => {
    if (isPaused || owners.of(unit)?.epoch !== epoch || !requests.isWanted(name)) return undefined;
    const before = newest.get(name) ?? -1;
    // A path that its user wanted more than once counts as the next of these times.
    const index = requests.pathsOf(name).indexOf(path, Math.max(before, 0));
    newest.set(name, Math.max(before, index));
    return index >= before ? undefined : `${where} deploys ${path} again, which its user had changed`;
  };
  return {
    property: "I3",
    observe({ at, happening }) {
      owners.learn(happening);
      requests.learn(happening, at);
      const changed = standingApplicationOf(happening);
      if (changed !== undefined) return changed.change === "DELETED" ? undefined : judge(changed.standing);
      return happening.kind === "object" ? whoMeddled(happening) : undefined;
    },
  };
}

function whoMeddled({ resource, change, before, object, by, namespace, name }: ObjectHappening): string | undefined {
  if (!resource.startsWith("gitopsdeployments.") || change !== "MODIFIED" || !by.startsWith("argosy-")) return undefined;
  const isSame = JSON.stringify(before?.["spec"]) === JSON.stringify(object["spec"]);
  return isSame ? undefined : `${by} changed what the user wants of ${namespace}/${name}`;
}

/** A sync that is under way, has not failed and deploys what its Application says is not ended while the Application goes on following Git. */
export function rightSyncsGoOn(): Checker {
  return {
    property: "whole",
    observe({ happening }) {
      if (happening.kind !== "object" || happening.change !== "MODIFIED" || !happening.by.startsWith("argosy-")) return undefined;
      const { before, object, namespace, name } = happening;
      const [was, is] = [before, object] as unknown as readonly [EngineApplication | undefined, EngineApplication];
      const state = was?.status?.operationState;
      const isEnded = is.status?.operationState?.phase === "Terminating" && state?.phase === "Running";
      if (!isEnded || state.finishedAt !== undefined || is.spec.syncPolicy?.automated === undefined) return undefined;
      const path = state.operation?.sync?.source?.path;
      return path === is.spec.source.path ? `${namespace}/${name}: the sync of ${path} is ended, which is what is wanted` : undefined;
    },
  };
}

/**
 * I2 for Applications: one that stands on its unit's owner under the owner's epoch, or under that of a move that goes on, is deleted only
 * if its user deleted the deployment, or somebody deleted it with kubectl.
 */
export function ownersKeepTheirs(): Checker {
  const owners = createOwners();
  const requests = createRequests();
  const byHand = new Set<string>();
  const isNeeded = ({ unit, epoch, holder }: StandingApplication): boolean => {
    const [ownedUnit, move] = [owners.of(unit), owners.moveOf(unit)];
    const isOwners = ownedUnit?.epoch === epoch && ownedUnit.instance === holder;
    return isOwners || (move?.epoch === epoch && move.phase !== "CLEANUP" && move.phase !== "ABORT");
  };
  return {
    property: "I2",
    observe({ at, happening }) {
      owners.learn(happening);
      requests.learn(happening, at);
      const changed = standingApplicationOf(happening);
      if (changed === undefined) return undefined;
      const { standing, by, cluster, change } = changed;
      if (change !== "DELETED") {
        if (standing.isDeleting && by === cluster) byHand.add(standing.at);
        return undefined;
      }
      const isOurs = !byHand.delete(standing.at) && by.startsWith("argosy-");
      return isOurs && requests.isWanted(standing.name) && isNeeded(standing)
        ? `${by} deleted the Application ${standing.at}, which its user wants and its instance owns or is to own`
        : undefined;
    },
  };
}
