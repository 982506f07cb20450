import { createSecureContext, type SecureContext, type SecureContextOptions } from "node:tls";
import { Pool } from "undici";
import type { KubeCredentials } from "./auth.ts";

/** What a request is about, as far as it decides whom it may keep waiting. */
export type Purpose = "write" | "read" | "list" | "page";

/** The ways to one API server. */
export interface Connections {
  /** Kept alive, for requests. Those of one purpose wait for each other, and for no others: a list takes long, and a page as long as a pod likes. */
  readonly pools: Readonly<Record<Purpose, Pool>>;
  /** Each for one request and no longer: whoever answers at a load balancer's address is drawn anew. */
  readonly fresh: Pool;
  /** Each held for minutes. */
  readonly watches: Pool;
  close(how: "at-once" | undefined): Promise<void>;
}

/** Idle connections are closed before load balancers forget them, in ms; the API server itself keeps them for minutes. */
const KEEP_ALIVE_MS = 30_000;

/** Lists at once: each is hundreds of objects, and more would only stand in front of everybody's requests. */
const LISTS = 8;
/** Pages of pods at once, which the API server fetches. A pod that answers nothing holds one until it is given up. */
const PAGES = 16;

/** Opens nothing yet. `limit`: connections for writes, and as many for reads of single objects. */
export function createConnections(credentials: KubeCredentials, limit: number): Connections {
  const { origin } = new URL(credentials.server);
  const common = { connect: connectOptions(credentials), allowH2: false, pipelining: 1, keepAliveTimeout: KEEP_ALIVE_MS };
  const kept = (connections: number) => new Pool(origin, { ...common, connections });
  const pools = { write: kept(limit), read: kept(limit), list: kept(LISTS), page: kept(PAGES) };
  const fresh = new Pool(origin, { ...common, connections: null });
  const watches = new Pool(origin, { ...common, connections: null, bodyTimeout: 0 });
  return {
    ...{ pools, fresh, watches },
    async close(how) {
      await Promise.all([
        ...[...Object.values(pools), fresh].map((each) => (how === "at-once" ? each.destroy() : each.close())),
        watches.destroy(),
      ]);
    },
  };
}

function connectOptions(credentials: KubeCredentials) {
  const { serverName, insecureSkipTlsVerify, lookup } = credentials;
  return {
    timeout: 10_000,
    ...trustOf(credentials),
    ...(lookup === undefined ? {} : { lookup }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
  };
}

/**
 * One context of TLS for all connections, or each would parse the authorities for itself and keep them (43 KiB, measured). What cannot be parsed is left to the
 * connections, so that it is an error of whoever sends something.
 */
function trustOf({ server, ca, certificate }: KubeCredentials): SecureContextOptions | { readonly secureContext: SecureContext } {
  const trust = {
    ...(ca === undefined ? {} : { ca }),
    ...(certificate === undefined ? {} : { cert: certificate.cert, key: certificate.key }),
  };
  if (!server.startsWith("https:")) return trust;
  try {
    return { secureContext: createSecureContext(trust) };
  } catch {
    return trust;
  }
}
