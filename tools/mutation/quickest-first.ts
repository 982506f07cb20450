import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Orders test files for a run that ends with the first failure: what failed last time, which was for a mutant close by, and then
 * what takes least. Vitest itself begins with what takes longest, for it wants all of them to end early.
 */
export class QuickestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const known = new Map(files.map((file) => [file, this.ctx.cache.getTestSpecificationResult(file)]));
    const costOf = (file: TestSpecification): number => {
      const result = known.get(file);
      return result?.failed === true ? -1 : (result?.duration ?? 0);
    };
    return files.toSorted((a, b) => costOf(a) - costOf(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}
