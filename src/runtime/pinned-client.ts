import { isIP } from "node:net";
import { Client } from "undici";
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
  /** How much of an answer is read, in bytes; the rest is dropped with the connection. */
  readonly readAtMost: number;
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
  /** The beginning of it, a character for each byte. */
  readonly text: string;
}

/** Asks one host by HTTP at addresses that were checked before. Follows no redirect, and shares its connections with nobody. */
export interface PinnedClient {
  /** Rejects when nobody answers, and when the signal aborts. */
  request(request: PinnedRequest, signal: AbortSignal): Promise<PinnedAnswer>;
  close(): Promise<void>;
}

export function createPinnedClient({ origin, addresses, authorities, timeoutMs, readAtMost }: PinnedClientOptions): PinnedClient {
  const host = new URL(origin).hostname.replace(/^\[|\]$/g, "");
  const client = new Client(origin, {
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: {
      timeout: timeoutMs,
      ...(authorities === undefined ? {} : { ca: authorities }),
      // An address needs no resolving.
      ...(isIP(host) === 0 ? { lookup: answerWith(addresses) } : {}),
    },
  });
  return {
    async request(request, signal) {
      const { statusCode: status, headers, body } = await client.request({ ...request, signal });
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of body as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes >= readAtMost) break;
      }
      const [type = ""] = String(headers["content-type"] ?? "").split(";");
      return { status, type: type.trim(), text: Buffer.concat(chunks).toString("latin1") };
    },
    close: () => client.destroy().catch(() => undefined),
  };
}
