/** Tests, and what only tests use: builders, fakes and fixtures in folders called `testing`. */
export const TEST = "\\.test\\.ts$|/testing/";

/**
 * Core: every file of a room that is no door (`port.ts`), controller, adapter or test. The floors, the purity check, coverage
 * and mutation testing all go by this one definition. The first group is the room.
 */
export const CORE = `^src/(?!(?:main|config)\\.ts$|(?:main|config|runtime|telemetry|simulation|api|cli)/)(?!.*(?:/adapters/|/(?:controller|port)\\.ts$|\\.d\\.ts$|${TEST}))([^/]+)/.+\\.ts$`;

const core = new RegExp(CORE);

/** Whether a path, relative to the checkout and with forward slashes, is a core file. */
export function isCoreFile(path: string): boolean {
  return core.test(path);
}

/** The room a file of `src/` belongs to: the first folder below it, or the file itself. */
export function roomOf(path: string): string {
  return path.split("/")[1] ?? path;
}
