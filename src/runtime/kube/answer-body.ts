import { UnavailableError } from "../../domain/errors.ts";
import type { KubeRequest } from "./client.ts";
import { createLineSplitter } from "./lines.ts";

/** What is used of the body of an answer. */
export interface AnswerBody extends AsyncIterable<unknown> {
  text(): Promise<string>;
  /** Reads to the end without keeping anything, or drops the connection when that takes more than `limit` bytes. */
  dump(options: { readonly limit: number }): Promise<void>;
  setEncoding(encoding: "utf8" | "latin1"): unknown;
}

/** As much of a body as matters where its beginning does, as an error's, in UTF-16 units: reading on would let a hostile server fill our memory. */
export const longestErrorBody = 64 * 1024;

/** Largest body read to its end only to keep its connection, in bytes. Objects are smaller: etcd refuses 1.5 MiB. */
const longestDump = 4 * 1024 * 1024;

/** The result of a request: decoded JSON, the text if something else was asked for, or `undefined` if nothing was. */
export async function readResult(body: AnswerBody, request: KubeRequest): Promise<unknown> {
  if (request.decode === false) {
    await body.dump({ limit: longestDump });
    return undefined;
  }
  const text = request.longestBody === undefined ? await body.text() : await readWhole(body, request.longestBody);
  if (request.accept !== undefined && !request.accept.includes("json")) return text;
  try {
    return JSON.parse(text);
  } catch {
    // The parser's complaint quotes what it read, which may be a Secret.
    const context = { path: request.path, length: text.length };
    throw new UnavailableError("Decoding an answer of the API server", { code: "kube.undecodable", context });
  }
}

async function readWhole(body: AnswerBody, longest: number): Promise<string> {
  body.setEncoding("utf8");
  let text = "";
  for await (const chunk of body) {
    text += String(chunk);
    if (text.length > longest)
      throw new UnavailableError("Reading an answer that is too long", { code: "kube.answer-too-long", context: { longest } });
  }
  return text;
}

export async function readBeginning(body: AnswerBody, encoding: "utf8" | "latin1" = "utf8"): Promise<string> {
  body.setEncoding(encoding);
  let text = "";
  for await (const chunk of body) {
    text += String(chunk);
    if (text.length > longestErrorBody) break;
  }
  return text;
}

export async function* readLines(body: AnswerBody): AsyncGenerator<string> {
  const splitter = createLineSplitter();
  // Decodes characters that are split between chunks.
  body.setEncoding("utf8");
  for await (const chunk of body) yield* splitter.push(String(chunk));
  const rest = splitter.rest();
  if (rest !== undefined) yield rest;
}
