import type { Progress } from "../hack/up/progress.ts";
import type { Figure } from "./figures.ts";
import type { BenchOptions, EngineKind } from "./options.ts";
import type { World } from "./world/open-world.ts";
import type { Deployment } from "./world/users.ts";

/** What a measure works with. */
export interface Bench {
  readonly world: World;
  readonly options: BenchOptions;
  readonly progress: Progress;
  /** Deployments that exist during all measures, spread over `workspaces`. */
  readonly standing: readonly Deployment[];
  readonly workspaces: readonly string[];
  /** Two more workspaces, with only one deployment each. */
  readonly quiet: { readonly one: string; readonly other: string };
  readonly signal: AbortSignal;
}

export interface Measure {
  readonly name: string;
  readonly about: string;
  readonly engines: readonly EngineKind[];
  /** Whether the number of applications does not matter. */
  readonly isSizeless?: boolean;
  run(bench: Bench): Promise<readonly Figure[]>;
}

export const BOTH: readonly EngineKind[] = ["scripted", "argo-cd"];
