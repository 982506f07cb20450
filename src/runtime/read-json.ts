import { Buffer } from "node:buffer";
import { Agent, fetch as fetchBy } from "undici";

export interface ReadJsonOptions {
  /** Certificates in PEM of the only authorities that are trusted; absent: the public ones. */
  readonly authorities?: string;
  /** Of the body, in bytes. */
  readonly longest: number;
  readonly signal: AbortSignal;
}

/**
 * What stands at a URL, parsed as JSON. It follows no redirect, and reads no more than `longest` bytes of however much is sent. Throws with a short
 * sentence about what is wrong.
 */
export async function readJson(url: string, { authorities, longest, signal }: ReadJsonOptions): Promise<unknown> {
  const dispatcher = new Agent(authorities === undefined ? {} : { connect: { ca: authorities } });
  try {
    const headers = { accept: "application/json", "accept-encoding": "identity" };
    const response = await fetchBy(url, { dispatcher, redirect: "manual", headers, signal });
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
    const chunks: Uint8Array[] = [];
    let read = 0;
    for await (const chunk of response.body ?? []) {
      read += chunk.byteLength;
      if (read > longest) throw new Error(`${url} sends more than ${longest} bytes`);
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } finally {
    await dispatcher.destroy();
  }
}
