import { globSync } from "node:fs";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isProductionSource, stripSource } from "./strip-source.ts";

/** The file of a written program that Node.js starts, relative to its folder. */
export const ENTRY = "bin/argosy.js";

/**
 * Writes the program of a project as the image has it into a folder: `src/` as JavaScript, migrations, licence, manifest and entry. npm packages are
 * not part of it: they have to be in `node_modules` there or in a folder above.
 */
export async function writeProgram(project: string, folder: string): Promise<void> {
  const sources = globSync("**/*.ts", { cwd: join(project, "src") })
    .filter(isProductionSource)
    .sort();
  for (const path of sources) {
    const to = join(folder, "src", path.replace(/\.ts$/, ".js"));
    await mkdir(dirname(to), { recursive: true });
    await writeFile(to, stripSource(await readFile(join(project, "src", path), "utf8")));
  }
  const migrations = globSync("*.sql", { cwd: join(project, "migrations") }).sort();
  await mkdir(join(folder, "migrations"), { recursive: true });
  for (const name of migrations) await copyFile(join(project, "migrations", name), join(folder, "migrations", name));
  await copyFile(join(project, "LICENSE"), join(folder, "LICENSE"));
  await writeFile(join(folder, "package.json"), await productionManifest(join(project, "package.json")));
  await mkdir(dirname(join(folder, ENTRY)), { recursive: true });
  await writeFile(join(folder, ENTRY), '#!/usr/bin/node\nimport "../src/cli/argosy.js";\n');
}

async function productionManifest(path: string): Promise<string> {
  const { name, version, description, license, type, dependencies } = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
  return `${JSON.stringify({ name, version, description, license, private: true, type, dependencies }, undefined, 2)}\n`;
}
