import { rfc3339 } from "../domain/clock.ts";
import type { Environment } from "../domain/environment.ts";
import type { Stranger } from "../domain/groups.ts";
import type { Instance } from "../domain/instance.ts";
import { type LoadVector, loadVector } from "../domain/load.ts";
import type { PlacementUnit } from "../domain/workspace.ts";

interface ConsideredMove {
  readonly unit: PlacementUnit;
  /** Where its applications deploy besides the own namespace. */
  readonly environments: readonly Pick<Environment, "name" | "createsAccount" | "unreachableSince">[];
  /** Absent: its instance has no row. */
  readonly source: Instance | undefined;
  readonly target: Instance;
  /** Nobody goes to the source. */
  readonly isFailOver?: boolean;
  /** Who is on the target, or will be, from whom the unit's workspace must be apart; absent: nobody. */
  readonly strangers?: readonly Stranger[];
}

/** Why a unit cannot be handed over now: a code, and a text for people. */
export interface MoveRefusal {
  readonly code:
    | "UNPLACED"
    | "THERE_ALREADY"
    | "TARGET_TAKES_NOTHING"
    | "OTHER_CLASS"
    | "APART"
    | "OLDER_VERSION"
    | "SOFT_PROFILE"
    | "ENVIRONMENT_UNREACHABLE";
  readonly text: string;
}

/** The first reason why a move is not possible; `undefined`: none but those that are tested when it begins (capacity, other moves, deletions). */
export function whyNotMove({
  unit,
  environments,
  source,
  target,
  isFailOver = false,
  strangers = [],
}: ConsideredMove): MoveRefusal | undefined {
  const { name, state } = target;
  if (unit.owner === undefined || source === undefined) return { code: "UNPLACED", text: "it lives nowhere yet: the scheduler places it" };
  if (unit.owner === target.id) return { code: "THERE_ALREADY", text: `it lives on ${name} already` };
  if (state !== "ACTIVE") return { code: "TARGET_TAKES_NOTHING", text: `${name} is ${state}: only an ACTIVE instance takes units` };
  if (target.class !== unit.class && target.class !== unit.wantedClass) {
    const wanted = unit.wantedClass === undefined ? "" : `, and is to be of ${unit.wantedClass}`;
    return { code: "OTHER_CLASS", text: `${name} is of class ${target.class}, the workspace of ${unit.class}${wanted}` };
  }
  const [stranger] = strangers;
  if (stranger !== undefined) {
    const who = `${stranger.label}=${stranger.value}`;
    return { code: "APART", text: `${name} holds a workspace of ${who}, or will, and the workspace must be apart from it` };
  }
  if (isOlder(target.version, source.version)) {
    const text = `${name} runs Argo CD ${target.version}, older than ${source.version} on ${source.name}: it would drop what it does not know`;
    return { code: "OLDER_VERSION", text };
  }
  return source.halt === "seen" ? undefined : whyNotTaken(environments, source, isFailOver);
}

/** Refusals that end when the source is stopped: then nothing has to be taken from it. */
const ENDS_WITH_SOURCE: readonly MoveRefusal["code"][] = ["SOFT_PROFILE", "ENVIRONMENT_UNREACHABLE"];

/** Whether a unit that cannot be handed over now could be if its source's controller were gone for good. */
export function endsWithSource(refusal: Pick<MoveRefusal, "code"> | undefined): boolean {
  return refusal !== undefined && ENDS_WITH_SOURCE.includes(refusal.code);
}

/** Why the right to write in an environment cannot be taken from the source. */
function whyNotTaken(environments: ConsideredMove["environments"], { name }: Instance, isFailOver: boolean): MoveRefusal | undefined {
  const soft = environments.find(({ createsAccount }) => !createsAccount);
  if (soft !== undefined) {
    const text = `applications deploy to environment ${soft.name}: its credential is the user's own and cannot be taken from ${name}`;
    return { code: "SOFT_PROFILE", text: isFailOver ? `${text}; as long as its controller may be alive, no time makes that safe` : text };
  }
  const away = environments.find(({ unreachableSince }) => unreachableSince !== undefined);
  if (away?.unreachableSince === undefined) return undefined;
  const since = rfc3339(away.unreachableSince);
  const text = `environment ${away.name} has given no answer since ${since}: nobody can take the right to write there from ${name}`;
  return { code: "ENVIRONMENT_UNREACHABLE", text };
}

/** Whether one version is older than another by its numbers. A suffix does not count. */
function isOlder(version: string, than: string): boolean {
  const [a, b] = [numbersOf(version), numbersOf(than)];
  const index = a.findIndex((number, place) => number !== b[place]);
  return index >= 0 && (a[index] ?? 0) < (b[index] ?? 0);
}

function numbersOf(version: string): readonly number[] {
  const [, ...parts] = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? ["", "0", "0", "0"];
  return parts.map(Number);
}

/** The largest load that an instance may have with the unit that a person moves there. The rest is for its controller's start. */
export function usableCapacityOf({ capacity }: Pick<Instance, "capacity">): LoadVector {
  return loadVector((dimension) => Math.floor((capacity[dimension] * 9) / 10));
}
