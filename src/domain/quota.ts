import { MOST_ENVIRONMENTS } from "./controller-memory.ts";

/** How much one workspace may have and ask for, as it is declared. */
export interface DeclaredQuota {
  readonly deployments: number;
  readonly syncsPerMinute: number;
  /** Environments that one workspace may have; absent: it was declared before this could be, and is {@link MOST_ENVIRONMENTS}. */
  readonly environments?: number;
  /** Objects that an instance may cache of one environment; absent: it was declared before this could be, and nothing bounds them. */
  readonly environmentObjects?: number;
}

/** What is declared for workspaces of one class; what is absent is as for all others. */
export interface ClassQuota extends Partial<DeclaredQuota> {
  /** As `classOf` writes it; some pool has it. */
  readonly class: string;
}

/** How much one workspace may have and ask for. */
export interface WorkspaceQuota extends DeclaredQuota {
  readonly environments: number;
}

/** The classes of a workspace, as they are recorded. */
export interface RecordedClasses {
  /** Those that its units have and are to have, sorted; empty while it has no unit. */
  readonly classes: readonly string[];
  /** The class that somebody has assigned to it. */
  readonly assigned?: string | undefined;
}

/** By which classes a workspace is judged: while it has no unit by the one that was assigned, if one was. None: its labels will say one. */
export function judgedClasses({ classes, assigned }: RecordedClasses): readonly string[] {
  return classes.length > 0 || assigned === undefined ? classes : [assigned];
}

/** All that is declared of quotas. */
interface Declared {
  readonly quota: DeclaredQuota;
  /** Each class once. Absent: no class has a quota of its own. */
  readonly classQuotas?: readonly ClassQuota[];
}

/** What a workspace of this class may have: what is declared for the class, and what is declared for all where that says nothing. */
export function quotaOfClass({ quota, classQuotas = [] }: Declared, name: string): WorkspaceQuota {
  const { class: _of, ...own } = classQuotas.find((each) => each.class === name) ?? { class: name };
  return { environments: MOST_ENVIRONMENTS, ...quota, ...own };
}

/**
 * What a workspace may have whose units have, or are to have, these classes: of each number the smallest. So one that is on its way has no more than
 * the instance bears that it leaves, nor than the one that it goes to. Of no class: what is declared for all.
 */
export function quotaOfClasses(declared: Declared, classes: readonly string[]): WorkspaceQuota {
  const [first, ...others] = classes.map((name) => quotaOfClass(declared, name));
  return others.reduce(smallerOf, first ?? { environments: MOST_ENVIRONMENTS, ...declared.quota });
}

function smallerOf(a: WorkspaceQuota, b: WorkspaceQuota): WorkspaceQuota {
  const objects = Math.min(a.environmentObjects ?? Number.POSITIVE_INFINITY, b.environmentObjects ?? Number.POSITIVE_INFINITY);
  return {
    deployments: Math.min(a.deployments, b.deployments),
    syncsPerMinute: Math.min(a.syncsPerMinute, b.syncsPerMinute),
    environments: Math.min(a.environments, b.environments),
    ...(Number.isFinite(objects) ? { environmentObjects: objects } : {}),
  };
}
