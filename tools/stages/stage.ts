/** One step of `npm test`: the checks, or the tests of one suite. */
export interface Stage {
  readonly name: string;
  /** Others may run at the same time. */
  readonly isBackground?: boolean;
  readonly run: (options: StageOptions) => Promise<Omit<StageResult, "name" | "seconds">>;
}

export interface StageOptions {
  /** Only test files whose path contains one of these; none means all. */
  readonly filters: readonly string[];
  /** End at the first failure. */
  readonly bail: boolean;
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
  /** Another stage runs at the same time and comes first: this one prints what it has to say at its end, and takes the processors that are left. */
  readonly isBeside?: boolean;
}

export interface StageResult {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
  /** Why a stage counts as failed although none of its tests did. */
  readonly note?: string;
  /** Each test that failed, and each file that could not be loaded: where it is, and the beginning of what it said. */
  readonly failures?: readonly string[];
  /** Nothing that comes after means anything. */
  readonly isFatal?: boolean;
}
