import { Client } from "undici";
import { readBeginning } from "./kube/answer-body.ts";
import { answerWith } from "./resolve-host.ts";

export interface PinnedClientOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  /** What is connected to, whatever the host's name means. */
  readonly addresses: readonly string[];
  /** PEM of who alone vouches for the host; absent: whoever does for everybody. */
  readonly authorities?: string | undefined;
  /** How long a connection, or the next part of an answer, may take, in ms. */
  readonly timeoutMs: number;
}

export interface PinnedRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface PinnedAnswer {
  readonly status: number;
  /** Media type without its parameters; empty where there is none. */
  readonly type: string;
  /** The beginning of it, about 64 KiB at most, a character for each byte. The rest is dropped with the connection. */
  readonly text: string;
}

/** Asks one host by HTTP at addresses that were checked before. Follows no redirect, and shares its connections with nobody. */
export interface PinnedClient {
  /** Rejects when nobody answers, and when the signal aborts. */
  request(request: PinnedRequest, signal: AbortSignal): Promise<PinnedAnswer>;
  close(): Promise<void>;
}

export function createPinnedClient({ origin, addresses, authorities, timeoutMs }: PinnedClientOptions): PinnedClient {
  const client = new Client(origin, {
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: {
      timeout: timeoutMs,
      ...(authorities === undefined ? {} : { ca: authorities }),
      // Asked for names only.
      lookup: answerWith(addresses),
    },
  });
  return {
    async request(request, signal) {
      const { statusCode: status, headers, body } = await client.request({ ...request, signal });
      const [type = ""] = String(headers["content-type"] ?? "").split(";");
      return { status, type: type.trim(), text: await readBeginning(body, "latin1") };
    },
    close: () => client.destroy().catch(() => undefined),
  };
}
