import { type Goal, isMet, ratioOf, type SizedFigure } from "../figures.ts";
import { short } from "../table.ts";

/** A figure at one number of applications. */
export interface Point {
  readonly applications: number;
  readonly value: number;
}

/**
 * The exponent b of value = a · applications^b that fits best: the slope of the least-squares line through the logarithms. 1: twice the applications
 * cost twice as much; 0: as much. `undefined` with fewer than two sizes, or where a value is not above 0.
 */
export function exponentOf(points: readonly Point[]): number | undefined {
  const logs = points.map(({ applications, value }) => ({ x: Math.log(applications), y: Math.log(value) }));
  if (new Set(points.map(({ applications }) => applications)).size < 2 || logs.some(({ y }) => !Number.isFinite(y))) return undefined;
  const mean = (of: (log: { readonly x: number; readonly y: number }) => number) =>
    logs.reduce((sum, log) => sum + of(log), 0) / logs.length;
  const [x0, y0] = [mean(({ x }) => x), mean(({ y }) => y)];
  const [above, below] = [
    logs.reduce((sum, { x, y }) => sum + (x - x0) * (y - y0), 0),
    logs.reduce((sum, { x }) => sum + (x - x0) ** 2, 0),
  ];
  return above / below;
}

/** What several processes may take of what one takes, by the name of the figure, and from how many processes on. */
const OF_ONE_PROCESS: Readonly<Record<string, { readonly share: number; readonly from: number }>> = {
  "idle: memory of the largest process": { share: 0.4, from: 4 },
  "idle: CPU of Argosy, all processes": { share: 1.3, from: 2 },
};

/** How many times its value at the smallest size a figure may have at any other. */
const OF_SMALLEST = 1.5;
/** The largest exponent of the number of applications that a figure without a limit of its own may have. */
const LARGEST_EXPONENT = 1.1;

/** Figures whose value at the smallest size is their limit at the others, by the name of the figure. */
const HELD_TO_SMALLEST: ReadonlySet<string> = new Set([
  "P1: created → Application present",
  "P1: the same, first in a new workspace",
  "P1b: burst into workspaces that are there",
  "P2: status changed → user's status",
  "filling: deployments created and reported",
  "filling: CPU of the API server for each, beyond what it does anyway",
]);

/**
 * Holds figures of several sizes and numbers of processes against one another: those of `HELD_TO_SMALLEST` against the same at the smallest size,
 * those of `OF_ONE_PROCESS` against one process at the same size. A figure with a goal of its own keeps it, and so does one with nothing to hold it against.
 */
export function holdFigures(figures: readonly SizedFigure[]): readonly SizedFigure[] {
  const smallest = Math.min(...figures.map(({ applications }) => applications));
  const find = (measure: string, what: string, applications: number) =>
    figures.find((one) => one.measure === measure && one.what === what && one.applications === applications);
  return figures.map((figure) => {
    const { measure, what, applications } = figure;
    const shared = OF_ONE_PROCESS[what];
    if (shared !== undefined && replicasOf(measure) >= shared.from)
      return held(figure, find(scaleName(1), what, applications), { what: "one process", sense: "at most", bound: shared.share });
    if (applications === smallest || figure.goal !== undefined || !HELD_TO_SMALLEST.has(what)) return figure;
    const [sense, bound] = figure.better === "lower" ? (["at most", OF_SMALLEST] as const) : (["at least", 1 / OF_SMALLEST] as const);
    return held(figure, find(measure, what, smallest), { what: `at ${smallest}`, sense, bound });
  });
}

const PREFIX = "scale ×";

/** The measure of figures with so many processes. */
export function scaleName(replicas: number): string {
  return `${PREFIX}${replicas}`;
}

function replicasOf(measure: string): number {
  return Number(measure.slice(PREFIX.length));
}

function held(
  figure: SizedFigure,
  limit: SizedFigure | undefined,
  { what, sense, bound }: Pick<Goal, "sense" | "bound"> & { readonly what: string },
): SizedFigure {
  if (limit === undefined || !(limit.value > 0)) return figure;
  return { ...figure, limit: { what, value: limit.value }, goal: { of: "ratio", sense, bound } };
}

/** One line for each figure of several sizes: the exponent of the number of applications, and whether it is more than linear. */
export function renderGrowth(figures: readonly SizedFigure[]): string {
  const lines = [...Map.groupBy(figures, ({ measure, what }) => `${measure}: ${what}`)].flatMap(([name, of]) => {
    const exponent = exponentOf(of.map(({ applications, value }) => ({ applications, value })));
    if (exponent === undefined) return [];
    const growth = of[0]?.better === "lower" ? exponent : -exponent;
    return [`  ${name.padEnd(88)} ${exponent.toFixed(2).padStart(6)}  ${growth <= LARGEST_EXPONENT ? "ok" : "OVER"}`];
  });
  return lines.length === 0
    ? ""
    : [`Growth, as the exponent of the number of applications (over ${LARGEST_EXPONENT} is too much):`, ...lines].join("\n");
}

/** Lists the figures that miss their goals, one a line. */
export function renderMissed(figures: readonly SizedFigure[]): string {
  return figures
    .filter((figure) => isMet(figure) === false)
    .map((figure) => {
      const { applications, measure, what, unit, value, goal } = figure;
      const ratio = ratioOf(figure);
      return `  OVER  ${measure} at ${applications}, ${what}: ${short(value)} ${unit}${ratio === undefined ? "" : `, ${short(ratio)} times ${figure.limit?.what}`}; goal ${goal?.sense} ${short(goal?.bound ?? 0)}`;
    })
    .join("\n");
}
