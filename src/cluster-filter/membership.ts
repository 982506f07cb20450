/** One time during which a namespace was let in, in generations: from the first that had it, up to the first that had it no more. */
interface Stay {
  readonly from: number;
  readonly until: number;
}

/** What a client has: it listed at one generation, and was given since what came up to another one. */
export interface Holding {
  readonly listed: number;
  readonly held: number;
}

/**
 * What a client is without of the namespaces that are let in. `stale`: it may still have objects of a namespace from an earlier stay, of whose end
 * nothing was said; only a new list takes those away.
 */
export type Missing = { readonly kind: "joins"; readonly namespaces: readonly string[] } | { readonly kind: "stale" };

/** Which namespaces are let in, in generations that are counted from 1 on. */
export interface Membership {
  generation(): number;
  /** Makes these the namespaces that are let in. Returns whether that is another generation. */
  change(wanted: Wanted): boolean;
  has(namespace: string): boolean;
  /** The generation in which a namespace came that is let in now. */
  joinedAt(namespace: string): number | undefined;
  missingFor(holding: Holding): Missing;
}

/** `everything`: a project names its namespaces by a pattern. */
export type Wanted = ReadonlySet<string> | "everything";

export function createMembership(): Membership {
  let generation = 0;
  let everySince: number | undefined;
  const present = new Map<string, number>();
  /** What has ended, by namespace; of two stays the whole time from the first one on. */
  const stays = new Map<string, Stay>();
  /** The same of the time in which every namespace was let in. */
  let everyStay: Stay | undefined;

  const isStale = (namespace: string, { listed, held }: Holding): boolean =>
    [stays.get(namespace), everyStay].some((stay) => stay !== undefined && stay.from <= held && listed < stay.until);
  const leave = (namespace: string, from: number): void => {
    present.delete(namespace);
    stays.set(namespace, { from: Math.min(from, stays.get(namespace)?.from ?? from), until: generation });
  };

  const leaveAll = (from: number): void => {
    everyStay = { from: Math.min(from, everyStay?.from ?? from), until: generation };
    everySince = undefined;
  };

  return {
    generation: () => generation,
    change(wanted) {
      const isEvery = wanted === "everything";
      const names = isEvery ? new Set(present.keys()) : wanted;
      const came = [...names].filter((namespace) => !present.has(namespace));
      const left = [...present].filter(([namespace]) => !names.has(namespace));
      const turns = isEvery !== (everySince !== undefined);
      if (generation > 0 && came.length + left.length === 0 && !turns) return false;
      generation += 1;
      for (const [namespace, from] of left) leave(namespace, from);
      for (const namespace of came) present.set(namespace, generation);
      if (everySince !== undefined && !isEvery) leaveAll(everySince);
      else if (isEvery) everySince ??= generation;
      return true;
    },
    has: (namespace) => everySince !== undefined || present.has(namespace),
    joinedAt: (namespace) => present.get(namespace) ?? everySince,
    missingFor(holding) {
      if (everySince !== undefined) return holding.listed >= everySince ? NOTHING : { kind: "stale" };
      const namespaces = [...present].filter(([, from]) => from > holding.held).map(([namespace]) => namespace);
      return namespaces.some((namespace) => isStale(namespace, holding)) ? { kind: "stale" } : { kind: "joins", namespaces };
    },
  };
}

const NOTHING: Missing = { kind: "joins", namespaces: [] };
