import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runVitest } from "./vitest.ts";

/** Says who it is, and says so when it is asked to end, as a fleet that stops in order. */
const PROGRAM = `
  const { writeFileSync } = require("node:fs");
  const [, file] = process.argv;
  writeFileSync(file, String(process.pid));
  process.on("SIGTERM", () => { writeFileSync(file + ".stopped", ""); process.exit(); });
  setInterval(() => {}, 1000);
`;

/** Starts one process that leads a session of its own, as a fleet in the background, and one with an environment of its own. */
const TEST = `
  import { spawn } from "node:child_process";
  import { existsSync, writeFileSync } from "node:fs";
  it("starts processes", async () => {
    const { FIXTURE, FOR_EVER } = process.env;
    writeFileSync(FIXTURE + "/worker", String(process.pid));
    const start = (name, options) => spawn(process.execPath, ["-e", ${JSON.stringify(PROGRAM)}, FIXTURE + "/" + name], { stdio: "ignore", ...options });
    start("fleet", { detached: true }).unref();
    start("child", { env: {} });
    await vi.waitFor(() => { for (const name of ["fleet", "child"]) if (!existsSync(FIXTURE + "/" + name)) throw new Error(name); }, 60_000);
    if (FOR_EVER) await new Promise(() => {});
  });
`;
const STARTED = ["worker", "fleet", "child"];

describe("a run of Vitest", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "argosy-vitest-"));
    writeFileSync(join(directory, "x.test.mjs"), TEST);
    writeFileSync(join(directory, "vitest.config.mjs"), "export default { test: { globals: true, testTimeout: 600_000 } };");
    vi.stubEnv("FIXTURE", directory);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    for (const name of STARTED) if (isRunning(name)) process.kill(pidOf(name), "SIGKILL");
    rmSync(directory, { recursive: true, force: true });
  });

  const pidOf = (name: string): number => Number(readFileSync(join(directory, name), "utf8"));
  const hasStopped = (name: string): boolean => existsSync(join(directory, `${name}.stopped`));
  const run = (signal: AbortSignal) => runVitest([`--root=${directory}`], { outputFile: join(directory, "output"), signal });
  /** One that has ended and waits to be collected does not run. */
  function isRunning(name: string): boolean {
    try {
      return !/^State:\tZ/m.test(readFileSync(`/proc/${pidOf(name)}/status`, "utf8"));
    } catch {
      return false;
    }
  }

  it("that is ended leaves neither workers nor what tests have started, which may stop in order", async () => {
    vi.stubEnv("FOR_EVER", "yes");
    const abort = new AbortController();
    const status = run(abort.signal);
    await vi.waitFor(() => expect(STARTED.filter(isRunning)).toEqual(STARTED), 60_000);
    abort.abort();
    expect(await status).not.toBe(0);
    expect(STARTED.filter(isRunning)).toEqual([]);
    expect([hasStopped("fleet"), hasStopped("child")]).toEqual([true, true]);
  });

  it("is in a group of its own, so that whoever ends it sees what it started before it goes", async () => {
    vi.stubEnv("FOR_EVER", "yes");
    const abort = new AbortController();
    const status = runVitest([`--root=${directory}`], { signal: abort.signal });
    await vi.waitFor(() => expect(STARTED.filter(isRunning)).toEqual(STARTED), 60_000);
    const groupOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[2];
    expect(groupOf(pidOf("worker"))).not.toBe(groupOf(process.pid));
    abort.abort();
    await status;
  });

  it("that has ended leaves no process that tests forgot", async () => {
    expect(await run(new AbortController().signal)).toBe(0);
    expect([isRunning("fleet"), hasStopped("fleet")]).toEqual([false, true]);
  });
});
