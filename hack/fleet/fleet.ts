import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { InstanceView } from "../../src/api/schema.ts";
import { createRestClient, type RestClient } from "../../src/cli/rest-client.ts";
import { keptPort } from "../dev-cluster/ports.ts";
import { type ArgosyProcess, startArgosy } from "./argosy-process.ts";
import { type FleetFacts, fleetDocument } from "./fleet-document.ts";
import { type Cluster, installApiCluster, installEngineCluster } from "./install.ts";
import { keepDeclared } from "./keep-declared.ts";
import { type FleetTokens, keepTokens } from "./tokens.ts";

/** What a fleet is started on. */
export interface FleetParts {
  /** The cluster with the users' resources. */
  readonly api: Cluster;
  /** Clusters that host instances. It may be the same one. */
  readonly engines: readonly (Cluster & { readonly name: string; readonly reach?: "address" })[];
  readonly databaseUrl: string;
  /** For configuration, keys and logs. */
  readonly directory: string;
  /** Control plane processes to start. */
  readonly replicas: number;
  readonly instances: { readonly min: number; readonly max: number };
  readonly version: string;
  readonly crds: string;
  readonly gitHost: string;
  readonly trust?: NonNullable<FleetFacts["trust"]>;
  /** Runs a step and shows it. */
  readonly step: <T>(what: string, run: () => Promise<T>) => Promise<T>;
  readonly config?: Readonly<Record<string, unknown>>;
  /** The file that Node.js starts as a control plane process. Absent: the checkout's TypeScript. */
  readonly program?: string;
  /** Environment variables of the control plane processes, in addition to this process's. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further parts of the fleet's declaration. */
  readonly declared?: Pick<FleetFacts, "images" | "quotas" | "reconciliationSeconds">;
  /** Tokens of an earlier start. Those that are still valid are kept. */
  readonly tokens?: Partial<FleetTokens>;
}

export interface Fleet {
  readonly rest: RestClient;
  readonly token: string;
  readonly approverToken: string;
  /** The document that this start declares if none was declared before. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly databaseUrl: string;
  readonly urls: readonly string[];
  /** Processes by index. A killed one stays in its place until it is started again. */
  readonly processes: ArgosyProcess[];
  /** Ends all processes, and starts so many in their place: none with 0. */
  startAnew(replicas: number, signal: AbortSignal): Promise<void>;
  /** Starts that process again, or a further one where the index is the next. `config` replaces sections of the configuration until its next start. */
  restart(index: number, signal: AbortSignal, config?: Readonly<Record<string, unknown>>): Promise<void>;
  stop(): Promise<void>;
}

const POLL_MS = 50;
/** States of instances that get no new workspaces because a person said so. */
const SET_ASIDE: ReadonlySet<string> = new Set(["CORDONED", "DRAINING"]);

/**
 * Installs Argosy, starts its processes, declares the fleet unless one was declared before, and waits until its
 * instances are ACTIVE. An existing declaration and existing tokens stay as they are.
 */
