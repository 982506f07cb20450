import type { Clock } from "../../../../domain/clock.ts";
import type { Rng } from "../../../../domain/rng.ts";
import type { KubeCredentials } from "../../../../runtime/kube/auth.ts";
import type { KubeClient } from "../../../../runtime/kube/client.ts";
import { createKubeClient } from "../../../../runtime/kube/http.ts";
import { limitTime } from "../../../../runtime/kube/time-limit.ts";
import { type ResolveHost, resolveHost } from "../../../../runtime/resolve-host.ts";
import type { Log } from "../../../../telemetry/log.ts";
import { noMetrics } from "../../../../telemetry/metrics.ts";
import type { ProbeTarget, ShownServers } from "../../port.ts";
import { checkAddresses } from "./checked-addresses.ts";
import { peerCertificate } from "./peer-certificate.ts";
import { createReservedKnowledge } from "./reserved-servers.ts";

export interface ReachOptions {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  /** URLs of API servers that no user may deploy to; rejects when it cannot name all of them. */
  readonly reserved: (signal: AbortSignal) => Promise<readonly string[]>;
  /** What reserved servers were given away by before; absent: only what this process reads itself counts. */
  readonly shown?: ShownServers;
  readonly resolve?: ResolveHost;
  /** How long one answer may take, in ms. */
  readonly timeoutMs?: number;
  /** How long one visit may take from its first DNS query to its last answer, in ms. */
  readonly visitMs?: number;
  /** How long what gives a reserved server away counts without being read again, in ms. */
  readonly rememberedMs?: number;
}

export type Reached<Result> =
  | { readonly kind: "done"; readonly result: Result }
  /** Nothing was connected to: no address of the server may be reached. */
  | { readonly kind: "closed"; readonly why: "inside" | "reserved" }
  /** Nothing was connected to: it might be a server that nobody may reach. */
  | { readonly kind: "unsure" }
  | { readonly kind: "failed"; readonly error: unknown };

/** Does something on a stranger's cluster; `run` is given the signal of the whole visit. */
export type Reach = <Result>(
  target: ProbeTarget,
  run: (client: KubeClient, signal: AbortSignal) => Promise<Result>,
  signal: AbortSignal,
) => Promise<Reached<Result>>;

/** One object, or a page of few: annotations may make them long. */
const LONGEST_ANSWER = 1024 * 1024;
/** How long one cluster may take to answer, in ms. */
export const ANSWER_MS = 10_000;
/** An account in a hundred namespaces, at a cluster that takes a quarter of a second for each object. */
const VISIT_MS = 60_000;

/**
 * Visits clusters of strangers with a client that connects only to addresses that may be reached, and closes it. Whatever a
 * cluster does, the visit ends at its deadline.
 */
export function createReach(options: ReachOptions): Reach {
  const { clock, log, resolve = resolveHost, visitMs = VISIT_MS, timeoutMs = ANSWER_MS } = options;
  const knowReserved = createReservedKnowledge(options);

  const reservedNear = async (url: URL, signal: AbortSignal) => {
    try {
      const reserved = await knowReserved(url, await options.reserved(signal));
      if (reserved === undefined)
        log.warn({}, "Not visiting a user's cluster: a cluster that hosts instances does not show what it is known by");
      return reserved;
    } catch (error) {
      log.warn({ err: error }, "Not visiting a user's cluster: the clusters that host instances cannot be listed");
      return undefined;
    }
  };

  const visit: Reach = async (target, run, signal) => {
    const url = new URL(target.server);
    const reserved = await reservedNear(url, signal);
    if (reserved === undefined) return { kind: "unsure" };
    const addresses = await checkAddresses(target, { reserved: reserved.listeners, resolve }, signal);
    signal.throwIfAborted();
    if (addresses.kind === "closed") return addresses;
    if (addresses.kind === "nowhere") return { kind: "failed", error: Object.assign(new Error("no such host"), { code: "ENOTFOUND" }) };
    const { lookup } = addresses;
    if (reserved.certificates.size > 0) {
      const limit = limitTime({ clock, doing: "Looking for the certificate of a user's cluster", timeoutMs }, signal);
      const shown = await peerCertificate(url, { lookup, signal: limit.signal });
      limit.release();
      signal.throwIfAborted();
      // One that shows none now may be one of ours behind a front that lets the next connection through.
      if (shown.kind === "nothing") return { kind: "failed", error: shown.error };
      if (reserved.certificates.has(shown.fingerprint)) return { kind: "closed", why: "reserved" };
    }
    return withClient(target, { options, lookup }, (client) => run(client, signal));
  };

  return async (target, run, signal) => {
    const limit = limitTime({ clock, doing: "Visiting a user's cluster", timeoutMs: visitMs }, signal);
    try {
      return await visit(target, run, limit.signal);
    } catch (error) {
      return { kind: "failed", error: limit.signal.aborted ? limit.signal.reason : error };
    } finally {
      limit.release();
    }
  };
}

async function withClient<Result>(
  target: ProbeTarget,
  { options, lookup }: { readonly options: ReachOptions; readonly lookup: NonNullable<KubeCredentials["lookup"]> },
  run: (client: KubeClient) => Promise<Result>,
): Promise<Reached<Result>> {
  // Its requests are the users', not ours: they are in no metric.
  const { clock, rng } = options;
  const client = createKubeClient({
    cluster: "environment",
    credentials: credentialsOf(target, lookup),
    clock,
    rng,
    metrics: noMetrics,
    longestBody: LONGEST_ANSWER,
  });
  try {
    return { kind: "done", result: await run(client) };
  } finally {
    // Whoever waits for a connection to a silent cluster would hold the visit beyond its end.
    await client.close("at-once");
  }
}

function credentialsOf(
  { server, token, certificate, ca, serverName, isInsecure }: ProbeTarget,
  lookup: NonNullable<KubeCredentials["lookup"]>,
): KubeCredentials {
  return {
    server,
    lookup,
    ...(certificate === undefined ? {} : { certificate }),
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
    insecureSkipTlsVerify: isInsecure,
    token: async () => token,
  };
}

/** The innermost code that says what happened on the wire; else the error's own. */
export function codeOf(error: unknown): string {
  let code = "";
  for (let each: unknown = error, depth = 0; each instanceof Error && depth < 8; each = each.cause, depth += 1) {
    const own = (each as { readonly code?: unknown }).code;
    if (typeof own === "string") code = own;
    if (each instanceof AggregateError && each.errors.length > 0) return codeOf(each.errors[0]);
  }
  return code;
}
