import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseEnvFile } from "../../src/cli/connection.ts";
import { commandLine } from "../dev-cluster/processes/proc.ts";
import { DEMO } from "../fleet/demo.ts";

const GENEROUS = 240_000;
const program = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

let parent: string;
let state: string;

beforeAll(() => {
  parent = realpathSync(mkdtempSync(join(tmpdir(), "argosy-up-")));
  // PostgreSQL, which root runs as another user, has to get through.
  chmodSync(parent, 0o755);
  state = join(parent, "state");
});

afterAll(async () => {
  await run("down.ts", []);
  rmSync(parent, { recursive: true, force: true });
}, GENEROUS);

interface Run {
  readonly code: number;
  readonly output: string;
  readonly complaints: string;
}

async function run(name: string, args: readonly string[], meanwhile?: (pid: number) => void): Promise<Run> {
  const { DATABASE_URL: _theirs, ...env } = process.env;
  const child = spawn(process.execPath, [program(name), "--state", state, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  let [output, complaints] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString("utf8");
    if (child.pid !== undefined && output.includes("✓ starting the embedded")) meanwhile?.(child.pid);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    complaints += chunk.toString("utf8");
  });
  const [code] = (await once(child, "close")) as [number];
  return { code, output, complaints };
}

/** Command lines of the processes that have to do with the state directory. */
function running(): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => commandLine(Number(pid)).some((word) => word.includes(state)) || directoryOf(pid).startsWith(state))
    .map((pid) => commandLine(Number(pid)).join(" "));
}

function directoryOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}

function rowsOf(output: string): readonly (readonly string[])[] {
  const lines = output.split("\n").filter((line) => line.startsWith("│"));
  return lines.map((line) =>
    line
      .split("│")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe("npm run up", { timeout: GENEROUS }, () => {
  it.each(["from nothing", "with the state of the first time"])(
    "%s brings the demo to Synced and Healthy and leaves nothing running",
    async () => {
      const { code, output, complaints } = await run("main.ts", ["--exit-when-ready"]);
      expect({ code, complaints }).toEqual({ code: 0, complaints: "" });
      const [head, ...rows] = rowsOf(output);
      expect(head).toEqual(["WORKSPACE", "DEPLOYMENT", "INSTANCE", "SYNC", "HEALTH", "SECONDS"]);
      expect(rows.map(([workspace, name]) => `${workspace}/${name}`)).toEqual(DEMO.map(({ namespace, name }) => `${namespace}/${name}`));
      for (const row of rows)
        expect(row.slice(2)).toEqual([expect.stringMatching(/^standard-\d$/), "Synced", "Healthy", expect.stringMatching(/^\d+\.\d$/)]);
      expect(output).not.toContain("\x1b");
      expect(running()).toEqual([]);
    },
  );

  it("leaves addresses, a kubeconfig, kubectl and logs in the state directory, closed to others where they hold secrets", () => {
    const env = parseEnvFile(readFileSync(join(state, "env"), "utf8"));
    const names = ["ARGOSY_URL", "ARGOSY_TOKEN", "ARGOSY_METRICS_URL", "ARGOSY_DATABASE_URL", "ARGOSY_GIT_URL"];
    expect(Object.keys(env)).toEqual(names);
    for (const name of names.filter((each) => each.endsWith("URL"))) expect(new URL(env[name] ?? "").hostname).toBe("127.0.0.1");
    for (const name of ["env", "kubeconfig"]) expect(statSync(join(state, name)).mode & 0o077).toBe(0);
    accessSync(join(state, "bin", "kubectl"), constants.X_OK);
    expect(readFileSync(join(state, "log", "argosy-1.log"), "utf8")).not.toBe("");
    const components = ["etcd.log", "kube-apiserver.log", "kube-controller-manager.log", "kube-scheduler.log"];
    expect(readdirSync(join(state, "cluster", "main", "logs"))).toEqual(expect.arrayContaining(components));
  });

  it("interrupted half-way says so by its exit code and leaves nothing running", async () => {
    let told = false;
    const interrupt = (pid: number): void => {
      if (!told) process.kill(pid, "SIGINT");
      told = true;
    };
    expect((await run("main.ts", [], interrupt)).code).toBe(130);
    expect(running()).toEqual([]);
  });

  it("whose supervisor was killed leaves what npm run down ends", async () => {
    let told = false;
    const kill = (pid: number): void => {
      if (!told) process.kill(pid, "SIGKILL");
      told = true;
    };
    await run("main.ts", [], kill);
    expect(running()).not.toEqual([]);
    expect(await run("down.ts", [])).toMatchObject({ code: 0, output: expect.stringContaining("stopped the fleet") });
    expect(running()).toEqual([]);
    expect(await run("down.ts", [])).toMatchObject({ code: 0, output: expect.stringContaining("nothing runs") });
  });
});
