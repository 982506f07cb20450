import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import process from "node:process";
import { createInterface } from "node:readline/promises";
import { parse } from "yaml";
import { installObjects } from "../../../src/cli/install/render.ts";
import { InputError } from "../../../src/domain/errors.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { loadKubeconfig } from "../../../src/runtime/kube/auth.ts";
import { createKubeClient } from "../../../src/runtime/kube/http.ts";
import { systemRng } from "../../../src/runtime/rng.ts";
import { noMetrics } from "../../../src/telemetry/metrics.ts";
import { DEMO } from "../../fleet/demo.ts";
import { argoCdCrds } from "./argo-cd-crds.ts";
import type { ProvideContext, ProvidedCluster } from "./provided.ts";

export interface ExistingCluster {
  readonly kubeconfig: string;
  /** Do not ask before creating anything. */
  readonly yes: boolean;
  /** Why this cluster was taken. */
  readonly why: string;
  /** Address by which pods reach this machine; default: the one this machine reaches the API server from. */
  readonly gitHost?: string;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly stop?: () => Promise<void>;
}

/** A cluster that was there before us: says what would be created and asks, unless it was told not to. */
export async function provideExistingCluster(
  existing: ExistingCluster,
  { progress, version }: ProvideContext,
  signal: AbortSignal,
): Promise<ProvidedCluster> {
  const credentials = loadKubeconfig({ file: existing.kubeconfig });
  const client = createKubeClient({ cluster: "main", credentials, clock: systemClock, rng: systemRng, metrics: noMetrics });
  await progress.step(`reaching ${credentials.server}`, () => client.request({ method: "GET", path: "/version" }, signal));
  if (!existing.yes) await consent(credentials.server, progress, signal);
  return {
    which: `${credentials.server}, because ${existing.why}`,
    cluster: { client, server: credentials.server, ca: credentials.ca ?? "" },
    kubeconfigFile: existing.kubeconfig,
    kubectl: undefined,
    crds: await argoCdCrds(version, signal),
    gitHost: existing.gitHost ?? (await addressTowards(credentials.server)),
    config: existing.config ?? {},
    async stop() {
      await client.close();
      await existing.stop?.();
    },
  };
}

async function consent(server: string, progress: Progress, signal: AbortSignal): Promise<void> {
  progress.say(`\nThis would create on ${server}:`);
  for (const object of installObjects("both"))
    progress.say(
      `  ${object.kind} ${object.metadata.namespace === undefined ? "" : `${object.metadata.namespace}/`}${object.metadata.name}`,
    );
  progress.say("  Argo CD's CustomResourceDefinitions (argoproj.io)");
  progress.say("  Namespace argosy-standard-1 and argosy-standard-2, each with an Argo CD instance");
  for (const namespace of new Set(DEMO.map((entry) => entry.namespace))) progress.say(`  Namespace ${namespace} with demo deployments`);
  const refusal = { code: "up.consent", path: "--kubeconfig" } as const;
  if (process.stdin.isTTY !== true)
    throw new InputError("nobody is here to ask", { ...refusal, remedy: "Add --yes to create these objects" });
  const asker = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await asker.question("Create them? [y/N] ", { signal }).finally(() => asker.close());
  if (!/^y(es)?$/i.test(answer.trim())) throw new InputError("nothing was created", { ...refusal, remedy: "Answer y, or add --yes" });
}

type Progress = ProvideContext["progress"];

/** Our own address on the way to a server: what answers there can usually reach us by it. */
async function addressTowards(server: string): Promise<string> {
  const url = new URL(server);
  const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port === "" ? 443 : url.port) });
  try {
    await once(socket, "connect");
    return (socket.localAddress ?? "127.0.0.1").replace(/^::ffff:/, "").replace(/^::1$/, "127.0.0.1");
  } finally {
    socket.destroy();
  }
}

/** The server a kubeconfig's first cluster names. */
export function serverOf(kubeconfig: string): string {
  const document = parse(readFileSync(kubeconfig, "utf8")) as {
    readonly clusters?: readonly { readonly cluster?: { readonly server?: string } }[];
  };
  return document.clusters?.[0]?.cluster?.server ?? "";
}
