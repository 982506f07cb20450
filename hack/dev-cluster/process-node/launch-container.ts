import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { BuiltSet } from "../build.ts";
import { renderKubeconfig } from "../kubeconfig.ts";
import { freePort } from "../ports.ts";
import { type ProcessSpec, startProcess } from "../processes/process.ts";
import type { ContainerRecord, Prepared } from "./container.ts";
import { addFolders, prepareRoot } from "./container-root.ts";
import { type References, resolveEnvironment } from "./environment.ts";
import { expand } from "./expand.ts";
import type { Container, Pod } from "./pod.ts";
import type { ContainerFolders } from "./pod-folders.ts";
import type { Catalogue, KnownImage } from "./programs/catalogue.ts";
import type { Launch, PortForward } from "./programs/launch.ts";
import { processRun } from "./run.ts";
import { replaceServiceNames, type ServiceName, serviceOf } from "./service-names.ts";
import { tokenFileOf, type Volumes } from "./volumes.ts";

export interface LaunchDeps {
  readonly pod: Pod;
  readonly podIP: string;
  readonly folders: ContainerFolders;
  readonly volumes: Volumes;
  readonly catalogue: Catalogue;
  readonly addressOf: (service: ServiceName) => string | undefined;
  readonly nameServer: (namespace: string) => string;
  /** How the pod reaches its API server. */
  readonly apiServer: (pod: Pod) => Promise<{ readonly server: string; readonly ca: string }>;
  readonly endsWithUs: boolean;
  /** To be called when something that was missing may be there now. */
  readonly onReady: () => void;
  /** Stores what is needed to find the run again. */
  readonly remember: (record: ContainerRecord, forwards: readonly PortForward[]) => void;
}

interface Wanted {
  readonly container: Container;
  readonly image: KnownImage & { readonly kind: "program" };
}

/**
 * Prepares the start of a container whose image is a known program: the program, variables, volumes, addresses. It
 * waits for what is missing, with the reason that a kubelet would give.
 */
export async function prepareProcess({ container, image }: Wanted, deps: LaunchDeps, signal: AbortSignal): Promise<Prepared> {
  const sets: BuiltSet[] = [];
  for (const name of [image.set, ...image.beside]) {
    const built = await obtained(name, deps, signal);
    if (!("bin" in built)) return built;
    sets.push(built);
  }
  const references = await deps.volumes.references(signal);
  const environment = resolveEnvironment(container, deps, references);
  if (!environment.ok) return waiting("CreateContainerConfigError", environment.missing);
  const missing = await deps.volumes.write(references, signal);
  if (missing !== undefined) return waiting("ContainerCreating", missing);
  prepareRoot(deps.folders.root, container.volumeMounts ?? [], deps.volumes.directory);
  const launch = image.launch({
    namespace: deps.pod.metadata.namespace,
    words: [...(container.command ?? []), ...(container.args ?? [])].map((word) => expand(word, environment.variables)),
    variables: environment.variables,
    mountPaths: (container.volumeMounts ?? []).map(({ mountPath }) => mountPath),
    podIP: deps.podIP,
    privatePort: await freePort(),
    root: deps.folders.root,
    sockets: deps.folders.sockets,
    nameServer: deps.nameServer(deps.pod.metadata.namespace),
    kubeconfig: await writeKubeconfig(container, deps),
  });
  if (launch === undefined) return waiting("RunContainerError", "the command is not one of the image's programs");
  const absent = launch.connectsTo.find((peer) => isAbsent(peer, deps));
  if (absent !== undefined) return waiting("ContainerCreating", `there is no Service for ${absent}`);
  addFolders(deps.folders.root, launch.folders);
  return { ok: true, start: async (record) => await start({ launch, sets, deps, record }) };
}

/**
 * Writes the volumes of a running pod again after their sources have changed. A file whose source is missing now
 * stays as it was.
 */
export async function refreshVolumes(volumes: Volumes, signal: AbortSignal): Promise<void> {
  const references: References = await volumes.references(signal);
  await volumes.write(references, signal);
}

/**
 * The programs of an image. While they are built, the image is being "pulled". A build that fails is reported like an
 * image that cannot be pulled.
 */
async function obtained(set: string, deps: LaunchDeps, signal: AbortSignal): Promise<BuiltSet | (Prepared & { readonly ok: false })> {
  const building = deps.catalogue
    .obtain(set, signal)
    .catch((error: unknown) => waiting("ErrImagePull", error instanceof Error ? error.message : String(error)));
  const first = await Promise.race([building, sleep(100, undefined, { ref: false })]);
  if (first !== undefined) return first;
  void building.then(deps.onReady);
  return waiting("ContainerCreating", `building ${set}`);
}

async function writeKubeconfig(container: Container, deps: LaunchDeps): Promise<string | undefined> {
  const tokenFile = tokenFileOf(deps.pod, container, deps.volumes);
  if (tokenFile === undefined) return undefined;
  const { server, ca } = await deps.apiServer(deps.pod);
  mkdirSync(deps.folders.own, { recursive: true });
  const file = join(deps.folders.own, "kubeconfig");
  writeFileSync(file, renderKubeconfig({ name: "cluster", server, ca, namespace: deps.pod.metadata.namespace, tokenFile }), {
    mode: 0o600,
  });
  return file;
}

function isAbsent(peer: string, deps: LaunchDeps): boolean {
  const service = serviceOf(peer.split(":")[0] ?? "", deps.pod.metadata.namespace);
  return service !== undefined && deps.addressOf(service) === undefined;
}

/** Mounts are links here. Argo CD takes a link within a checkout below such a link for one that leads out of the repository. */
function realTemporary(directory: string | undefined): Readonly<Record<string, string>> {
  return directory === undefined ? {} : { TMPDIR: realpathSync(directory) };
}

async function start({
  launch,
  sets,
  deps,
  record,
}: {
  readonly launch: Launch;
  /** The set of the program itself comes first. */
  readonly sets: readonly BuiltSet[];
  readonly deps: LaunchDeps;
  readonly record: ContainerRecord;
}) {
  const named = (text: string) => replaceServiceNames(text, deps.pod.metadata.namespace, deps.addressOf);
  for (const folder of [deps.folders.sockets, dirname(deps.folders.log)]) mkdirSync(folder, { recursive: true });
  const spec: ProcessSpec = {
    directory: deps.folders.run,
    command: sets[0]?.program(launch.program) ?? launch.program,
    args: launch.args.map(named),
    env: {
      PATH: [...(launch.path === undefined ? [] : [launch.path]), ...sets.map(({ bin }) => bin), process.env["PATH"] ?? ""].join(":"),
      HOSTNAME: deps.pod.metadata.name,
      ...Object.fromEntries(Object.entries(launch.env).map(([name, value]) => [name, named(value)])),
      ...realTemporary(launch.env["TMPDIR"]),
    },
    cwd: deps.folders.root,
    log: deps.folders.log,
    endsWithUs: deps.endsWithUs,
  };
  deps.remember(record, launch.forwards);
  return processRun(await startProcess(spec), deps.podIP, launch.forwards);
}

function waiting(reason: string, message: string): Prepared & { readonly ok: false } {
  return { ok: false, reason, message, retryMs: 1000 };
}
