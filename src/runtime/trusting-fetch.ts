import { getCACertificates } from "node:tls";
import { Agent, fetch as fetchBy } from "undici";

export interface FetchOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** Absent: a redirection is followed, with every header that fetch does not know to be secret. */
  readonly redirect?: "error";
}

/** As much of `fetch` as a client of JSON needs. */
export type Fetch = (url: URL, options: FetchOptions) => Promise<{ readonly status: number; text(): Promise<string> }>;

/**
 * `fetch` that trusts these authorities (PEM) beside the public ones. Node's own takes more authorities only when the process starts
 * (NODE_EXTRA_CA_CERTS), and then for all that it connects to.
 */
export function createTrustingFetch(authorities: string): Fetch {
  const dispatcher = new Agent({ connect: { ca: [...getCACertificates("default"), authorities] } });
  return (url, options) => fetchBy(url, { ...options, dispatcher });
}
