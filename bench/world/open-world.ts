import { mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type DevCluster, startDevCluster } from "../../hack/dev-cluster/dev-cluster.ts";
import { type Fleet, startFleet } from "../../hack/fleet/fleet.ts";
import { withDigestOfName } from "../../hack/fleet/images.ts";
import { startGitServer } from "../../hack/git-server/git-server.ts";
import { argoCdCrds } from "../../hack/up/cluster/argo-cd-crds.ts";
import type { Progress } from "../../hack/up/progress.ts";
import { LABEL_MANAGED_BY, MANAGED_BY } from "../../src/domain/names.ts";
import { startEmbeddedPostgres } from "../../src/runtime/embedded-postgres/embedded-postgres.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import type { KubeObject } from "../../src/runtime/kube/resource.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import { ENTRY, writeProgram } from "../../tools/release/image/write-program.ts";
import type { EngineKind } from "../options.ts";
import { APPLICATIONS, BARE_DEPLOYMENTS, BARE_LABEL, bareDefinition, DEPLOYMENTS, NAMESPACES } from "./kinds.ts";
import { watchLive } from "./live.ts";
import { servePlainRepository } from "./plain-repository.ts";
import { startProgram } from "./programs.ts";
import { createUsers, type SeenInstanceApplication, seeDeployment, type Users } from "./users.ts";

const ARGO_CD = "3.5.7";
/** Images that the development cluster does not know: their pods become ready without a process. */
const NO_PROGRAM = { image: withDigestOfName(`scripted/engine:v${ARGO_CD}`), redisImage: withDigestOfName("scripted/cache:8") };
/** More than any run creates. */
const AMPLE = { applications: 20_000, deployments: 20_000 };
/** Number of paths in the repository that real instances deploy from. */
const PATHS = 8_000;
/** Namespace of the Applications of limits. */
export const BARE_NAMESPACE = "bench-bare";

/** Everything that is measured, as an administrator sees it. */
export interface World {
  readonly client: KubeClient;
  readonly kubeconfig: string;
  readonly fleet: Fleet;
  readonly users: Users;
  readonly repoUrl: string;
  readonly databaseUrl: string;
  /** For files of the run's own programs. */
  readonly directory: string;
}

/** What a world is made of. */
export interface WorldWanted {
  readonly engine: EngineKind;
  /** Number of Argosy processes. */
  readonly processes: number;
  readonly instances: number;
  /** `limits.unfinishedApplications` of the Argosy processes; their default if absent. */
  readonly unfinished: number | undefined;
  /** Folder for CPU profiles of the Argosy processes. */
  readonly profile: string | undefined;
  /** How many objects the scripted engine's statuses list; applications take turns. Absent: one. */
  readonly resources?: readonly number[];
  /** How many syncs they remember. Absent: one. */
  readonly history?: number;
  /** `engine.reconciliationSeconds` of the pools. Absent: 120, the default of a fleet. */
  readonly reconciliationSeconds?: number;
  /** `limits.repositoryProbes` of the Argosy processes; their default if absent. */
  readonly probes?: number;
}

export interface WorldOptions {
  readonly wanted: WorldWanted;
  readonly directory: string;
  readonly progress: Progress;
  /** Filled while parts start. To be called in reverse order. */
  readonly stops: (() => Promise<unknown>)[];
}

/** Starts Kubernetes, PostgreSQL, the engine, and Argosy with a fleet of ACTIVE instances. */
export async function openWorld({ wanted, directory, progress, stops }: WorldOptions, signal: AbortSignal): Promise<World> {
  const { step } = progress;
  for (const folder of ["argosy", "programs"]) mkdirSync(join(directory, folder));
  const isReal = wanted.engine === "argo-cd";
  const dev = await step("starting Kubernetes", () =>
    startDevCluster(
      { stateDir: join(directory, "cluster"), progress: (built) => progress.detail(`${built.step} of ${built.set}`) },
      signal,
    ),
  );
  stops.push(dev.stop);
  const database = await step("starting PostgreSQL", () =>
    startEmbeddedPostgres({ stateDir: join(directory, "postgres"), signal, log: silentLog }),
  );
  stops.push(() => database.stop());
  const { client, adminKubeconfig } = dev.main;
  const bare = bareDefinition();
  await client.apply(bare.type, bare.object, { fieldManager: "bench" }, signal);
  await client.apply(NAMESPACES, namespaceObject(BARE_NAMESPACE), { fieldManager: "bench" }, signal);
  const repoUrl = await (isReal ? step("filling a Git repository", () => serveRepository(directory, stops)) : servePlain(stops));
  const crds = isReal ? join((await dev.argoCd(ARGO_CD, signal)).directory, "crds") : await argoCdCrds(ARGO_CD, signal);
  const program = await step("writing Argosy as its image has it", () => writeOwnProgram(directory));
  const fleet = await startArgosyOn({ dev, crds, databaseUrl: database.url, directory, program, progress, wanted }, signal);
  stops.push(fleet.stop);
  if (!isReal) {
    const engine = await startProgram(join(directory, "programs"), "engine/main.ts", [
      adminKubeconfig,
      (wanted.resources ?? [1]).join(","),
      String(wanted.history ?? 1),
      String(wanted.reconciliationSeconds ?? RECONCILIATION_S),
    ]);
    stops.push(engine.stop);
  }
  const users = await watchUsers(client, repoUrl, signal);
  await watchBare(client, signal);
  return { client, kubeconfig: adminKubeconfig, fleet, users, repoUrl, databaseUrl: database.url, directory };
}

