import { keptPort } from "../dev-cluster/ports.ts";
import { DEMO_FILES } from "../fleet/demo.ts";
import { type Fleet, startFleet } from "../fleet/fleet.ts";
import { type GitServer, startGitServer } from "../git-server/git-server.ts";
import { chooseCluster } from "./cluster/choose.ts";
import { consent } from "./cluster/consent.ts";
import { checkKubeconfig } from "./cluster/existing.ts";
import { hasKindCluster } from "./cluster/kind.ts";
import { machineProbes, provideCluster } from "./cluster/provide.ts";
import type { ProvidedCluster } from "./cluster/provided.ts";
import { forgetDatabase, provideDatabase } from "./database.ts";
import { deployDemo } from "./deploy-demo.ts";
import { keepRunning, type Part } from "./keep-running.ts";
import { stopLeftProcesses } from "./leftovers.ts";
import type { UpOptions } from "./options.ts";
import type { Progress } from "./progress.ts";
import { report } from "./report.ts";
import { requireGit } from "./requirements.ts";
import type { StateDirectory } from "./state-directory.ts";
import { readTokens, writeClusterFiles, writeEnvironment } from "./state-files.ts";

/** Version of Argo CD the demo fleet runs. */
const ARGO_CD = "3.5.7";
const INSTANCES = { min: 2, max: 2 };
/** How long the fleet and its demo may take once the cluster answers, in ms. Images may have to be pulled. */
const READY_WITHIN_MS = 15 * 60_000;

/** Something that was started and has to be ended again, newest first. */
export type Stops = (() => Promise<unknown>)[];

export interface UpContext {
  readonly options: UpOptions;
  readonly state: StateDirectory;
  readonly progress: Progress;
  /** Filled while parts start, so that a failure half-way leaves nothing behind. */
  readonly stops: Stops;
}

/**
 * Starts everything and waits until the demo's users see Synced and Healthy. Requirements of the machine are checked
 * first. A part that ends by itself later is restarted until the stops are called.
 */
export async function bringUp(context: UpContext, signal: AbortSignal): Promise<void> {
  const { options, state, progress, stops } = context;
  const provide = { state, progress, version: ARGO_CD };
  requireGit();
  const choice = await chooseCluster(options, machineProbes);
  const existing = choice.is === "existing" ? await checkKubeconfig(choice.kubeconfig, provide, signal) : undefined;
  if (existing !== undefined && !options.yes) await consent(existing.server, progress, signal);
  if ((await stopLeftProcesses(state)) > 0) progress.say("  ended what an earlier start had left running");
  const cluster = existing?.id ?? (choice.is === "kind" ? KIND : "");
  if (cluster === KIND && !(await hasKindCluster(signal))) await forgetDatabase(state, KIND);
  // Supervision ends before the parts, so that nothing is restarted while everything is being stopped.
  const keep = (parts: readonly Part[]) => {
    for (const part of parts) stops.push(keepRunning(part, progress).stop);
  };
  const database = await provideDatabase({ state, progress, cluster }, signal);
  stops.push(database.stop);
  keep(database.parts);
  progress.say(`  cluster: ${NAMES[choice.is]}, ${choice.why}`);
  if (choice.is === "development" && choice.realNode) progress.say("  node: a real one, because of --node; its pods are containers");
  const provided = await provideCluster(choice, provide, signal);
  stops.push(provided.stop);
  keep(provided.parts);
  signal.throwIfAborted();
  writeClusterFiles(state, provided);
  const git = await serveSample(state, provided.gitHost);
  stops.push(git.stop);
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(READY_WITHIN_MS)]);
  const fleet = await startDemoFleet(context, { provided, databaseUrl: database.url }, deadline);
  stops.push(fleet.stop);
  keep(serversOf(fleet));
  writeEnvironment(state, fleet, git.url);
  const demo = await progress.step("deploying for three demo workspaces", () =>
    deployDemo({ kubeconfig: provided.kubeconfigFile, repoUrl: git.repositoryUrl("sample"), progress }, deadline),
  );
  await report(context, fleet, demo);
}

/** The name of the database for kind's cluster. */
const KIND = "kind";

const NAMES = {
  existing: "one that was there already",
  development: "real Kubernetes as processes of this machine",
  kind: "one made with kind",
} as const;

async function serveSample(state: StateDirectory, host: string): Promise<GitServer> {
  const git = await startGitServer({ directory: state.path("git"), host, port: await keptPort(state.path("git.port"), host) });
  try {
    await git.commit("sample", DEMO_FILES, "sample manifests");
    return git;
  } catch (error) {
    await git.stop();
    throw error;
  }
}

interface Setting {
  readonly provided: ProvidedCluster;
  readonly databaseUrl: string;
}

function startDemoFleet({ state, progress }: UpContext, { provided, databaseUrl }: Setting, signal: AbortSignal): Promise<Fleet> {
  const parts = {
    api: provided.cluster,
    engines: [{ ...provided.cluster, name: "local", ...(provided.reach === undefined ? {} : { reach: provided.reach }) }],
    databaseUrl,
    directory: state.path("log"),
    replicas: 1,
    instances: INSTANCES,
    version: ARGO_CD,
    crds: provided.crds,
    gitHost: provided.gitHost,
    step: progress.step,
    config: provided.config,
    ...(provided.images === undefined ? {} : { declared: { images: provided.images } }),
    tokens: readTokens(state),
  };
  return startFleet(parts, signal);
}

function serversOf(fleet: Fleet): readonly Part[] {
  return fleet.processes.map(({ logFile }, index) => ({
    name: "Argosy",
    logFile,
    ended: () => fleet.processes[index]?.exited ?? Promise.resolve(0),
    restart: (signal) => fleet.restart(index, signal),
  }));
}
