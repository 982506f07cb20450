import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { codeHash, withImports } from "./code-hash.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

it("covers what runs in the simulation, and nothing that never does", () => {
  const files = [...withImports(join(ROOT, "simulation/marathon/marathon.ts"))].map((file) => relative(ROOT, file));
  for (const file of ["mover/next-step.ts", "reconciler/controller.ts", "store/adapters/memory/memory-store.ts", "simulation/run.ts"])
    expect(files).toContain(file);
  expect(files.filter((file) => /^(api|cli|main|store\/adapters\/postgres)\//.test(file))).toEqual([]);
  expect(codeHash("move-marathon")).toMatch(/^[0-9a-f]{32}$/);
});
