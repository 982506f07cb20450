import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { InputError, UnavailableError } from "../../../src/domain/errors.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import type { KubeClient } from "../../../src/runtime/kube/client.ts";
import type { KubeObject } from "../../../src/runtime/kube/resource.ts";
import { systemRng } from "../../../src/runtime/rng.ts";
import type { Log } from "../../../src/telemetry/log.ts";
import { noMetrics } from "../../../src/telemetry/metrics.ts";
import type { BuiltSet } from "../build.ts";
import { createPolicyEnforcer, type PolicyEnforcer } from "../network-policies/enforcer.ts";
import { createPolicyTable } from "../network-policies/nft.ts";
import type { Pki } from "../pki.ts";
import { nodeType } from "../process-node/pod.ts";
import { type DevProcess, type ProcessSpec, startProcess } from "../processes/process.ts";
import { createControlGroup } from "./control-groups.ts";
import { digestOfArchive } from "./image-archive.ts";
import { type LocalImage, PAUSE_IMAGE } from "./images.ts";
import { createNodeNetwork, netns } from "./network.ts";
import { type ClusterNetwork, type NodeNetwork, podRange } from "./network-plan.ts";
import { controlGroupOf, type NodeSetting, renderNodeFiles, socketOf } from "./node-files.ts";
import { COMPONENTS, type NodeComponent, type NodeFolders, removeNode, runFolderOf } from "./remove-node.ts";
import { run } from "./run.ts";

/**
 * A Kubernetes node in a network namespace of this machine: containerd, kubelet and kube-proxy. Its pods are containers, and
 * NetworkPolicies hold for them.
 */
export interface RealNode {
  readonly network: NodeNetwork;
  readonly components: readonly NodeComponent[];
  process(component: NodeComponent): DevProcess | undefined;
  logFile(component: NodeComponent): string;
  /** Starts the parts that do not run. Resolves when the API server says that the node is ready. */
  start(signal: AbortSignal): Promise<void>;
  /** Gives the node an image. One that it has already costs nothing. */
  addImage(image: LocalImage, signal: AbortSignal): Promise<void>;
  /** The arguments before a program that is to run in the node's network. */
  readonly inNetwork: readonly string[];
  /** Ends the node and all containers. Images stay for the next start. */
  stop(): Promise<void>;
}

export interface RealNodeOptions {
  readonly cluster: ClusterNetwork;
  /** A second start with them continues with the images. */
  readonly folders: NodeFolders;
  readonly client: KubeClient;
  /** The API server's URL, as the node reaches it. */
  readonly server: string;
  readonly pki: Pki;
  /** The set `kubernetes-node`. */
  readonly programs: BuiltSet;
  readonly pause: LocalImage;
  /** Whether the processes end with this one. */
  readonly endsWithUs: boolean;
  readonly log: Log;
}

const POLL_MS = 50;
const START_MS = 60_000;
/** A path to a socket has 107 characters at most, and the kubelet's longest below this folder is `kubelet/device-plugins/kubelet.sock`. */
const LONGEST_DIRECTORY = 107 - "/kubelet/pod-resources/kubelet.sock.xxxx".length;

/**
 * A node that `start` starts. Nothing may be left of a predecessor in the same folders. Throws `InputError` when the path of the folder is
 * too long for sockets.
 */
export function createRealNode(options: RealNodeOptions): RealNode {
  const { folders } = options;
  const { directory } = folders;
  if (directory.length > LONGEST_DIRECTORY)
    throw new InputError(`${directory} is too long a path: sockets below it would have more than 107 characters`, {
      code: "dev.long-path",
      path: "stateDir",
      remedy: "choose a state directory with a shorter path",
    });
  const setting = settingOf(options);
  const running = new Map<NodeComponent, DevProcess>();
  let enforcer: PolicyEnforcer | undefined;
  return {
    network: setting.node,
    components: COMPONENTS,
    process: (component) => running.get(component),
    logFile: (component) => logFileOf(directory, component),
    inNetwork: ["nsenter", netns(setting.node)],
    async start(signal) {
      if (enforcer === undefined) {
        await prepare(options, setting, signal);
        enforcer = enforcerOf(options, setting);
        // Before the first pod: so none of them is ever open.
        await enforcer.start(signal);
      }
      for (const component of COMPONENTS) {
        if (running.get(component)?.isAlive()) continue;
        running.set(component, await startProcess(specOf(options, setting, component)));
        if (component !== "containerd") continue;
        await answers(setting, running, signal);
        await importImage(setting, options.pause, signal);
      }
      await becomesReady(options, setting, running, signal);
    },
    addImage: (image, signal) => importImage(setting, image, signal),
    async stop() {
      running.clear();
      await enforcer?.stop();
      await removeNode(folders);
    },
  };
}

function settingOf({ cluster, folders, server, pki }: RealNodeOptions): NodeSetting {
  return { cluster, ...folders, server, pki, pauseImage: PAUSE_IMAGE };
}

