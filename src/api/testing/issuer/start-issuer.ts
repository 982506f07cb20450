import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import process from "node:process";
import { createTrustingFetch } from "../../../runtime/trusting-fetch.ts";
import type { IssuerCommand, SignRequest } from "./commands.ts";

const PROGRAM = new URL("./main.ts", import.meta.url).pathname;

export interface IssuerProcess {
  readonly url: string;
  tell(command: IssuerCommand): Promise<void>;
  sign(request: SignRequest): Promise<string>;
  /** How often its documents were read. */
  reads(): Promise<{ readonly discovery: number; readonly keys: number }>;
  stop(): Promise<void>;
}

export interface IssuerOptions {
  /** Any free one by default. */
  readonly port?: number;
  /** Serves HTTPS with it. */
  readonly certificate?: { readonly certFile: string; readonly keyFile: string; readonly authority: string };
}

/** Starts an issuer as a process of its own, with one key, `one`, that it publishes. */
export async function startIssuer({ port = 0, certificate }: IssuerOptions = {}): Promise<IssuerProcess> {
  const args = [PROGRAM, String(port), ...(certificate === undefined ? [] : [certificate.certFile, certificate.keyFile])];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"], env: {} });
  const ended = once(child, "exit");
  const url = await Promise.race([
    once(child.stdout, "data").then(([chunk]) => String(chunk).trim()),
    ended.then(([code]) => Promise.reject(new Error(`the issuer ended with ${code}`))),
  ]);
  const fetchBy = certificate === undefined ? fetch : createTrustingFetch(certificate.authority);
  const send = async <T>(command: IssuerCommand): Promise<T> => {
    const signal = AbortSignal.timeout(20_000);
    const answer = await fetchBy(new URL(`${url}/command`), { method: "POST", headers: {}, body: JSON.stringify(command), signal });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(text);
    return JSON.parse(text) as T;
  };
  const issuer: IssuerProcess = {
    url,
    tell: async (command) => void (await send(command)),
    sign: async (request) => (await send<{ readonly token: string }>({ do: "sign", ...request })).token,
    reads: () => send({ do: "count" }),
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
  await issuer.tell({ do: "add-key", kid: "one", alg: "ES256" });
  await issuer.tell({ do: "publish", kids: ["one"] });
  return issuer;
}

/** A port of this machine on which nothing listens now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
