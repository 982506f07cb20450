import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startTicks } from "../dev-cluster/processes/proc.ts";
import { claimSupervision, runningSupervisor } from "./running.ts";
import { openStateDirectory, type StateDirectory } from "./state-directory.ts";

let state: StateDirectory;
let children: ChildProcess[];

beforeEach(() => {
  state = openStateDirectory(realpathSync(mkdtempSync(join(tmpdir(), "argosy-up-"))));
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(state.root, { recursive: true, force: true });
});

/** Claims the directory from another process, which prints whether it got it and keeps running. */
async function claimElsewhere(): Promise<{ readonly child: ChildProcess; readonly said: string }> {
  const url = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);
  const script = `const { claimSupervision } = await import(${url("running.ts")});
    const { openStateDirectory } = await import(${url("state-directory.ts")});
    const said = () => { try { claimSupervision(openStateDirectory(${JSON.stringify(state.root)})); return "claimed"; } catch (error) { return error.code; } };
    process.stdout.write(said()); setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  if (child.stdout === null) throw new Error("no output");
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  return { child, said: said.toString() };
}

describe("supervision of a state directory", () => {
  it("is claimed once and given back", () => {
    const release = claimSupervision(state);
    expect(runningSupervisor(state)).toBe(process.pid);
    expect(() => claimSupervision(state)).toThrow(expect.objectContaining({ code: "up.running" }));
    release();
    expect(runningSupervisor(state)).toBeUndefined();
    expect(readdirSync(state.root).sort()).toEqual(["bin", "log"]);
  });

  it("is claimed by exactly one of several processes at the same time", async () => {
    const said = (await Promise.all([1, 2, 3, 4].map(claimElsewhere))).map((each) => each.said);
    expect(said.sort()).toEqual(["claimed", "up.running", "up.running", "up.running"]);
  });

  it("is free again once its holder was killed, and then claimed by one process only", async () => {
    const { child } = await claimElsewhere();
    expect(runningSupervisor(state)).toBe(child.pid);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(runningSupervisor(state)).toBeUndefined();
    const said = (await Promise.all([1, 2, 3].map(claimElsewhere))).map((each) => each.said);
    expect(said.sort()).toEqual(["claimed", "up.running", "up.running"]);
  });

  it.runIf(existsSync("/proc/self/stat"))("is not mistaken for a younger process with the same id", () => {
    state.write("up.pid", `${process.pid} ${(startTicks(process.pid) ?? 0) - 1}\n`);
    expect(runningSupervisor(state)).toBeUndefined();
    claimSupervision(state)();
  });

  it.each(["", "garbage", "-1 1", "0 0", "1.5 2"])("is not held by what the file %j names", (text) => {
    state.write("up.pid", text);
    expect(runningSupervisor(state)).toBeUndefined();
    claimSupervision(state)();
  });

  it("leaves the claim of a process that took over", () => {
    const release = claimSupervision(state);
    state.write("up.pid", "another\n");
    release();
    expect(state.read("up.pid")).toBe("another\n");
  });
});
