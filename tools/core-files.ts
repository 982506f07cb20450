/** Tests, and what only tests use: builders, fakes and fixtures in folders called `testing`. */
export const TEST = "\\.test\\.ts$|/testing/";

/** Verbs that tell of an effect. A file beside a controller whose name begins with one is a step: it reads, calls core and writes. */
const EFFECTS = `
  apply ask begin carry-out clean-up delete empty enter fence find follow gather grant keep list measure notify
  observe pace publish read reconcile record recover refresh remove repair report request restart resume revoke
  send start stop sweep tear-down try wait watch write
`
  .trim()
  .split(/\s+/);

/** A step of a controller, recognised by the verb its name begins with. `domain/` and `shard/` have none. */
export const STEP = `^src/(?!(?:domain|shard)/|.*/adapters/).*/(?:${EFFECTS.join("|")})-[^/]+\\.ts$`;

/**
 * Core: every file of a module that is no port, controller, step, adapter or test. The layers, the purity check, coverage
 * and mutation testing all go by this one definition. The first group is the module.
 */
export const CORE = `^src/(?!(?:main|config)\\.ts$|(?:main|config|runtime|telemetry|simulation|api|cli)/)(?!.*(?:/adapters/|/(?:controller|port)\\.ts$|\\.d\\.ts$|${TEST}))(?!${STEP.slice(5)})([^/]+)/.+\\.ts$`;

const core = new RegExp(CORE);

/** Whether a path, relative to the checkout and with forward slashes, is a core file. */
export function isCoreFile(path: string): boolean {
  return core.test(path);
}

/** The module that a file of `src/` belongs to: the first folder below it, or the file itself. */
export function moduleOf(path: string): string {
  return path.split("/")[1] ?? path;
}
