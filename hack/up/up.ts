import { chmodSync, copyFileSync, existsSync, rmSync, symlinkSync } from "node:fs";
import Table from "cli-table3";
import type { ApplicationView } from "../../src/api/schema.ts";
import { keptPort } from "../dev-cluster/ports.ts";
import { openKube } from "../fleet/connect.ts";
import { applyDemo, DEMO_FILES, type DemoState, isDone, readDemo } from "../fleet/demo.ts";
import { type Fleet, startFleet } from "../fleet/fleet.ts";
import { startGitServer } from "../git-server/git-server.ts";
import { chooseCluster } from "./cluster/choose.ts";
import type { ProvidedCluster } from "./cluster/provided.ts";
import { provideDatabase } from "./database.ts";
import type { UpOptions } from "./options.ts";
import type { Progress } from "./progress.ts";
import type { StateDirectory } from "./state-directory.ts";

/** Version of Argo CD the demo fleet runs. */
const ARGO_CD = "3.5.7";
const INSTANCES = { min: 2, max: 2 };
const POLL_MS = 100;

/** Something that was started and is to be ended again, newest first. */
export type Stops = (() => Promise<unknown>)[];

export interface UpContext {
  readonly options: UpOptions;
  readonly state: StateDirectory;
  readonly progress: Progress;
  /** Filled as parts come up, so that a failure half-way leaves nothing behind. */
  readonly stops: Stops;
}

/** Starts everything and waits until the demo's users see Synced and Healthy. */
export async function bringUp(context: UpContext, signal: AbortSignal): Promise<void> {
  const { options, state, progress, stops } = context;
  const database = await provideDatabase(state, progress, signal);
  stops.push(database.stop);
  const provided = await chooseCluster(options, { state, progress, version: ARGO_CD }, signal);
  stops.push(provided.stop);
  progress.say(`  cluster: ${provided.which}`);
  writeClusterFiles(state, provided);
  const git = await startGitServer({
    directory: state.path("git"),
    host: provided.gitHost,
    port: await keptPort(state.path("git.port"), provided.gitHost),
  });
  stops.push(git.stop);
  await git.commit("sample", DEMO_FILES, "sample manifests");
  const fleet = await startFleet(
    {
      api: provided.cluster,
      engines: [{ ...provided.cluster, name: "local" }],
      databaseUrl: database.url,
      directory: state.path("log"),
      replicas: 1,
      instances: INSTANCES,
      version: ARGO_CD,
      crds: provided.crds,
      gitHost: provided.gitHost,
      step: progress.step,
      config: provided.config,
    },
    signal,
  );
  stops.push(fleet.stop);
  writeEnvironment(state, fleet, git.url);
  const demo = await progress.step("deploying for three demo workspaces", () => deployDemo(provided, git.repositoryUrl("sample"), signal));
  await report(context, fleet, demo);
}

function writeClusterFiles(state: StateDirectory, provided: ProvidedCluster): void {
  copyFileSync(provided.kubeconfigFile, state.path("kubeconfig"));
  chmodSync(state.path("kubeconfig"), 0o600);
  const link = state.path("bin", "kubectl");
  rmSync(link, { force: true });
  if (provided.kubectl !== undefined && existsSync(provided.kubectl)) symlinkSync(provided.kubectl, link);
}

function writeEnvironment(state: StateDirectory, fleet: Fleet, gitUrl: string): void {
  const lines = {
    ARGOSY_URL: fleet.urls[0],
    ARGOSY_TOKEN: fleet.token,
    ARGOSY_METRICS_URL: `${fleet.urls[0]}/metrics`,
    ARGOSY_DATABASE_URL: fleet.databaseUrl,
    ARGOSY_GIT_URL: gitUrl,
  };
  const text = Object.entries(lines).map(([name, value]) => `${name}=${value}\n`);
  state.write("env", text.join(""), 0o600);
}

async function deployDemo(provided: ProvidedCluster, repoUrl: string, signal: AbortSignal): Promise<readonly DemoState[]> {
  const kube = openKube(provided.kubeconfigFile);
  const startedAt = performance.now();
  const seconds = new Map<string, number>();
  try {
    await applyDemo(kube, repoUrl, signal);
    for (;;) {
      const states = await readDemo(kube, signal);
      for (const state of states.filter(isDone)) {
        const key = `${state.namespace}/${state.name}`;
        if (!seconds.has(key)) seconds.set(key, (performance.now() - startedAt) / 1000);
      }
      if (states.every(isDone)) return states.map((state) => ({ ...state, seconds: seconds.get(`${state.namespace}/${state.name}`) }));
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      signal.throwIfAborted();
    }
  } finally {
    await kube.close();
  }
}

async function report({ options, state, progress }: UpContext, fleet: Fleet, demo: readonly DemoState[]): Promise<void> {
  const rows = await fleet.rest.all<ApplicationView>("/v1/applications");
  const table = new Table({ head: ["WORKSPACE", "DEPLOYMENT", "INSTANCE", "SYNC", "HEALTH", "SECONDS"], style: { head: [], border: [] } });
  for (const entry of demo) {
    const row = rows.find((candidate) => candidate.namespace === entry.namespace && candidate.name === entry.name);
    table.push([entry.namespace, entry.name, row?.instance ?? "-", entry.sync, entry.health, entry.seconds?.toFixed(1) ?? "-"]);
  }
  progress.say(`\n${table.toString()}\n`);
  if (options.exitWhenReady) return;
  const flag = options.state === ".argosy" ? "" : ` --state ${options.state}`;
  progress.say("Try next:");
  progress.say(`  npx argosy get instances${flag}        (workspaces, applications, operations)`);
  progress.say(`  npx argosy explain demo-anna${flag}`);
  progress.say(`  npx argosy doctor${flag}`);
  progress.say(`  ${state.path("bin", "kubectl")} --kubeconfig ${state.path("kubeconfig")} get gd -A`);
}
