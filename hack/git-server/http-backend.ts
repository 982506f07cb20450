import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";
import { killGroup } from "../../src/runtime/kill-group.ts";
import { gitEnvironment } from "./git.ts";

export interface BackendExchange {
  /** Folder of the repositories. */
  readonly root: string;
  readonly home: string;
  readonly url: URL;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Answers one request by `git http-backend`, which uses CGI (RFC 3875). */
export function serveWithBackend(exchange: BackendExchange): void {
  const { request, response } = exchange;
  const child = spawn("git", ["http-backend"], {
    env: { ...gitEnvironment(exchange.home), ...cgiVariables(exchange) },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  child.once("error", () => response.destroy());
  child.stdin.on("error", () => undefined);
  child.stderr.resume();
  request.pipe(child.stdin);
  // Git is a family of processes. One that is asked to end while nobody reads its output may run for ever.
  response.once("close", () => killGroup(child));
  relay(child, response);
}

function cgiVariables({ root, url, request }: BackendExchange): Record<string, string> {
  const header = (name: string) => (typeof request.headers[name] === "string" ? request.headers[name] : "");
  return {
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: "1",
    REQUEST_METHOD: request.method ?? "GET",
    PATH_INFO: decodeURIComponent(url.pathname),
    QUERY_STRING: url.search.slice(1),
    CONTENT_TYPE: header("content-type"),
    HTTP_CONTENT_ENCODING: header("content-encoding"),
    GIT_PROTOCOL: header("git-protocol"),
    // A body of unknown length comes in chunks; without the variable the backend reads to the end.
    ...(request.headers["content-length"] === undefined ? {} : { CONTENT_LENGTH: request.headers["content-length"] }),
  };
}

/** Reads the headers that the backend prints, then passes the rest on. */
function relay(child: ChildProcessWithoutNullStreams, response: ServerResponse): void {
  let seen = Buffer.alloc(0);
  const onData = (chunk: Buffer) => {
    seen = Buffer.concat([seen, chunk]);
    const end = seen.indexOf("\r\n\r\n");
    if (end < 0) return;
    child.stdout.off("data", onData);
    const headers = seen
      .subarray(0, end)
      .toString("latin1")
      .split("\r\n")
      .map((line) => line.split(/:\s*(.*)/s) as [string, string]);
    const status = headers.find(([name]) => name.toLowerCase() === "status")?.[1];
    response.writeHead(
      status === undefined ? 200 : Number.parseInt(status, 10),
      Object.fromEntries(headers.filter(([name]) => name.toLowerCase() !== "status")),
    );
    response.write(seen.subarray(end + 4));
    child.stdout.pipe(response);
  };
  child.stdout.on("data", onData);
  child.once("close", () => response.headersSent || response.writeHead(500).end());
}
