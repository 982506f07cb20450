import { existsSync, globSync } from "node:fs";
import process from "node:process";

const MINUTE_MS = 60_000;

/** A kind of test: which files belong to it and its runner's timeouts. */
export interface Suite {
  readonly name: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** For one test, and for each of its hooks. */
  readonly timeoutMs: number;
  /** Whether its files run one after the other, because they share things that bear one user at a time, like a real node. */
  readonly isAlone: boolean;
  /** How many of its files are run at once for each core; more than one where they wait for others much of the time. */
  readonly filesPerCore: number;
  /** How many of its files are run at once at most, however many cores there are. */
  readonly filesAtOnce?: number;
  /** It is as right when it gets few processors, and shares nothing with others: it runs beside whatever comes after it. */
  readonly isBackground?: boolean;
  readonly globalSetup?: string;
  /** Its files keep nothing in their process that another would see, and are run one after the other in the same workers. */
  readonly sharesWorkers?: boolean;
  /** Run in front of every test file. */
  readonly setupFiles?: readonly string[];
}

/** In long runs others measure, and nothing runs beside them. */
const IS_SHORT = process.env["ARGOSY_LONG"] === undefined;
const SPECIAL = ["contract", "fault", "e2e", "chart"];
const CORE_SETUP = "tools/core-setup.ts";
const E2E_SETUP = "e2e/setup.ts";
const CONTRACT_SETUP = "hack/dev-cluster/testing/contract-setup.ts";

const withSuffix = (suffix: string): Pick<Suite, "name" | "include" | "exclude"> => ({
  name: suffix,
  include: [`{src,hack,bench,tools}/**/*.${suffix}.test.ts`],
  exclude: ["src/simulation/**"],
});

/** Every test file belongs to exactly one suite, by its name and place; in the order in which they run. */
export const SUITES: readonly Suite[] = [
  {
    name: "core",
    include: ["{src,hack,bench,tools,e2e}/**/*.test.ts"],
    exclude: [...SPECIAL.map((suffix) => `**/*.${suffix}.test.ts`), "src/simulation/**"],
    timeoutMs: MINUTE_MS,
    isAlone: false,
    filesPerCore: 1,
    sharesWorkers: true,
    setupFiles: [CORE_SETUP],
  },
  { ...withSuffix("contract"), timeoutMs: 2 * MINUTE_MS, isAlone: false, filesPerCore: 1.5, globalSetup: CONTRACT_SETUP },
  { ...withSuffix("fault"), timeoutMs: 2 * MINUTE_MS, isAlone: false, filesPerCore: 2 },
  {
    name: "simulation",
    include: ["src/simulation/**/*.test.ts"],
    exclude: [],
    timeoutMs: 40 * MINUTE_MS,
    isAlone: false,
    filesPerCore: 1,
    isBackground: IS_SHORT,
  },
  // Its setup starts a world of all real parts for each file that runs at once: stories wait for others most of their time.
  {
    name: "e2e",
    include: ["e2e/**/*.e2e.test.ts"],
    exclude: [],
    timeoutMs: 20 * MINUTE_MS,
    isAlone: !IS_SHORT,
    filesPerCore: 1,
    filesAtOnce: 4,
    ...(existsSync(E2E_SETUP) ? { globalSetup: E2E_SETUP } : {}),
  },
  // Stories of somebody who installs Argosy on a cluster with real nodes. Not beside the others: the pods of its nodes have processor shares of their own,
  // which no niceness touches, and others' stories came too late.
  {
    name: "chart",
    include: ["e2e/chart/**/*.chart.test.ts"],
    exclude: [],
    timeoutMs: 20 * MINUTE_MS,
    isAlone: true,
    filesPerCore: 1,
  },
];

/** The test files of a suite that are there now, relative to the checkout, whose path contains one of the filters, if there are any. */
export function filesOf(suite: Suite, filters: readonly string[] = []): readonly string[] {
  const files = globSync([...suite.include], { exclude: [...suite.exclude] });
  return filters.length === 0 ? files : files.filter((path) => filters.some((part) => path.includes(part)));
}
