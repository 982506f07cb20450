import { Pool } from "undici";
import type { KubeCredentials } from "./auth.ts";

/** The ways to one API server. */
export interface Connections {
  /** Kept alive, for requests. */
  readonly pool: Pool;
  /** Each for one request and no longer: whoever answers at a load balancer's address is drawn anew. */
  readonly fresh: Pool;
  /** Each held for minutes. */
  readonly watches: Pool;
  close(how: "at-once" | undefined): Promise<void>;
}

/** Idle connections are closed before load balancers forget them, in ms; the API server itself keeps them for minutes. */
const KEEP_ALIVE_MS = 30_000;

/** Opens nothing yet. `limit`: connections for requests at once. */
export function createConnections(credentials: KubeCredentials, limit: number): Connections {
  const { origin } = new URL(credentials.server);
  const common = { connect: connectOptions(credentials), allowH2: false, pipelining: 1, keepAliveTimeout: KEEP_ALIVE_MS };
  const pool = new Pool(origin, { ...common, connections: limit });
  const fresh = new Pool(origin, { ...common, connections: null });
  const watches = new Pool(origin, { ...common, connections: null, bodyTimeout: 0 });
  return {
    ...{ pool, fresh, watches },
    async close(how) {
      await Promise.all([...[pool, fresh].map((each) => (how === "at-once" ? each.destroy() : each.close())), watches.destroy()]);
    },
  };
}

function connectOptions(credentials: KubeCredentials) {
  const { ca, certificate, serverName, insecureSkipTlsVerify, lookup } = credentials;
  return {
    timeout: 10_000,
    ...(ca === undefined ? {} : { ca }),
    ...(certificate === undefined ? {} : { cert: certificate.cert, key: certificate.key }),
    ...(lookup === undefined ? {} : { lookup }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
  };
}
