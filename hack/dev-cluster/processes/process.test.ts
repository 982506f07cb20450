import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { until } from "../testing/until.ts";
import { commandLine, parseStat, readStat, residentBytes, startTicks } from "./proc.ts";
import { exitCodeOf, findProcess, isSameProgram, type ProcessSpec, startProcess, stopProcess } from "./process.ts";

const directory = mkdtempSync(join(tmpdir(), "processes-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let number = 0;
function aSpec(script: string, changes: Partial<ProcessSpec> = {}): ProcessSpec {
  const own = join(directory, String(number++));
  return {
    directory: own,
    command: "/bin/sh",
    args: ["-c", script],
    env: { PATH: "/usr/bin:/bin" },
    cwd: directory,
    log: join(directory, `${number}.log`),
    endsWithUs: true,
    ...changes,
  };
}

describe("a process", () => {
  it("is found again by its folder until it ends, and leaves its exit code", async () => {
    const spec = aSpec("echo started; trap 'exit 7' TERM; while :; do sleep 0.05; done");
    const started = await startProcess(spec);
    await until(
      "its first word",
      () => readFileSync(spec.log, "utf8"),
      (text) => text === "started\n",
    );
    const found = findProcess(spec.directory);
    expect(found?.pid).toBe(started.pid);
    expect(isSameProgram(spec)).toBe(true);
    expect(isSameProgram({ ...spec, args: [] })).toBe(false);
    expect(await stopProcess(started, 10_000)).toBe(7);
    expect(await found?.ended).toBe(7);
    expect([exitCodeOf(spec.directory), findProcess(spec.directory)]).toEqual([7, undefined]);
  });

  it("is killed when it does not end in time, even while it is stopped", async () => {
    const spec = aSpec("trap '' TERM; echo deaf; while :; do sleep 0.05; done");
    const started = await startProcess(spec);
    await until(
      "its deafness",
      () => readFileSync(spec.log, "utf8"),
      (text) => text === "deaf\n",
    );
    started.signal("SIGSTOP");
    await until(
      "a stopped process",
      () => readStat(started.pid)?.state,
      (state) => state === "T",
    );
    expect(await stopProcess(started, 50)).toBe(137);
  });

  it("takes its own children with it", async () => {
    const file = join(directory, "child");
    const started = await startProcess(aSpec(`sleep 1000 & echo $! >${file}; wait`));
    const child = Number(
      await until(
        "the child",
        () => readFileSync(file, "utf8"),
        (text) => text.endsWith("\n"),
      ),
    );
    started.signal("SIGKILL");
    await started.ended;
    await until(
      "the child's end",
      () => startTicks(child),
      (ticks) => ticks === undefined,
    );
  });

  it("ends with this process, however that ends, if it was started so, and else goes on", async () => {
    const [bound, free] = [aSpec("sleep 1000"), aSpec("sleep 1000", { endsWithUs: false })];
    const module = new URL("process.ts", import.meta.url).href;
    const script = `const { startProcess } = await import(${JSON.stringify(module)});
      for (const spec of ${JSON.stringify([bound, free])}) await startProcess(spec);
      process.stdout.write("started"); setInterval(() => undefined, 1000);`;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    await once(parent.stdout, "data");
    // A program that has only just begun has no command line for a moment, and is not known by it.
    const found = ({ directory: of }: ProcessSpec) =>
      until(
        "the program",
        () => findProcess(of),
        (seen) => seen !== undefined,
      );
    const [one, other] = [await found(bound), await found(free)];
    expect([one?.isAlive(), other?.isAlive()]).toEqual([true, true]);
    parent.kill("SIGKILL");
    expect(await one?.ended).toBe(143);
    expect(other?.isAlive()).toBe(true);
    if (other !== undefined) await stopProcess(other, 1000);
  });

  it("goes on without its guardian, and following it costs nothing", async () => {
    const spec = aSpec("sleep 1000");
    const module = new URL("process.ts", import.meta.url).href;
    // In its own process: an endless loop would stop this test too.
    const script = `const { startProcess } = await import(${JSON.stringify(module)});
      const { readFileSync } = await import("node:fs");
      const started = await startProcess(${JSON.stringify(spec)});
      const guardian = Number(readFileSync("/proc/" + started.pid + "/stat", "utf8").split(") ").at(-1).split(" ")[1]);
      process.kill(guardian, "SIGKILL");
      const isThere = () => { try { return process.kill(guardian, 0); } catch { return false; } };
      while (isThere()) await new Promise((resolve) => setTimeout(resolve, 10));
      const before = process.cpuUsage();
      await new Promise((resolve) => setTimeout(resolve, 500));
      const { user, system } = process.cpuUsage(before);
      const isIdle = user + system < 250_000;
      const wasAlive = started.isAlive();
      started.signal("SIGKILL");
      const waiting = setInterval(() => undefined, 1000);
      process.stdout.write(JSON.stringify({ wasAlive, isIdle, ended: await started.ended }));
      clearInterval(waiting);`;
    const follower = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    const deadline = setTimeout(() => follower.kill("SIGKILL"), 20_000);
    let said = "";
    follower.stdout.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
    await once(follower, "close");
    clearTimeout(deadline);
    findProcess(spec.directory)?.signal("SIGKILL");
    expect(said).toBe(JSON.stringify({ wasAlive: true, isIdle: true, ended: 255 }));
  }, 30_000);

  it("may end before anybody could observe it", async () => {
    const started = await startProcess(aSpec("exit 3"));
    expect(await started.ended).toBe(3);
    expect(started.isAlive()).toBe(false);
    started.signal("SIGKILL");
  });

  it("that cannot be started says so by its exit code", async () => {
    expect(await (await startProcess(aSpec("", { command: "/does/not/exist" }))).ended).toBe(127);
  });

  it("is not mistaken for a younger one with the same id", async () => {
    const spec = aSpec("sleep 1000");
    const started = await startProcess(spec);
    const file = join(spec.directory, "process");
    const line = readFileSync(file, "utf8");
    const ticks = parseStat(line)?.startTicks ?? 0;
    rmSync(file);
    expect(findProcess(spec.directory)).toBeUndefined();
    writeFileSync(file, line.replace(` ${ticks} `, ` ${ticks - 1} `));
    expect(findProcess(spec.directory)).toBeUndefined();
    writeFileSync(file, line);
    expect(findProcess(spec.directory)?.pid).toBe(started.pid);
    await stopProcess(started, 1000);
    expect(existsSync(join(spec.directory, "exit"))).toBe(true);
  });
});

describe("what the kernel says", () => {
  it("is read from after the name, whatever that contains", () => {
    const rest = "T 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
    expect(parseStat(`42 (a) b (c)) ${rest}`)).toEqual({ pid: 42, state: "T", startTicks: 4711, cpuTicks: 23, childTicks: 27 });
    expect(parseStat("")).toBeUndefined();
    expect(parseStat("42 (half")).toBeUndefined();
  });

  it("includes this process, and no process that does not exist", () => {
    expect(startTicks(process.pid)).toBeGreaterThan(0);
    expect(residentBytes(process.pid)).toBeGreaterThan(2 ** 20);
    expect(commandLine(process.pid).length).toBeGreaterThan(0);
    expect([startTicks(2 ** 22 + 1), residentBytes(2 ** 22 + 1), commandLine(2 ** 22 + 1)]).toEqual([undefined, undefined, []]);
  });
});
