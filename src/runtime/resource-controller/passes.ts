export interface PassesOptions<Row> {
  /** Rows of a page at most: what one run reads, of however many. */
  readonly size: number;
  /** Lists rows behind a key, sorted by it; fewer than `limit` are the last ones. */
  readonly list: (page: { readonly limit: number; readonly after: string }, signal: AbortSignal) => Promise<readonly Row[]>;
  readonly keyOf: (row: Row) => string;
  readonly visit: (rows: readonly Row[], signal: AbortSignal) => Promise<void> | void;
  /** A pass begins. */
  readonly onBegin?: () => void;
  /** A pass has visited the last row. */
  readonly onEnd?: () => void;
}

/** Passes through a list that grows, one after the other, for what no event has shown. */
export interface Passes {
  /** Visits the next page; or every page, from the first on, if that was asked for or no pass has ended yet. */
  run(signal: AbortSignal): Promise<void>;
  /** Has the next run visit every page: events may have been missed, or others had some of the rows until now. */
  visitAll(): void;
}

/**
 * Creates passes through a list. A run costs the same however long the list is; a pass takes as many runs as the list has pages, and one that is
 * no longer than a page is visited as a whole by each run. A page that could not be visited is visited by the next run.
 */
export function createPasses<Row>({ size, list, keyOf, visit, onBegin, onEnd }: PassesOptions<Row>): Passes {
  let after = "";
  let isWhole = true;

  /** Resolves to whether it was the last page. */
  async function visitPage(signal: AbortSignal): Promise<boolean> {
    if (after === "") onBegin?.();
    const rows = await list({ limit: size, after }, signal);
    await visit(rows, signal);
    const last = rows.at(-1);
    const isLast = rows.length < size || last === undefined;
    after = isLast ? "" : keyOf(last);
    if (isLast) onEnd?.();
    return isLast;
  }

  async function visitEveryPage(signal: AbortSignal): Promise<void> {
    // First, so that what is asked for meanwhile is not lost.
    isWhole = false;
    after = "";
    try {
      while (!(await visitPage(signal)));
    } catch (error) {
      isWhole = true;
      throw error;
    }
  }
  return {
    run: async (signal) => void (isWhole ? await visitEveryPage(signal) : await visitPage(signal)),
    visitAll() {
      isWhole = true;
    },
  };
}
