import { isCoreFile, moduleOf } from "../core-files.ts";

export interface Lines {
  readonly total: number;
  readonly covered: number;
}

export interface ModuleCoverage extends Lines {
  readonly module: string;
  readonly files: number;
}

/** Lines of core files, room by room in alphabetical order, out of the lines of every file by its path in the checkout. */
export function coverageByModule(files: Readonly<Record<string, Lines>>): readonly ModuleCoverage[] {
  const core = Object.entries(files).filter(([path]) => isCoreFile(path));
  const modules = Map.groupBy(core, ([path]) => moduleOf(path));
  return [...modules]
    .map(([module, entries]) => ({ module, files: entries.length, ...sum(entries.map(([, lines]) => lines)) }))
    .sort((a, b) => (a.module < b.module ? -1 : 1));
}

/** Rooms of whose core fewer than `enough` percent of the lines are covered: a large room's tests must not hide a small one's gaps. */
export function modulesBelow(modules: readonly ModuleCoverage[], enough: number): readonly string[] {
  return modules.filter((module) => percent(module) < enough).map(({ module }) => module);
}

/** Core files in which a test leaves lines out, the worst first. */
export function gaps(files: Readonly<Record<string, Lines>>): readonly string[] {
  return Object.entries(files)
    .filter(([path, lines]) => isCoreFile(path) && percent(lines) < 100)
    .sort(([, a], [, b]) => b.total - b.covered - (a.total - a.covered))
    .map(([path, { total, covered }]) => `${path}: ${total - covered} of ${total} lines`);
}

export function sum(parts: readonly Lines[]): Lines {
  return parts.reduce((all, { total, covered }) => ({ total: all.total + total, covered: all.covered + covered }), {
    total: 0,
    covered: 0,
  });
}

/** Files that hold only types have no lines, and nothing in them is left out. */
export function percent({ total, covered }: Lines): number {
  return total === 0 ? 100 : (100 * covered) / total;
}
