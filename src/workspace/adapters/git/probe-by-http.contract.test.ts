import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type GitServer, startGitServer } from "../../../../hack/git-server/git-server.ts";
import type { EgressSpec } from "../../../domain/fleet.ts";
import type { RepositorySecret } from "../../../domain/repository-credential.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { parseRepositoryAddress } from "../../repository-credential/repository-address.ts";
import { createGitObserver } from "./observer.ts";

const HOST = "git.test.example";
const EGRESS: EgressSpec = { allow: ["127.0.0.0/8"], http: ["127.0.0.1", HOST] };
const BOT: RepositorySecret = { kind: "basic", username: "bot", password: "pass:wörd" };
const ADVERTISED = { "content-type": "application/x-git-upload-pack-advertisement" };
const REFS = { "content-type": "application/x-git-upload-pack-result" };
const HEAD = `${"a".repeat(40)} HEAD`;

const packet = (text: string): string => `${(text.length + 4).toString(16).padStart(4, "0")}${text}`;
const SERVICE = `${packet("# service=git-upload-pack\n")}0000`;
const VERSION_2 = `${packet("version 2\n")}${packet("agent=host\n")}${packet("ls-refs\n")}${packet("object-format=sha1\n")}0000`;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "argosy-http-probe-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function probe(url: string, { secret, deadlineMs }: { readonly secret?: RepositorySecret; readonly deadlineMs?: number } = {}) {
  const parsed = parseRepositoryAddress(url, EGRESS);
  if (!parsed.ok) throw new Error(parsed.message);
  const observer = createGitObserver({
    ...{ directory: join(directory, "probes"), path: process.env["PATH"] ?? "", log: silentLog, resolve: async () => ["127.0.0.1"] },
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
  return observer.observe({ ...parsed.address, secret, egress: EGRESS }, AbortSignal.timeout(60_000));
}

describe("probing a host by HTTP", () => {
  interface Request {
    readonly line: string;
    readonly headers: IncomingMessage["headers"];
    readonly body: string;
  }
  let server: Server;
  let requests: Request[];
  let answer: (request: Request, response: ServerResponse) => void;
  beforeEach(async () => {
    requests = [];
    server = createServer((incoming, response) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => {
        const request = { line: `${incoming.method} ${incoming.url}`, headers: incoming.headers, body: Buffer.concat(chunks).toString() };
        requests.push(request);
        answer(request, response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const urlOf = (host = HOST): string => `http://${host}:${(server.address() as AddressInfo).port}/team/app`;
  /** Who has asked: this process itself, or the git that it started. */
  const askers = (): readonly ("ours" | "git")[] =>
    requests.map(({ headers }) => (headers["user-agent"]?.includes("argosy") ? "ours" : "git"));
  const advertise = (first: string, second?: (response: ServerResponse) => void) => {
    answer = ({ line }, response) => {
      if (line.startsWith("GET")) response.writeHead(200, ADVERTISED).end(first);
      else second?.(response);
    };
  };

  it.each([401, 403, 404, 410, 301, 302, 303, 307, 308, 429, 500, 502, 503])("says of status %i what git says", async (status) => {
    answer = (_request, response) => response.writeHead(status, { location: "http://127.0.0.1:1/" }).end("words");
    const ours = await probe(urlOf());
    expect(askers()).toEqual(["ours"]);
    // With such a path it is git that is asked.
    expect(await probe(`${urlOf()}/../app`)).toBe(ours);
    expect(askers()).toContain("git");
  });

  it("asks as git does where HEAD is, with the credential", async () => {
    advertise(VERSION_2, (response) => response.writeHead(200, REFS).end(`${packet(`${HEAD}\n`)}0000`));
    expect(await probe(urlOf(), { secret: BOT })).toBe("readable");
    expect(requests.map(({ line }) => line)).toEqual(["GET /team/app/info/refs?service=git-upload-pack", "POST /team/app/git-upload-pack"]);
    for (const { headers } of requests) {
      expect(headers.authorization).toBe(`Basic ${Buffer.from("bot:pass:wörd").toString("base64")}`);
      expect(headers["git-protocol"]).toBe("version=2");
    }
    expect(requests[1]?.body).toBe(`${packet("command=ls-refs\n")}${packet("object-format=sha1\n")}0001${packet("ref-prefix HEAD\n")}0000`);
    expect(askers()).toEqual(["ours", "ours"]);
  });

  it.each([
    ["a host that names the service first", `${SERVICE}${VERSION_2}`, 2],
    ["a host of the first protocol", `${SERVICE}${packet(`${HEAD}\0multi_ack\n`)}${packet(`${"b".repeat(40)} refs/heads/main\n`)}0000`, 1],
    ["an empty repository of the first protocol", `${SERVICE}${packet(`${"0".repeat(40)} capabilities^{}\0multi_ack\n`)}0000`, 1],
  ])("reads %s", async (_what, first, asked) => {
    advertise(first, (response) => response.writeHead(200, REFS).end("0000"));
    expect(await probe(urlOf())).toBe("readable");
    expect(askers()).toEqual(Array.from({ length: asked }, () => "ours"));
  });

  it("reads no more than it needs of a host that never stops talking", async () => {
    answer = (_request, response) => {
      response.writeHead(200, ADVERTISED).write(`${SERVICE}${packet(`${HEAD}\0multi_ack\n`)}`);
      const more = (): void => void (response.writable && response.write(packet(`${HEAD}s\n`).repeat(1_000), () => setImmediate(more)));
      more();
    };
    expect(await probe(urlOf())).toBe("readable");
    expect(askers()).toEqual(["ours"]);
  });

  it("is denied by a host that shows what it speaks to everybody", async () => {
    advertise(VERSION_2, (response) => response.writeHead(403).end());
    expect(await probe(urlOf())).toBe("denied");
    expect(askers()).toEqual(["ours", "ours"]);
  });

  it.each([
    ["a page for people in Git's words", { "content-type": "text/html" }, VERSION_2],
    ["a page that calls itself Git's", ADVERTISED, "<html>Log in</html>"],
    ["an error", ADVERTISED, `${SERVICE}${packet("ERR access denied or repository not exported: /team/app")}`],
    ["a line longer than the answer", ADVERTISED, `fff0${HEAD}`],
    ["nothing", ADVERTISED, ""],
  ])("leaves %s to git, and takes it for no repository", async (_what, headers, first) => {
    answer = (_request, response) => response.writeHead(200, headers).end(first);
    expect(["failed", "not-found", "denied", "unreachable"]).toContain(await probe(urlOf()));
    expect(askers()[0]).toBe("ours");
    expect(askers()).toContain("git");
    expect(requests.filter(({ line }) => line.startsWith("POST"))).toEqual([]);
  });

  it.each([
    [200, { "content-type": "text/html" }],
    [203, { "content-type": "text/html; charset=utf-8" }],
    [200, {}],
  ])("finds no repository where everybody is shown a page (status %i)", async (status, headers) => {
    for (const page of ["<html>Log in</html>", "<html>\nLog in\n</html>\n", ""]) {
      requests = [];
      answer = (_request, response) => response.writeHead(status, headers).end(page);
      expect(["not-found", "failed"]).toContain(await probe(urlOf()));
      expect(askers()[0]).toBe("ours");
    }
  });

  it("leaves a repository of plain files to git", async () => {
    const files: Readonly<Record<string, string>> = { "info/refs": `${"a".repeat(40)}\trefs/heads/main\n`, HEAD: "ref: refs/heads/main\n" };
    answer = ({ line }, response) => {
      const text = files[/^GET \/team\/app\/([^?]*)/.exec(line)?.[1] ?? ""];
      response.writeHead(text === undefined ? 404 : 200, { "content-type": "text/plain" }).end(text);
    };
    expect(await probe(urlOf())).toBe("readable");
    expect(askers()).toContain("git");
  });

  it("reads as Git does a host in capitals and with its own port", async () => {
    advertise(VERSION_2, (response) => response.writeHead(200, REFS).end("0000"));
    expect(await probe(urlOf(HOST.toUpperCase()))).toBe("readable");
    expect(askers()).toEqual(["ours", "ours"]);
  });

  it.each([
    ["an error", `${packet("ERR access denied")}0000`],
    ["nothing", ""],
  ])("takes %s in place of refs for no repository", async (_what, second) => {
    advertise(VERSION_2, (response) => response.writeHead(200, REFS).end(second));
    expect(["failed", "not-found", "denied", "unreachable"]).toContain(await probe(urlOf()));
    expect(askers()).toContain("git");
  });

  it("ends at its deadline where an answer never does, and asks nobody again", async () => {
    answer = (_request, response) => {
      response.writeHead(200, ADVERTISED);
      const drip = setInterval(() => response.write("0"), 20);
      response.on("close", () => clearInterval(drip));
    };
    expect(await probe(urlOf(), { deadlineMs: 500 })).toBe("unreachable");
    expect(askers()).toEqual(["ours"]);
  });
});

describe("probing real repositories by HTTP", () => {
  let git: GitServer;
  beforeAll(async () => {
    git = await startGitServer({ directory: join(directory, "git") });
  });
  afterAll(() => git.stop());

  it("reads one with files", async () => {
    await git.createRepository("team/app", { a: "b" });
    expect(await probe(git.repositoryUrl("team/app"))).toBe("readable");
    expect(git.requests("team/app")).toBe(2);
  });
});