export async function startFleet(parts: FleetParts, signal: AbortSignal): Promise<Fleet> {
  const { step } = parts;
  const kubeconfig = await step("installing CRDs and roles", () => installApiCluster(parts.api, signal));
  const engineClusters = await step("installing the engine cluster's roles", () => installEngines(parts, signal));
  writeFileSync(join(parts.directory, "api-cluster.kubeconfig"), kubeconfig, { mode: 0o600 });
  const tokens = await step("preparing the database", () => keepTokens(parts.databaseUrl, parts.tokens ?? {}, signal));
  const portOf = (index: number): Promise<number> => keptPort(join(parts.directory, `argosy-${index + 1}.port`));
  const ports: number[] = [];
  for (let index = 0; index < parts.replicas; index += 1) ports.push(await portOf(index));
  const start = async (index: number, config: FleetParts["config"] = {}): Promise<ArgosyProcess> =>
    startProcess({ ...parts, config: { ...parts.config, ...config } }, index, ports[index] ?? (await portOf(index)));
  const processes: ArgosyProcess[] = [];
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const rest = createRestClient({ url: urls[0] ?? "", token: tokens.operator });
  const document = fleetDocument({ ...parts, ...parts.declared, engineClusters });
  const fleet: Fleet = {
    ...{ rest, token: tokens.operator, approverToken: tokens.approver, document, databaseUrl: parts.databaseUrl, urls, processes },
    async startAnew(replicas, abort) {
      await fleet.stop();
      processes.length = 0;
      for (let index = 0; index < replicas; index += 1) processes.push(await start(index));
      await Promise.all(processes.map((process) => process.ready(abort)));
    },
    async restart(index, abort, config) {
      const process = await start(index, config);
      processes[index] = process;
      await process.ready(abort);
    },
    stop: async () => void (await Promise.all(processes.map((process) => process.stop()))),
  };
  try {
    await step("starting Argosy", async () => {
      for (const index of ports.keys()) processes.push(await start(index));
      await Promise.all(processes.map((process) => process.ready(signal)));
    });
    await step("creating Argo CD instances", () => declare({ rest, parts, document }, signal));
    return fleet;
  } catch (error) {
    await fleet.stop();
    throw error;
  }
}

async function installEngines(parts: FleetParts, signal: AbortSignal): Promise<FleetFacts["engineClusters"]> {
  return Promise.all(
    parts.engines.map(async (engine) => ({
      ...{ name: engine.name, kubeconfigSecret: await installEngineCluster(parts.api, engine, signal) },
      ...(engine.reach === undefined ? {} : { reach: engine.reach }),
    })),
  );
}

function startProcess(parts: FleetParts, index: number, port: number): Promise<ArgosyProcess> {
  return startArgosy({
    name: `argosy-${index + 1}`,
    directory: parts.directory,
    databaseUrl: parts.databaseUrl,
    kubeconfig: join(parts.directory, "api-cluster.kubeconfig"),
    encryptionKeyFile: encryptionKey(parts.directory),
    port,
    ...(parts.config === undefined ? {} : { config: parts.config }),
    ...(parts.program === undefined ? {} : { program: parts.program }),
    ...(parts.env === undefined ? {} : { env: parts.env }),
  });
}

/** The key is created once: with another one the database's secrets could not be read after a restart. */
function encryptionKey(directory: string): string {
  const file = join(directory, "encryption.key");
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString("base64"), { mode: 0o600 });
  return file;
}

interface Declaration {
  readonly rest: RestClient;
  readonly parts: FleetParts;
  readonly document: Readonly<Record<string, unknown>>;
}

async function declare({ rest, parts, document }: Declaration, signal: AbortSignal): Promise<void> {
  // A creation that failed at an earlier start is tried again, now or in a while.
  const earlier = await rest.all<InstanceView>("/v1/instances");
  const former = new Set(earlier.filter(({ state }) => state === "FAILED").map(({ id }) => id));
  const declared = await keepDeclared(parts.databaseUrl, document, signal);
  if (declared === undefined) await rest.put("/v1/fleet", document);
  const wanted = declared === undefined ? parts.instances.min : declared.pools.reduce((sum, { instances }) => sum + instances.min, 0);
  for (;;) {
    const rows = await rest.all<InstanceView>("/v1/instances");
    // Instances that a person has cordoned or drained serve no new workspaces, and are not waited for.
    const aside = declared === undefined ? 0 : rows.filter(({ state }) => SET_ASIDE.has(state)).length;
    if (rows.filter((row) => row.state === "ACTIVE").length >= Math.max(1, wanted - aside)) return;
    const failed = rows.find((row) => row.state === "FAILED" && !former.has(row.id));
    if (failed !== undefined) throw new Error(`instance ${failed.name} failed: ${failed.reason}`);
    if (signal.aborted)
      throw new Error(`instances are not ready: ${rows.map((row) => `${row.name} ${row.state} ${row.reason}`).join("; ")}`, {
        cause: signal.reason,
      });
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
