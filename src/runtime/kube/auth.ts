import { readFileSync } from "node:fs";
import type { LookupFunction } from "node:net";
import { dirname } from "node:path";
import type { Millis } from "../../domain/clock.ts";
import { millis } from "../../domain/clock.ts";
import { InputError, RefusedError } from "../../domain/errors.ts";
import { runExecPlugin } from "./exec-plugin.ts";
import type { AuthProvider, KubeconfigEntry, TokenOrigin } from "./kubeconfig.ts";
import { parseKubeconfig } from "./kubeconfig.ts";
import type { Token, TokenSource } from "./token-source.ts";
import { createTokenSource, expiryOfJwt } from "./token-source.ts";

/** How to reach an API server and who we are there. */
export interface KubeCredentials {
  /** Base URL; it may have a path, which then precedes that of every request. */
  readonly server: string;
  /** PEM; the system's roots if undefined. */
  readonly ca?: string;
  /** Name the server's certificate is checked against instead of the URL's host. */
  readonly serverName?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** Resolves the server's name instead of the system: only to what it answers is connected. Not asked where the host is an address. */
  readonly lookup?: LookupFunction;
  /**
   * The bearer token to send now, `undefined` if there is none. Cached; renewed early enough that it does not expire under way.
   * Callers that ask while it is being renewed share one renewal. Throws `UnavailableError` when it cannot be had.
   */
  token(signal: AbortSignal): Promise<string | undefined>;
  /** Says that the server refused this token, whatever its expiry says: the next `token` renews it. */
  refused?(token: string): void;
}

export type KubeconfigSource =
  | { readonly text: string /** What relative file names are relative to; without it they are refused. */; readonly directory?: string }
  | { readonly file: string }
  /** `root` stands for `/` in front of the service account's directory. */
  | { readonly inCluster: true; readonly root?: string };

/**
 * Credentials of one context of a kubeconfig, or of the pod we run in. Files the kubeconfig points to are read now, except token
 * files, which are read again every minute because the kubelet and others renew them in place.
 *
 * Refused with `InputError` (path of the field, remedy): a file that is not there or not YAML, a context, cluster or user that is
 * missing, proxies, impersonation, passwords.
 *
 * @param context name of the context, `current-context` if undefined
 */
export function loadKubeconfig(source: KubeconfigSource, context?: string, now: () => Millis = systemNow): KubeCredentials {
  if ("inCluster" in source) return loadInCluster(source.root ?? "", now);
  const parsed =
    "file" in source
      ? parseKubeconfig({ text: readInput(source.file, "kubeconfig"), context, directory: dirname(source.file), readFile: readInput })
      : parseKubeconfig({ text: source.text, context, directory: source.directory, readFile: readInput });
  if (!parsed.ok) throw parsed.error;
  return credentialsOf(parsed.entry, now);
}

const serviceAccountDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";

function loadInCluster(root: string, now: () => Millis): KubeCredentials {
  const host = process.env["KUBERNETES_SERVICE_HOST"];
  const port = process.env["KUBERNETES_SERVICE_PORT"];
  if (host === undefined || port === undefined) {
    throw new InputError("Loading in-cluster credentials", {
      code: "kube.not-in-cluster",
      path: "KUBERNETES_SERVICE_HOST",
      remedy: "run in a pod with a service account, or name a kubeconfig",
    });
  }
  const directory = `${root}${serviceAccountDirectory}`;
  const ca = readInput(`${directory}/ca.crt`, "inCluster.ca");
  const server = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return credentialsOf({ server, tls: { ca }, token: { kind: "file", file: `${directory}/token` } }, now);
}

function credentialsOf(entry: KubeconfigEntry, now: () => Millis): KubeCredentials {
  const source = tokenSourceOf(entry.token, entry.server, now);
  return {
    server: entry.server,
    ...entry.tls,
    token: async (signal) => source?.token(signal),
    refused: (token) => source?.refused(token),
  };
}

function tokenSourceOf(origin: TokenOrigin, server: string, now: () => Millis): TokenSource | undefined {
  switch (origin.kind) {
    case "none":
      return undefined;
    case "fixed":
      return { token: async () => origin.token, refused() {} };
    case "file":
      return createTokenSource({ read: () => readTokenFile(origin.file), now });
    case "exec":
      return createTokenSource({ read: () => runExecPlugin(origin.exec, server), now });
    case "provider":
      return createTokenSource({ read: createProviderReader(origin.provider), now });
  }
}

async function readTokenFile(file: string): Promise<Token> {
  const { readFile } = await import("node:fs/promises");
  const value = (await readFile(file, "utf8")).trim();
  if (value === "") throw new RefusedError("Reading a token file", { code: "kube.token-empty", context: { file } });
  return { value, expiresAtMs: expiryOfJwt(value) };
}

/**
 * Tokens of `auth-provider` entries (OpenID Connect and the old cloud providers). Their protocols are the library's business; it is loaded
 * when the first such token is needed because that costs a third of a second and 87 MB. The object is kept: it holds the refresh token.
 */
function createProviderReader(provider: AuthProvider): () => Promise<Token> {
  let loading: Promise<InstanceType<typeof import("@kubernetes/client-node").KubeConfig>> | undefined;
  const load = async () => {
    const { KubeConfig } = await import("@kubernetes/client-node");
    const config = new KubeConfig();
    // Only the user matters: the library never sees our server, so it cannot send anything there.
    config.loadFromClusterAndUser(
      { name: "cluster", server: "https://localhost", skipTLSVerify: false },
      { name: "user", authProvider: provider },
    );
    return config;
  };
  return async () => {
    loading ??= load();
    const options: { headers: Record<string, string> } = { headers: {} };
    await (await loading).applyToHTTPSOptions(options);
    const value = options.headers["Authorization"]?.replace(/^Bearer /, "") ?? "";
    if (value === "")
      throw new RefusedError("Asking an auth provider for a token", { code: "kube.token-empty", context: { provider: provider.name } });
    return { value, expiresAtMs: expiryOfJwt(value) };
  };
}

function readInput(file: string, path: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new InputError("Reading a file of the kubeconfig", {
      code: "kube.file-unreadable",
      path,
      remedy: `make ${file} exist and be readable`,
      context: { file },
      cause,
    });
  }
}

function systemNow(): Millis {
  return millis(Date.now());
}
