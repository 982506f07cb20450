import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { request as secureRequest } from "node:https";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { UnavailableError } from "../../src/domain/errors.ts";
import type { KeyPair } from "../../src/runtime/certificate.ts";
import type { BuiltSet } from "./build.ts";
import { renderKubeconfig } from "./kubeconfig.ts";
import { componentArgs, type KubernetesComponent, type KubernetesPorts } from "./kubernetes-args.ts";
import { type Pki, preparePki } from "./pki.ts";
import { freePort, isFree } from "./ports.ts";
import { type DevProcess, findProcess, isSameProgram, type ProcessSpec, startProcess, stopProcess } from "./processes/process.ts";

/** A Kubernetes API with its controllers, without nodes. */
export interface KubernetesCluster {
  readonly name: string;
  readonly port: number;
  /** Address at which the API server listens: 127.0.0.1, or that of `nodesReachAt`. */
  readonly host: string;
  /** `https://<host>:<port>`. The certificate is valid for 127.0.0.1 on every port too, so a proxy may be in front. */
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  /** File for the administrator. */
  readonly kubeconfig: string;
  readonly admin: KeyPair;
  /** Certificate and key of the API server, for a proxy in front of it. */
  readonly serving: KeyPair;
  readonly pki: Pki;
  readonly components: readonly KubernetesComponent[];
  process(component: KubernetesComponent): DevProcess | undefined;
  /** File with a component's log. */
  logFile(component: KubernetesComponent): string;
  /** Starts the parts that do not run. Resolves when the API answers. */
  start(signal: AbortSignal): Promise<void>;
  /** Ends one part, for example to test without the API server. `start` brings it back. */
  stopComponent(component: KubernetesComponent): Promise<void>;
  stop(): Promise<void>;
}

export interface KubernetesOptions {
  readonly name: string;
  /** For data, certificates, ports and logs. A second start continues from them. */
  readonly directory: string;
  readonly programs: BuiltSet;
  /**
   * Default: all four. Without controller-manager and scheduler it is a bare API: nothing is defaulted,
   * garbage-collected or bound.
   */
  readonly components?: readonly KubernetesComponent[];
  /**
   * This machine's address on the network of real nodes. The API server listens there instead of on loopback, and the controllers run
   * that a node of processes does without.
   */
  readonly nodesReachAt?: string;
  /** Whether the processes end with this one. Otherwise the next start finds and keeps them. */
  readonly endsWithUs: boolean;
}

const allComponents: readonly KubernetesComponent[] = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];
const stopGraceMs = 5000;

/**
 * Starts a cluster or finds it running. Processes that a killed predecessor left in `directory` are kept if they were
 * started in the same way, else ended. No other processes are touched. Throws `UnavailableError` with the path of its
 * log if a part does not start.
 */
export async function startKubernetes(options: KubernetesOptions, signal: AbortSignal): Promise<KubernetesCluster> {
  for (const folder of ["logs", "run", "etc"]) mkdirSync(join(options.directory, folder), { recursive: true });
  const pki = preparePki(join(options.directory, "pki"), options.nodesReachAt);
  const ports = await choosePorts(options.directory);
  const cluster = createCluster({ options, pki, ports });
  await cluster.start(signal);
  return cluster;
}

interface Parts {
  readonly options: KubernetesOptions;
  readonly pki: Pki;
  readonly ports: KubernetesPorts;
}

function createCluster(parts: Parts): KubernetesCluster {
  const { options, pki, ports } = parts;
  const components = allComponents.filter((component) => (options.components ?? allComponents).includes(component));
  const host = hostOf(parts);
  const server = `https://${host}:${ports.api}`;
  const kubeconfig = writeKubeconfig(parts, server, "admin");
  writeKubeconfig(parts, server, "controllerManager");
  writeKubeconfig(parts, server, "scheduler");
  const running = new Map<KubernetesComponent, DevProcess>();
  const stopComponent = async (component: KubernetesComponent) => {
    const process = running.get(component);
    running.delete(component);
    if (process !== undefined) await stopProcess(process, stopGraceMs);
  };
  return {
    name: options.name,
    port: ports.api,
    host,
    server,
    ca: pki.ca,
    kubeconfig,
    admin: pki.admin,
    serving: pki.server,
    pki,
    components,
    process: (component) => running.get(component),
    logFile: (component) => logFileOf(options.directory, component),
    async start(signal) {
      for (const component of components) {
        if (running.get(component)?.isAlive()) continue;
        running.set(component, await startOrKeep(specOf(parts, component)));
        await ready(parts, component, running.get(component), signal);
      }
    },
    stopComponent,
    // The API server is ended before etcd: without etcd it would hang on its requests until it is killed.
    async stop() {
      await Promise.all([stopComponent("kube-scheduler"), stopComponent("kube-controller-manager")]);
      await stopComponent("kube-apiserver");
      await stopComponent("etcd");
    },
  };
}

