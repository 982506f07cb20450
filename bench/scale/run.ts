import type { Progress } from "../../hack/up/progress.ts";
import type { Figure } from "../figures.ts";
import { type Cost, readCost } from "../world/argosy-cost.ts";
import type { World } from "../world/open-world.ts";
import type { Deployment } from "../world/users.ts";
import type { ScaleOptions } from "./options.ts";
import { type Part, readParts } from "./parts.ts";

/** What each part of the measure works with. */
export interface ScaleRun {
  readonly world: World;
  readonly options: ScaleOptions;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** Argosy processes now. */
  readonly replicas: number;
  /** Deployments that stand during all of it, as many as the size says. */
  readonly standing: readonly Deployment[];
  /** CPU of each part while no Argosy runs at this size, in cores. */
  readonly alone: Readonly<Record<Part, number>>;
}

/** A figure before its measure is known. */
export type Plain = Omit<Figure, "measure">;

/** A figure of which less is better. */
export function lower(what: string, unit: string, value: number, more: Partial<Figure> = {}): Plain {
  return { what, unit, value, better: "lower", noise: 0, ...more };
}

export function atMost(bound: number): Pick<Figure, "goal"> {
  return { goal: { of: "value", sense: "at most", bound } };
}

/** What Argosy and the parts around it have used since their start. */
export interface Reading {
  readonly cost: Cost;
  readonly parts: Readonly<Record<Part, number>>;
}

export async function read({ world }: Pick<ScaleRun, "world">): Promise<Reading> {
  return { cost: await readCost(world.fleet), parts: readParts(world.directory) };
}
