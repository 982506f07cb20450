import type { LoadDimension } from "./load.ts";

/**
 * One thing that is supposed of a class. instances: a pool has this many more, or fewer. load: a workspace takes this many times what it takes;
 * without a name, every workspace does. release: the instances of a pool run it.
 */
export type Supposition =
  | { readonly kind: "instances"; readonly pool: string; readonly by: number }
  | { readonly kind: "load"; readonly workspace: string | undefined; readonly times: number }
  | { readonly kind: "release"; readonly pool: string; readonly version: string };

/** An instance as it is, and as it would be. Shares are ppm of its capacity in its fullest dimension. */
export interface SupposedInstance {
  readonly name: string;
  readonly pool: string;
  readonly version: string;
  /** Absent: it is not there yet, or would not be any more. */
  readonly before: { readonly share: number; readonly units: number } | undefined;
  readonly after: { readonly share: number; readonly units: number } | undefined;
}

/** What one release serves. */
export interface ServedByRelease {
  readonly version: string;
  /** Units of workspaces, and their part of the load of the class, ppm. */
  readonly unitsBefore: number;
  readonly unitsAfter: number;
  readonly loadAfter: number;
}

/** What would become of a class if something were different, once everything has moved that should. */
export interface WhatIf {
  readonly class: string;
  /** The one that shares of the load are of. */
  readonly dimension: LoadDimension;
  readonly instances: readonly SupposedInstance[];
  readonly releases: readonly ServedByRelease[];
  readonly moves: number;
  readonly workspaces: { readonly moved: number; readonly of: number };
  /** Names of units that no instance could take. */
  readonly unplaceable: readonly string[];
  /** Names of instances that would stay too full. */
  readonly tooFull: readonly string[];
  /** All of it as sentences. */
  readonly text: readonly string[];
}