function hostOf({ options }: Parts): string {
  return options.nodesReachAt ?? "127.0.0.1";
}

function specOf({ options, pki, ports }: Parts, component: KubernetesComponent): ProcessSpec {
  return {
    directory: join(options.directory, "run", component),
    command: options.programs.program(component),
    args: componentArgs(component, { ports, pki, directory: options.directory, nodesReachAt: options.nodesReachAt }),
    env: { PATH: process.env["PATH"] ?? "", HOME: options.directory },
    cwd: options.directory,
    log: logFileOf(options.directory, component),
    endsWithUs: options.endsWithUs,
  };
}

function logFileOf(directory: string, component: KubernetesComponent): string {
  return join(directory, "logs", `${component}.log`);
}

async function startOrKeep(spec: ProcessSpec): Promise<DevProcess> {
  const left = findProcess(spec.directory);
  if (left !== undefined && isSameProgram(spec)) return left;
  if (left !== undefined) await stopProcess(left, stopGraceMs);
  return await startProcess(spec);
}

/**
 * Waits until the component works. Controller-manager and scheduler are not waited for here: they show by their work
 * that they are ready.
 */
async function ready(parts: Parts, component: KubernetesComponent, process: DevProcess | undefined, signal: AbortSignal): Promise<void> {
  const isReady =
    component === "etcd"
      ? () => etcdAnswers(parts.ports.etcd)
      : component === "kube-apiserver"
        ? () => apiAnswers(parts)
        : () => Promise.resolve(true);
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(60_000)]);
  while (!(await isReady())) {
    if (deadline.aborted || !process?.isAlive()) {
      signal.throwIfAborted();
      const log = logFileOf(parts.options.directory, component);
      throw new UnavailableError(`Starting ${component} of ${parts.options.name} (see ${log})`, {
        code: "dev.not-ready",
        context: { component },
      });
    }
    await sleep(25);
  }
}

function etcdAnswers(port: number): Promise<boolean> {
  return answers((done) => request({ host: "127.0.0.1", port, path: "/health", agent: false }, done));
}

function apiAnswers(parts: Parts): Promise<boolean> {
  const { pki, ports } = parts;
  return answers((done) =>
    secureRequest({ host: hostOf(parts), port: ports.api, path: "/readyz", agent: false, ca: pki.ca, ...pki.admin }, done),
  );
}

function answers(
  ask: (done: (response: { statusCode?: number | undefined; resume(): unknown }) => void) => ReturnType<typeof request>,
): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = ask((response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.setTimeout(2000, () => asked.destroy());
    asked.once("error", () => resolve(false));
    asked.end();
  });
}

function writeKubeconfig({ options, pki }: Parts, server: string, user: "admin" | "controllerManager" | "scheduler"): string {
  const path = join(options.directory, "etc", `${user}.kubeconfig`);
  writeFileSync(path, renderKubeconfig({ name: options.name, server, ca: pki.ca, certificate: pki[user] }), { mode: 0o600 });
  return path;
}

/** The ports of the last start, unless another process has taken one of them. */
async function choosePorts(directory: string): Promise<KubernetesPorts> {
  const file = join(directory, "ports.json");
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as KubernetesPorts) : undefined;
  const isOurs = findProcess(join(directory, "run", "etcd")) !== undefined;
  if (kept !== undefined && (isOurs || (await Promise.all(Object.values(kept).map((port: number) => isFree(port)))).every(Boolean)))
    return kept;
  const ports = { etcd: await freePort(), etcdPeer: await freePort(), api: await freePort() };
  writeFileSync(file, JSON.stringify(ports));
  return ports;
}
