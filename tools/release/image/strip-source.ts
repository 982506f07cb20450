import { stripTypeScriptTypes } from "node:module";

const RELATIVE = /((?:\bfrom|\bimport)\s*\(?\s*)"(\.{1,2}\/[^"]+)\.ts"/g;

/** A module of `src/` as JavaScript: its types are blanks, so that lines and columns of stack traces stay, and it imports `.js` files. */
export function stripSource(text: string): string {
  return stripTypeScriptTypes(text).replace(RELATIVE, '$1"$2.js"');
}

/** Whether a file of `src/`, relative to it, runs in production: no tests, what only tests use, or the simulation. */
export function isProductionSource(path: string): boolean {
  return path.endsWith(".ts") && !/(?:\.test|\.d)\.ts$|(?:^|\/)testing\/|^simulation\//.test(path);
}
