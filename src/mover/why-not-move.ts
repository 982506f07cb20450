import type { Environment } from "../domain/environment.ts";
import type { Instance } from "../domain/instance.ts";
import { type LoadVector, loadVector } from "../domain/load.ts";
import type { PlacementUnit } from "../domain/workspace.ts";

export interface MoveWish {
  readonly unit: PlacementUnit;
  /** Where its applications deploy beside the own namespace. */
  readonly environments: readonly Pick<Environment, "name">[];
  /** Absent: the row of its instance is not there. */
  readonly source: Instance | undefined;
  readonly target: Instance;
}

/** Why a unit cannot be handed over now, in a word and for people. */
export interface MoveRefusal {
  readonly code: "UNPLACED" | "THERE_ALREADY" | "TARGET_TAKES_NOTHING" | "OTHER_CLASS" | "OLDER_VERSION" | "SOFT_PROFILE";
  readonly text: string;
}

/** The first thing that speaks against a move; `undefined`: nothing but what is tested when it begins (room, other moves, deletions). */
export function whyNotMove({ unit, environments, source, target }: MoveWish): MoveRefusal | undefined {
  const { name, state } = target;
  if (unit.owner === undefined || source === undefined) return { code: "UNPLACED", text: "it lives nowhere yet: the scheduler places it" };
  if (unit.owner === target.id) return { code: "THERE_ALREADY", text: `it lives on ${name} already` };
  if (state !== "ACTIVE") return { code: "TARGET_TAKES_NOTHING", text: `${name} is ${state}: only an ACTIVE instance takes units` };
  if (target.class !== unit.class)
    return { code: "OTHER_CLASS", text: `${name} is of class ${target.class}, the workspace of ${unit.class}` };
  if (isOlder(target.version, source.version)) {
    const text = `${name} runs Argo CD ${target.version}, older than ${source.version} on ${source.name}: it would drop what it does not know`;
    return { code: "OLDER_VERSION", text };
  }
  const [environment] = environments;
  if (environment === undefined) return undefined;
  const text = `applications deploy to environment ${environment.name}: its credential is the user's own and cannot be taken from ${source.name}`;
  return { code: "SOFT_PROFILE", text };
}

/** Whether one version is older than another in its numbers. A suffix does not count. */
function isOlder(version: string, than: string): boolean {
  const [a, b] = [numbersOf(version), numbersOf(than)];
  const index = a.findIndex((number, place) => number !== b[place]);
  return index >= 0 && (a[index] ?? 0) < (b[index] ?? 0);
}

function numbersOf(version: string): readonly number[] {
  const [, ...parts] = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? ["", "0", "0", "0"];
  return parts.map(Number);
}

/** The largest load an instance may have with what a person sends there: a controller's start has to fit above it. */
export function roomOf({ capacity }: Pick<Instance, "capacity">): LoadVector {
  return loadVector((dimension) => Math.floor((capacity[dimension] * 9) / 10));
}
