import { cruise as cruiseFiles, type ICruiseOptions, type ICruiseResult, type IViolation } from "dependency-cruiser";
import { LAYERS } from "./rules.ts";

export interface Cruise {
  /** Files below src/ that were read. */
  readonly files: number;
  readonly violations: readonly IViolation[];
}

/** How imports are read: those of types too, and packages as Node.js resolves them for ES modules. */
export const OPTIONS: ICruiseOptions = {
  doNotFollow: { path: "node_modules" },
  tsPreCompilationDeps: true,
  enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default", "types"] },
};

/** Reads every import below `<baseDir>/src` and holds it against the layers. */
export async function cruise(baseDir: string): Promise<Cruise> {
  const { output } = await cruiseFiles(["src"], { ...OPTIONS, ruleSet: { forbidden: [...LAYERS] }, validate: true, baseDir });
  const { modules, summary } = output as ICruiseResult;
  return { files: modules.filter(({ source }) => source.startsWith("src/")).length, violations: summary.violations };
}