const RECONCILIATION_S = 120;
const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

/** What is measured is the program of the image, so no time and memory for reading TypeScript. Returns the file to start. */
async function writeOwnProgram(directory: string): Promise<string> {
  const folder = join(directory, "program");
  await writeProgram(PROJECT, folder);
  symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
  return join(folder, ENTRY);
}

interface FleetOn {
  readonly dev: DevCluster;
  readonly crds: string;
  readonly databaseUrl: string;
  readonly directory: string;
  readonly program: string;
  readonly progress: Progress;
  readonly wanted: WorldWanted;
}

function startArgosyOn({ dev, crds, databaseUrl, directory, program, progress, wanted }: FleetOn, signal: AbortSignal): Promise<Fleet> {
  const { client, kubernetes } = dev.main;
  const cluster = { client, server: kubernetes.server, ca: kubernetes.ca };
  return startFleet(
    {
      ...{ api: cluster, engines: [{ ...cluster, name: "local" }], databaseUrl, directory: join(directory, "argosy"), program },
      ...{
        replicas: wanted.processes,
        instances: { min: wanted.instances, max: wanted.instances },
        version: ARGO_CD,
        crds,
        gitHost: "127.0.0.1",
      },
      step: progress.step,
      config: limitsOf(wanted),
      env: wanted.profile === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${resolve(wanted.profile)}` },
      declared: {
        quotas: AMPLE,
        reconciliationSeconds: wanted.reconciliationSeconds ?? RECONCILIATION_S,
        ...(wanted.engine === "argo-cd" ? {} : { images: NO_PROGRAM }),
      },
    },
    signal,
  );
}

function limitsOf({ unfinished, probes }: WorldWanted): Readonly<Record<string, unknown>> {
  const limits = {
    ...(unfinished === undefined ? {} : { unfinishedApplications: unfinished }),
    ...(probes === undefined ? {} : { repositoryProbes: probes }),
  };
  return Object.keys(limits).length === 0 ? {} : { limits };
}

async function watchUsers(client: KubeClient, repoUrl: string, signal: AbortSignal): Promise<Users> {
  const deployments = await watchLive({ client, type: DEPLOYMENTS, keyOf, read: seeDeployment }, signal);
  const applications = await watchLive(
    {
      ...{ client, type: APPLICATIONS, labelSelector: `${LABEL_MANAGED_BY}=${MANAGED_BY}`, keyOf: pathOf },
      read: seeApplication,
    },
    signal,
  );
  return createUsers({ client, deployments, applications, repoUrl, signal });
}

/** Objects of limits are watched like ours, so that both include what a watch costs the API server. */
async function watchBare(client: KubeClient, signal: AbortSignal): Promise<void> {
  await watchLive({ client, type: BARE_DEPLOYMENTS, keyOf, read: seeDeployment }, signal);
  await watchLive({ client, type: APPLICATIONS, labelSelector: BARE_LABEL, keyOf, read: seeApplication }, signal);
}

function keyOf({ metadata: { namespace = "", name } }: KubeObject): string {
  return `${namespace}/${name}`;
}

function seeApplication({ metadata: { namespace = "", name } }: KubeObject): SeenInstanceApplication {
  return { namespace, name };
}

export function pathOf(object: KubeObject): string {
  return (object as KubeObject & { readonly spec: { readonly source: { readonly path: string } } }).spec.source.path;
}

function namespaceObject(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

/** The scripted engine reads nothing of it; Argosy asks whether the workspace may. */
async function servePlain(stops: WorldOptions["stops"]): Promise<string> {
  const repository = await servePlainRepository();
  stops.push(repository.stop);
  return repository.url;
}

async function serveRepository(directory: string, stops: WorldOptions["stops"]): Promise<string> {
  const git = await startGitServer({ directory: join(directory, "git") });
  stops.push(git.stop);
  const file = (number: number): string =>
    JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: `settings-${number}` } });
  const files = Object.fromEntries(Array.from({ length: PATHS }, (_, index) => [`d/${index + 1}/settings.json`, file(index + 1)]));
  await git.commit("app", files, "one directory for each deployment");
  return git.repositoryUrl("app");
}
