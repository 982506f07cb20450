import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import process from "node:process";
import { createProjects } from "../cluster-filter/adapters/kubernetes/projects.ts";
import { listenOn, startProxy } from "../cluster-filter/adapters/kubernetes/proxy.ts";
import { createUpstream } from "../cluster-filter/adapters/kubernetes/upstream.ts";
import { createFilterController } from "../cluster-filter/controller.ts";
import { InputError } from "../domain/errors.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Log, LogFields } from "../telemetry/log.ts";

/** What `argosy filter` is started with. */
export interface FilterOptions {
  /** The API server whose lists are filtered, as Applications name it. */
  readonly server: string;
  /** What proves it, PEM in Base64; absent: the system's authorities. */
  readonly serverCa?: string;
  /** Namespace of the instance, where its AppProjects are. */
  readonly namespace: string;
  /** `address:port` of the proxy, and of the health page. */
  readonly listen: string;
  readonly health: string;
  /** Files with what the proxy passes for the API server by. */
  readonly tlsCertificate: string;
  readonly tlsKey: string;
  /** How the cluster of the instance is reached; absent: as a pod reaches its own. */
  readonly kubeconfig?: string;
}

/** Runs until the signal is aborted. It needs neither a configuration nor a database. */
export async function runFilter(
  options: FilterOptions,
  { env, signal }: { readonly env: NodeJS.ProcessEnv; readonly signal: AbortSignal },
): Promise<void> {
  const log = createLineLog();
  const engine = options.kubeconfig === undefined ? inCluster(env) : await byKubeconfig(options.kubeconfig);
  const ca = options.serverCa === undefined ? undefined : Buffer.from(options.serverCa, "base64").toString("utf8");
  const upstream = createUpstream({ server: options.server, ca });
  const projects = createProjects({
    ...{ engine: createUpstream(engine), token: engine.token },
    ...{ namespace: options.namespace, server: options.server, log },
  });
  const controller = createFilterController({ projects, log, clock: systemClock });
  controller.start(signal);
  const proxy = await startProxy(
    {
      ...controller,
      ...{ upstream, run: randomBytes(4).toString("hex"), log, nowMs: () => systemClock.monotonicMs() },
      certificate: { cert: readFileSync(options.tlsCertificate, "utf8"), key: readFileSync(options.tlsKey, "utf8") },
    },
    addressOf(options.listen, "--listen"),
  );
  const health = createServer((_request, response) => response.end("ok\n"));
  await listenOn(health, addressOf(options.health, "--health"));
  log.info({ listen: options.listen, server: options.server }, "Filtering lists of the API cluster");
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  health.close();
  await proxy.close();
  upstream.close();
}

interface EngineAccess {
  readonly server: string;
  readonly ca?: string | undefined;
  readonly token: (signal: AbortSignal) => Promise<string | undefined>;
}

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** As a pod reaches its own cluster. The token is read for each request: the kubelet renews it in its file. */
function inCluster(env: NodeJS.ProcessEnv): EngineAccess {
  const [host, port] = [env["KUBERNETES_SERVICE_HOST"], env["KUBERNETES_SERVICE_PORT"]];
  if (host === undefined || port === undefined)
    throw new InputError("Reaching the cluster of the instance", {
      ...{ code: "filter.not-in-cluster", path: "KUBERNETES_SERVICE_HOST", remedy: "run in a pod, or give --kubeconfig" },
    });
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    ca: readFileSync(`${ACCOUNT}/ca.crt`, "utf8"),
    token: async (signal) => (await readFile(`${ACCOUNT}/token`, { encoding: "utf8", signal })).trim(),
  };
}

/** Loaded only where it is needed: it takes more memory than the filter. */
async function byKubeconfig(file: string): Promise<EngineAccess> {
  const { loadKubeconfig } = await import("../runtime/kube/auth.ts");
  const { server, ca, token } = loadKubeconfig({ file });
  return { server, ca, token };
}

function addressOf(text: string, option: string): { readonly host: string; readonly port: number } {
  const [, host = "", port = ""] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  if (host === "")
    throw new InputError(`${option} ${text} is no address`, { code: "filter.address", path: option, remedy: "write it as 127.0.0.1:6444" });
  return { host, port: Number(port) };
}

/** One JSON object a line. The log of the control plane would take several MiB. */
function createLineLog(own: LogFields = {}): Log {
  const write = (level: string) => (fields: LogFields, message: string) => {
    const { err, ...others } = fields;
    const error = err instanceof Error ? { error: err.message, cause: err.cause instanceof Error ? err.cause.message : undefined } : {};
    process.stdout.write(`${JSON.stringify({ level, time: new Date().toISOString(), ...own, ...others, ...error, msg: message })}\n`);
  };
  return {
    debug: () => {},
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: (fields) => createLineLog({ ...own, ...fields }),
  };
}
