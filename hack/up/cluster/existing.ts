import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { parse } from "yaml";
import { InputError, RefusedError, UnavailableError } from "../../../src/domain/errors.ts";
import { sha256 } from "../../../src/domain/hash.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { loadKubeconfig } from "../../../src/runtime/kube/auth.ts";
import type { KubeClient } from "../../../src/runtime/kube/client.ts";
import { createKubeClient } from "../../../src/runtime/kube/http.ts";
import { systemRng } from "../../../src/runtime/rng.ts";
import { noMetrics } from "../../../src/telemetry/metrics.ts";
import { argoCdCrds } from "./argo-cd-crds.ts";
import { programInPath } from "./program-in-path.ts";
import type { ProvideContext, ProvidedCluster } from "./provided.ts";
import { publishedImages } from "./published-images.ts";

export interface ExistingCluster {
  readonly kubeconfig: string;
  /** Address by which pods reach this machine. Default: the address from which this machine reaches the API server. */
  readonly gitHost?: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

/** An existing cluster. Nothing is created here. */
export async function provideExistingCluster(
  existing: ExistingCluster,
  { progress, version }: ProvideContext,
  signal: AbortSignal,
): Promise<ProvidedCluster> {
  const credentials = loadKubeconfig({ file: existing.kubeconfig });
  const client = createKubeClient({ cluster: "main", credentials, clock: systemClock, rng: systemRng, metrics: noMetrics });
  const { server } = credentials;
  try {
    const crds = await progress.step(`finding Argo CD ${version}'s resource definitions`, () => argoCdCrds(version, signal));
    const images = await progress.step(`finding the digests of Argo CD ${version}'s images`, () => publishedImages(version, signal));
    return {
      images,
      cluster: { client, server, ca: credentials.ca ?? "" },
      kubeconfigFile: existing.kubeconfig,
      kubectl: programInPath("kubectl"),
      crds,
      gitHost: existing.gitHost ?? (await addressTowards(server)),
      config: existing.config ?? {},
      parts: [],
      stop: () => client.close(),
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** How long an API server may take to identify the user before it counts as unreachable, in ms. */
const ANSWER_MS = 15_000;

export interface KnownCluster {
  readonly server: string;
  /** Stays the same for as long as the cluster exists, whatever its address. */
  readonly id: string;
}

/**
 * Asks the cluster of a kubeconfig whether this user may install there. Throws `InputError` when the file is no
 * kubeconfig, when nothing answers, or when the user may not create what the installation needs.
 */
export async function checkKubeconfig(kubeconfig: string, { progress }: ProvideContext, signal: AbortSignal): Promise<KnownCluster> {
  const credentials = credentialsOf(kubeconfig);
  const client = createKubeClient({ cluster: "main", credentials, clock: systemClock, rng: systemRng, metrics: noMetrics });
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  try {
    const id = await progress.step(`reaching ${credentials.server}`, async () => {
      await mayInstall(client, deadline);
      return idOf(client, deadline);
    });
    return { server: credentials.server, id };
  } catch (error) {
    throw signal.aborted ? error : kubeconfigError(error, credentials.server);
  } finally {
    await client.close();
  }
}

function credentialsOf(kubeconfig: string): ReturnType<typeof loadKubeconfig> {
  try {
    return loadKubeconfig({ file: kubeconfig });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(`${kubeconfig} cannot be used${error.path === "kubeconfig" ? "" : ` (${error.path})`}`, {
      ...{ code: "up.kubeconfig", path: "--kubeconfig", cause: error },
      remedy: capitalised(error.remedy),
    });
  }
}

/** Only an administrator can give Argosy's accounts their roles. */
async function mayInstall(client: KubeClient, signal: AbortSignal): Promise<void> {
  const { status } = await client.request<{ readonly status?: { readonly allowed?: boolean } }>(
    {
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      body: {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes: { group: "rbac.authorization.k8s.io", resource: "clusterroles", verb: "create" } },
      },
      idempotent: true,
    },
    signal,
  );
  if (status?.allowed !== true) throw new RefusedError("asking whether we may create cluster roles", { code: "up.no-rights" });
}

/** Clusters have no name. The uid of this namespace is commonly used as one. */
async function idOf(client: KubeClient, signal: AbortSignal): Promise<string> {
  const { metadata } = await client.request<{ readonly metadata: { readonly uid?: string } }>(
    { method: "GET", path: "/api/v1/namespaces/kube-system" },
    signal,
  );
  return sha256(metadata.uid ?? "").slice(0, 16);
}

function kubeconfigError(error: unknown, server: string): unknown {
  const given = { code: "up.kubeconfig", path: "--kubeconfig", cause: error } as const;
  if (error instanceof RefusedError)
    return new InputError(`${server} does not know its user or does not let it create cluster roles`, {
      ...given,
      remedy: "Use an administrator's kubeconfig",
    });
  const isAway = error instanceof UnavailableError || (error as Error).name === "TimeoutError";
  if (!isAway) return error;
  const reason = deepest(error);
  return new InputError(`${server} does not answer as a Kubernetes API server (${reason})`, {
    ...given,
    remedy: "Start that cluster, or name another one",
  });
}

const LONGEST_REASON = 100;

/** The first cause, on one line: the answer may be a whole web page. */
function deepest(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error) return deepest(cause);
  const [line = ""] = (error as Error).message.trim().split("\n");
  return line.slice(0, LONGEST_REASON);
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** This machine's address towards a server: pods of the server can usually reach it there. */
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

/** The server of a kubeconfig's first cluster. */
export function serverOf(kubeconfig: string): string {
  const document = parse(readFileSync(kubeconfig, "utf8")) as {
    readonly clusters?: readonly { readonly cluster?: { readonly server?: string } }[];
  };
  return document.clusters?.[0]?.cluster?.server ?? "";
}
