import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { findProcess } from "./processes/process.ts";
import { until } from "./testing/until.ts";

const run = promisify(execFile);
const main = fileURLToPath(new URL("main.ts", import.meta.url));
const components = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

describe("the command that keeps a cluster up", () => {
  const stateDir = mkdtempSync(join(tmpdir(), "up-"));
  const pids = () => components.map((component) => findProcess(join(stateDir, "main", "run", component))?.pid);
  const down = async () => (await run(process.execPath, [main, "down", "--state", stateDir])).stdout;
  afterAll(async () => {
    await down();
    rmSync(stateDir, { recursive: true, force: true });
  }, 60_000);

  async function up(): Promise<ChildProcess> {
    const child = spawn(process.execPath, [main, "up", "--state", stateDir], { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    await until(
      "the cluster",
      () => said,
      (text) => text.includes("main: KUBECONFIG="),
    );
    return child;
  }

  it("ends everything when it is interrupted", async () => {
    const child = await up();
    expect(pids()).not.toContain(undefined);
    child.kill("SIGINT");
    await once(child, "exit");
    expect(pids()).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("is refused where another one runs", async () => {
    const child = await up();
    await expect(run(process.execPath, [main, "up", "--state", stateDir])).rejects.toMatchObject({
      stderr: expect.stringContaining(`process ${child.pid} uses it`) as string,
    });
    expect(await down()).toContain("0 processes ended");
    expect(pids()).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("leaves processes behind when it is killed, which the next start takes over or `down` ends", async () => {
    const first = await up();
    const before = pids();
    first.kill("SIGKILL");
    await once(first, "exit");
    expect(pids()).toEqual(before);
    const second = await up();
    expect(pids()).toEqual(before);
    second.kill("SIGKILL");
    await once(second, "exit");
    expect(await down()).toContain("4 processes ended");
    expect(pids()).toEqual([undefined, undefined, undefined, undefined]);
  });
});
