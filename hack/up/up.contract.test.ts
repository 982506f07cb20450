import { type ChildProcess, spawn } from "node:child_process";
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
import type { InstanceView } from "../../src/api/schema.ts";
import { parseEnvFile } from "../../src/cli/connection.ts";
import { createRestClient, type RestClient } from "../../src/cli/rest-client.ts";
import { listTokens } from "../../src/cli/token.ts";
import { buildSet } from "../dev-cluster/build.ts";
import { commandLine } from "../dev-cluster/processes/proc.ts";
import { findProcess } from "../dev-cluster/processes/process.ts";
import { until } from "../dev-cluster/testing/until.ts";
import { DEMO } from "../fleet/demo.ts";
import { fleetDocument } from "../fleet/fleet-document.ts";

const GENEROUS = 240_000;
const program = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

let parent: string;
let state: string;
const children: ChildProcess[] = [];

beforeAll(() => {
  parent = realpathSync(mkdtempSync(join(tmpdir(), "argosy-up-")));
  // PostgreSQL runs as another user than root, which has to reach the directory.
  chmodSync(parent, 0o755);
  state = join(parent, "state");
});

afterAll(async () => {
  for (const child of children) child.kill("SIGTERM");
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

/** `up` in the foreground, as at a terminal. */
interface Sitting {
  /** Waits until it has printed that so many times. */
  says(text: string, times?: number): Promise<void>;
  interrupt(): void;
  /** Exit code. */
  readonly ended: Promise<number>;
}

async function sitBeforeUp(): Promise<Sitting> {
  const { DATABASE_URL: _theirs, ...env } = process.env;
  const child = spawn(process.execPath, [program("main.ts"), "--state", state], { env, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let output = "";
  let heard = (): void => undefined;
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
      heard();
    });
  const ended = once(child, "close").then(([code]) => code as number);
  const says = (text: string, times = 1): Promise<void> =>
    new Promise((resolve, reject) => {
      heard = () => (output.split(text).length > times ? resolve() : undefined);
      heard();
      void ended.then((code) => reject(new Error(`up ended with ${code} and did not say "${text}":\n${output}`)));
    });
  await says("Ctrl-C stops everything.");
  return { says, ended, interrupt: () => void child.kill("SIGINT") };
}

function kept(): Readonly<Record<string, string>> {
  return parseEnvFile(readFileSync(join(state, "env"), "utf8"));
}

function openRest(token: string): RestClient {
  return createRestClient({ url: kept()["ARGOSY_URL"] ?? "", token });
}

/** Processes by name, from the folders that hold their ids. */
const server = () => findProcess(join(state, "log", "argosy-1.run"));
const component = (name: string) => findProcess(join(state, "cluster", "main", "run", name));
const databasePid = () => Number.parseInt(readFileSync(join(state, "postgres", "postgres", "data", "postmaster.pid"), "utf8"), 10);

/** A declaration of somebody who needs more than the demo has. */
async function ownFleet(): Promise<unknown> {
  const { directory } = await buildSet("argo-cd-3.5.7", {}, new AbortController().signal);
  return fleetDocument({
    engineClusters: [{ name: "local", kubeconfigSecret: "argosy-system/engine-local", reach: "address" }],
    ...{ instances: { min: 3, max: 4 }, version: "3.5.7", crds: join(directory, "crds"), gitHost: "127.0.0.1" },
    quotas: { applications: 700, deployments: 70 },
  });
}

const instances = async (rest: RestClient) =>
  (await rest.all<InstanceView>("/v1/instances")).filter(({ state: at }) => at !== "RETIRED").map(({ name, state: at }) => `${name} ${at}`);
const THREE = ["standard-1 ACTIVE", "standard-2 ACTIVE", "standard-3 ACTIVE"];

/** Command lines of the processes that use the state directory. */
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
  it("brings the demo to Synced and Healthy from nothing, and leaves nothing running", async () => {
    const { code, output, complaints } = await run("main.ts", ["--exit-when-ready"]);
    expect({ code, complaints }).toEqual({ code: 0, complaints: "" });
    const [head, ...rows] = rowsOf(output);
    expect(head).toEqual(["WORKSPACE", "DEPLOYMENT", "INSTANCE", "SYNC", "HEALTH", "SECONDS"]);
    expect(rows.map(([workspace, name]) => `${workspace}/${name}`)).toEqual(DEMO.map(({ namespace, name }) => `${namespace}/${name}`));
    for (const row of rows)
      expect(row.slice(2)).toEqual([expect.stringMatching(/^standard-\d$/), "Synced", "Healthy", expect.stringMatching(/^\d+\.\d$/)]);
    expect(output).not.toContain("\x1b");
    expect(running()).toEqual([]);
  });

  it("leaves addresses, a kubeconfig, kubectl and logs in the state directory, closed to others where they hold secrets", () => {
    const env = parseEnvFile(readFileSync(join(state, "env"), "utf8"));
    const names = ["ARGOSY_URL", "ARGOSY_TOKEN", "ARGOSY_APPROVER_TOKEN", "ARGOSY_METRICS_URL", "ARGOSY_DATABASE_URL", "ARGOSY_GIT_URL"];
    expect(Object.keys(env)).toEqual(names);
    for (const name of names.filter((each) => each.endsWith("URL"))) expect(new URL(env[name] ?? "").hostname).toBe("127.0.0.1");
    for (const name of ["env", "kubeconfig"]) expect(statSync(join(state, name)).mode & 0o077).toBe(0);
    accessSync(join(state, "bin", "kubectl"), constants.X_OK);
    expect(readFileSync(join(state, "log", "argosy-1.log"), "utf8")).not.toBe("");
    const components = ["etcd.log", "kube-apiserver.log", "kube-controller-manager.log", "kube-scheduler.log"];
    expect(readdirSync(join(state, "cluster", "main", "logs"))).toEqual(expect.arrayContaining(components));
  });

  it(
    "restarts what is killed, says so, keeps everything else running, and can be interrupted in the middle of that",
    async () => {
      const up = await sitBeforeUp();
      const rest = openRest(kept()["ARGOSY_TOKEN"] ?? "");
      await rest.put("/v1/fleet", await ownFleet());
      await until(
        "a third instance",
        () => instances(rest),
        (found) => String(found) === String(THREE),
      );
      const apiServer = component("kube-apiserver")?.pid;
      server()?.signal("SIGKILL");
      await up.says("Argosy ended by signal 9; it is started again now");
      await up.says("✓ Argosy runs again");
      expect(await instances(rest)).toEqual(THREE);
      expect(component("kube-apiserver")?.pid).toBe(apiServer);
      for (const name of ["kube-apiserver", "etcd", "kube-controller-manager", "kube-scheduler"]) {
        const killed = component(name);
        killed?.signal("SIGKILL");
        // Some end by themselves while the API server is away, so the message about the restart may be an earlier one.
        await until(
          `another ${name}`,
          async () => component(name),
          (now) => now?.isAlive() === true && now.pid !== killed?.pid,
        );
        await up.says(`✓ ${name} runs again`);
      }
      process.kill(databasePid(), "SIGKILL");
      await up.says("✓ PostgreSQL runs again");
      await until(
        "the instances, from the database",
        () => instances(rest),
        (found) => String(found) === String(THREE),
      );
      server()?.signal("SIGKILL");
      await up.says("Argosy ended by signal 9", 2);
      up.interrupt();
      expect(await up.ended).toBe(0);
      expect(running()).toEqual([]);
    },
    2 * GENEROUS,
  );

  it(
    "keeps the declaration and the tokens of an existing state, and can be ended in the middle of a restart",
    async () => {
      const before = kept();
      await sitBeforeUp();
      const rest = openRest(before["ARGOSY_TOKEN"] ?? "");
      expect(await instances(rest)).toEqual(THREE);
      expect(await rest.put("/v1/fleet", await ownFleet(), { dryRun: true })).toMatchObject({ changed: false, instances: [] });
      for (const name of ["ARGOSY_TOKEN", "ARGOSY_APPROVER_TOKEN"]) expect(kept()[name]).toBe(before[name]);
      expect(await listTokens(kept()["ARGOSY_DATABASE_URL"] ?? "")).toMatchObject([
        { name: "local-approver", role: "approver" },
        { name: "local-operator", role: "operator" },
      ]);
      expect(await instances(openRest(before["ARGOSY_APPROVER_TOKEN"] ?? ""))).toEqual(THREE);
      server()?.signal("SIGKILL");
      expect(await run("down.ts", [])).toMatchObject({ code: 0, output: expect.stringContaining("stopped the fleet") });
      expect(running()).toEqual([]);
    },
    2 * GENEROUS,
  );

  it("says by its exit code that it was interrupted, and leaves nothing running", async () => {
    let reported = false;
    const interrupt = (pid: number): void => {
      if (!reported) process.kill(pid, "SIGINT");
      reported = true;
    };
    expect((await run("main.ts", [], interrupt)).code).toBe(130);
    expect(running()).toEqual([]);
  });

  it("leaves what npm run down ends when its supervisor was killed", async () => {
    let reported = false;
    const kill = (pid: number): void => {
      if (!reported) process.kill(pid, "SIGKILL");
      reported = true;
    };
    await run("main.ts", [], kill);
    expect(running()).not.toEqual([]);
    expect(await run("down.ts", [])).toMatchObject({ code: 0, output: expect.stringContaining("stopped the fleet") });
    expect(running()).toEqual([]);
    expect(await run("down.ts", [])).toMatchObject({ code: 0, output: expect.stringContaining("nothing runs") });
  });
});
