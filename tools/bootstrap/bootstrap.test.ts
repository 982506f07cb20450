import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, it, onTestFinished, vi } from "vitest";

interface Run {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Waits until the process has printed something that matches. */
  readonly printed: (pattern: RegExp) => Promise<void>;
  readonly ended: Promise<unknown[]>;
}

/** Runs a piece of plain JavaScript in a Node.js of its own, with the modules of the bootstrap at hand. */
function run(script: string, cwd = import.meta.dirname): Run {
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const printed = (pattern: RegExp): Promise<void> => vi.waitFor(() => expect(output).toMatch(pattern), { timeout: 20_000 });
  return { child, output: () => output, printed, ended: once(child, "close") };
}

describe("which Node.js will do", () => {
  it.each([
    ["20.20.2", false],
    ["22.18.9", false],
    ["22.19.0", true],
    ["23.9.0", false],
    ["24.0.0", true],
    ["26.10.0", true],
  ])("says of %s: %s", async (version, isSuitable) => {
    const { output, ended } = run(`import { isSuitable } from "./node.mjs"; console.log(isSuitable("${version}"))`);
    await ended;
    expect(output().trim()).toBe(String(isSuitable));
  });

  it("is the same everywhere it is written down", () => {
    const read = (path: string): string => readFileSync(`${import.meta.dirname}/../../${path}`, "utf8");
    const { optionalDependencies } = JSON.parse(read("tools/node/package.json")) as { optionalDependencies: Record<string, string> };
    expect(new Set(Object.values(optionalDependencies))).toEqual(new Set([read(".node-version").trim()]));
  });
});

describe("installing alone", () => {
  const holder = `import { alone } from "./alone.mjs"; await alone(() => new Promise((end) => { console.log("holds"); process.on("SIGUSR2", end); setInterval(() => {}, 1000); })); process.exit();`;

  it("lets the second wait until the first has finished", async () => {
    const first = run(holder);
    await first.printed(/holds/);
    const second = run(holder);
    await second.printed(/waiting for another command/);
    expect(second.output()).not.toMatch(/holds/);
    first.child.kill("SIGUSR2");
    await second.printed(/holds/);
  });

  it("lets the second go on when the first was killed", async () => {
    const first = run(holder);
    await first.printed(/holds/);
    const second = run(holder);
    first.child.kill("SIGKILL");
    await second.printed(/holds/);
  });
});

it("installs one after the other, however many come as another one goes", async () => {
  const many = `import { alone } from "./alone.mjs"; let [now, most, all] = [0, 0, 0];
    const one = async () => { now += 1; most = Math.max(most, now); all += 1; await null; now -= 1; };
    const four = Array.from({ length: 4 }, async () => { for (let count = 0; count < 100; count += 1) await alone(one); });
    await Promise.all(four); console.log(all + " by " + most);`;
  const started = run(many);
  await started.printed(/400 by 1/);
  expect(await started.ended).toEqual([0, null]);
});

describe("running a program", () => {
  const wrap = (script: string): string =>
    `import { execute } from "./execute.mjs"; await execute(process.execPath, ["-e", ${JSON.stringify(script)}], { env: process.env, endsWithNpm: true })`;

  it("ends with the program's status", async () => {
    expect(await run(wrap("process.exit(7)")).ended).toEqual([7, null]);
  });

  it("hands a signal through and ends as the program chose to", async () => {
    const started = run(wrap("process.on('SIGTERM', () => process.exit(9)); setInterval(() => {}, 1000); console.log('ready')"));
    await started.printed(/ready/);
    started.child.kill("SIGTERM");
    expect(await started.ended).toEqual([9, null]);
  });

  it("gets SIGTERM when npm's shell has ended, which forwards no signal", async () => {
    const env = { ...process.env, npm_lifecycle_event: "test" };
    const program = wrap(
      "process.on('SIGTERM', () => { console.log('stopping'); process.exit(); }); setInterval(() => {}, 1000); console.log('ready')",
    );
    const shell = spawn("/bin/sh", ["-c", '"$0" --input-type=module -e "$1"; exit', process.execPath, program], {
      cwd: import.meta.dirname,
      env,
    });
    let said = "";
    shell.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    await vi.waitFor(() => expect(said).toContain("ready"), 20_000);
    shell.kill("SIGTERM");
    await vi.waitFor(() => expect(said).toContain("stopping"), 20_000);
  });

  it("ends by the signal that ended the program", async () => {
    const started = run(wrap("setInterval(() => {}, 1000); console.log('ready')"));
    await started.printed(/ready/);
    started.child.kill("SIGTERM");
    expect(await started.ended).toEqual([null, "SIGTERM"]);
  });
});

it("says of a program that was not installed with the rest where it can be run, and ends with 1", async () => {
  const root = mkdtempSync(join(tmpdir(), "argosy-installed-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const folder = join(root, "tools", "bootstrap");
  cpSync(import.meta.dirname, folder, { recursive: true });
  const started = run(`import { start } from "./start.mjs"; await start("simulate", ["--help"])`, folder);
  expect(await started.ended).toEqual([1, null]);
  expect(started.output()).toBe(
    "argosy: simulate is not part of what is installed here: src/simulation/main.ts is missing. Run it in a checkout of Argosy's sources\n",
  );
});