async function prepare({ cluster }: RealNodeOptions, setting: NodeSetting, signal: AbortSignal): Promise<void> {
  const { directory, runDirectory, node } = setting;
  for (const folder of ["run", "log", "logs", "kubelet", "volume-plugins"]) mkdirSync(join(directory, folder), { recursive: true });
  mkdirSync(runDirectory, { recursive: true, mode: 0o711 });
  for (const [path, text] of Object.entries(renderNodeFiles(setting))) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text, { mode: 0o600 });
  }
  createControlGroup(controlGroupOf(setting));
  await createNodeNetwork(cluster, node, signal);
}

/**
 * This machine may connect to pods as a node may: the API server and, where it is no pod itself, Argosy are here.
 */
function enforcerOf({ cluster, client, log }: RealNodeOptions, { node }: NodeSetting): PolicyEnforcer {
  return createPolicyEnforcer({
    client,
    table: createPolicyTable(["nsenter", netns(node)]),
    podRanges: [podRange(cluster)],
    trustedSources: [cluster.host],
    ...{ clock: systemClock, rng: systemRng, log, metrics: noMetrics },
  });
}

function specOf({ programs, endsWithUs }: RealNodeOptions, setting: NodeSetting, component: NodeComponent): ProcessSpec {
  const { directory, node } = setting;
  const etc = (file: string): string => join(directory, "etc", file);
  const args: Readonly<Record<NodeComponent, readonly string[]>> = {
    containerd: ["--config", etc("containerd.toml")],
    kubelet: [
      ...["--config", etc("kubelet.json"), "--kubeconfig", etc("kubelet.kubeconfig")],
      ...["--root-dir", join(directory, "kubelet"), "--cert-dir", join(directory, "kubelet-pki")],
      ...["--hostname-override", node.name, "--node-ip", node.address],
    ],
    "kube-proxy": ["--config", etc("kube-proxy.json")],
  };
  return {
    directory: runFolderOf(directory, component),
    via: ["nsenter", netns(node)],
    command: component === "containerd" ? "containerd" : programs.program(component),
    args: args[component],
    env: { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`, HOME: directory },
    cwd: directory,
    log: logFileOf(directory, component),
    endsWithUs,
  };
}

function logFileOf(directory: string, component: NodeComponent): string {
  return join(directory, "log", `${component}.log`);
}

type Running = ReadonlyMap<NodeComponent, DevProcess>;

async function answers(setting: NodeSetting, running: Running, signal: AbortSignal): Promise<void> {
  const isReady = (): Promise<boolean> =>
    ctr(setting, ["version"], signal).then(
      () => true,
      () => false,
    );
  await until(isReady, { component: "containerd", setting, running }, signal);
}

interface NodeStatus extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly lastHeartbeatTime?: string }[];
  };
}

/** A node that was there before is ready once the new kubelet has said so: the old one's last word counts for nothing. */
async function becomesReady({ client }: RealNodeOptions, setting: NodeSetting, running: Running, signal: AbortSignal): Promise<void> {
  const since = Date.now() - 1_000;
  const isReady = async (): Promise<boolean> => {
    const node = await client.get<NodeStatus>(nodeType, { namespace: "", name: setting.node.name }, signal);
    const ready = node?.status?.conditions?.find(({ type }) => type === "Ready");
    return ready?.status === "True" && Date.parse(ready.lastHeartbeatTime ?? "") >= since;
  };
  await until(isReady, { component: "kubelet", setting, running }, signal);
}

interface Waiting {
  readonly component: NodeComponent;
  readonly setting: NodeSetting;
  readonly running: Running;
}

async function until(isReady: () => Promise<boolean>, { component, setting, running }: Waiting, signal: AbortSignal): Promise<void> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(START_MS)]);
  while (!(await isReady())) {
    signal.throwIfAborted();
    if (deadline.aborted || running.get(component)?.isAlive() !== true)
      throw new UnavailableError(`Starting ${component} of ${setting.node.name} (see ${logFileOf(setting.directory, component)})`, {
        code: "dev.not-ready",
        context: { component },
      });
    await sleep(POLL_MS);
  }
}

/** Which archive each image was taken from is kept: another one under the same name is taken anew. */
async function importImage(setting: NodeSetting, image: LocalImage, signal: AbortSignal): Promise<void> {
  const file = join(setting.directory, "images.json");
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, string>>) : {};
  const there = (await ctr(setting, ["images", "list", "--quiet"], signal)).split("\n");
  // What names an image by its digest leaves the tag out on the node, and a pull would have made both names.
  const exact = `${image.name.replace(/:[^:/]*$/, "")}@${await digestOfArchive(image.archive, signal)}`;
  if (known[image.name] === image.archive && there.includes(image.name) && there.includes(exact)) return;
  await ctr(setting, ["images", "import", image.archive], signal);
  await ctr(setting, ["images", "tag", "--force", image.name, exact], signal);
  writeFileSync(file, JSON.stringify({ ...known, [image.name]: image.archive }));
}

function ctr(setting: NodeSetting, args: readonly string[], signal: AbortSignal): Promise<string> {
  return run("ctr", ["--address", socketOf(setting), "--namespace", "k8s.io", ...args], signal);
}
