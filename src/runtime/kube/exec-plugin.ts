import { execFile } from "node:child_process";
import { RefusedError, UnavailableError } from "../../domain/errors.ts";
import type { Token } from "./token-source.ts";

/** `users[].user.exec` of a kubeconfig. */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly provideClusterInfo: boolean;
}

/** A plugin that talks to an identity provider needs a few seconds; one that waits for a person never ends. */
const timeoutMs = 60_000;

const longestOutput = 1024 * 1024;

/**
 * Runs a credential plugin once (client.authentication.k8s.io, `ExecCredential`): no terminal, the request in `KUBERNETES_EXEC_INFO`, the
 * answer on stdout. What it writes to stderr goes into the error's cause. Client certificates from plugins are not taken, because they would
 * need new connections at each renewal: a plugin that offers nothing else is `RefusedError`.
 *
 * Not through the Kubernetes library: it keeps the token's expiry to itself, waits for ever, and does not tell the plugin
 * which version of the protocol is spoken.
 */
export async function runExecPlugin(plugin: ExecPlugin, server: string): Promise<Token> {
  const stdout = await run(plugin, {
    apiVersion: plugin.apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, ...(plugin.provideClusterInfo ? { cluster: { server } } : {}) },
  });
  return parseExecCredential(stdout, plugin.command);
}

/** Reads the `ExecCredential` a plugin printed. */
function parseExecCredential(stdout: string, command: string): Token {
  const status = parseCredentialStatus(stdout, command);
  if (typeof status?.token !== "string" || status.token === "") {
    throw new RefusedError("Reading a credential plugin's answer", { code: "kube.token-empty", context: { command } });
  }
  const expiresAtMs = typeof status.expirationTimestamp === "string" ? Date.parse(status.expirationTimestamp) : Number.NaN;
  return { value: status.token, expiresAtMs: Number.isNaN(expiresAtMs) ? undefined : expiresAtMs };
}

function parseCredentialStatus(
  stdout: string,
  command: string,
): { readonly token?: unknown; readonly expirationTimestamp?: unknown } | undefined {
  try {
    return (JSON.parse(stdout) as { readonly status?: { readonly token?: unknown; readonly expirationTimestamp?: unknown } } | null)
      ?.status;
  } catch {
    // The parser's complaint quotes what it read, and that may be a token.
    throw new UnavailableError("Reading a credential plugin's answer", { code: "kube.plugin-output", context: { command } });
  }
}

function run(plugin: ExecPlugin, info: unknown): Promise<string> {
  const env = { ...process.env, ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) };
  return new Promise((resolve, reject) => {
    const child = execFile(
      plugin.command,
      [...plugin.args],
      { env, timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: longestOutput, encoding: "utf8" },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        // `error.message` repeats the whole command line, which may hold secrets.
        const cause = new Error(stderr.trim().slice(0, 1_000) || String(error.code ?? error.signal ?? "no output"));
        reject(
          new UnavailableError("Running a credential plugin", { code: "kube.plugin-failed", context: { command: plugin.command }, cause }),
        );
      },
    );
    child.stdin?.end();
  });
}
