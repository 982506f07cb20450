/** An issuer of OpenID Connect as far as verifiers see one: discovery, keys, and tokens for whoever asks. Only for tests. */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { json } from "node:stream/consumers";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT, UnsecuredJWT } from "jose";
import type { IssuerCommand, SignRequest } from "./commands.ts";

const [port = "0", certificateFile, keyFile] = process.argv.slice(2);
const PATHS = { discovery: "/.well-known/openid-configuration", keys: "/keys" } as const;

interface Key {
  readonly kid: string;
  readonly alg: string;
  readonly private: CryptoKey;
  readonly public: JWK;
}

const keys = new Map<string, Key>();
let published: readonly string[] = [];
let behaviour: Extract<IssuerCommand, { readonly do: "behave" }>["as"] = "well";
const reads = { discovery: 0, keys: 0 };
let url = "";

async function addKey(kid: string, alg: string): Promise<void> {
  const pair = await generateKeyPair(alg, { extractable: true });
  const key = { ...(await exportJWK(pair.publicKey)), kid, alg, use: "sig" };
  keys.set(kid, { kid, alg, private: pair.privateKey, public: key });
}

async function sign({ key: kid, claims, header, as }: SignRequest): Promise<string> {
  if (as === "none") return new UnsecuredJWT(claims).encode();
  const key = keys.get(kid);
  if (key === undefined) throw new Error(`no key ${kid}`);
  if (as === "hs256-with-the-public-key") {
    const secret = new TextEncoder().encode(JSON.stringify(key.public));
    return new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid, ...header }).sign(secret);
  }
  return new SignJWT(claims).setProtectedHeader({ alg: key.alg, kid, ...header }).sign(key.private);
}

async function obey(command: IssuerCommand): Promise<unknown> {
  switch (command.do) {
    case "sign":
      return { token: await sign(command) };
    case "add-key":
      return addKey(command.kid, command.alg);
    case "publish":
      published = command.kids;
      return undefined;
    case "behave":
      behaviour = command.as;
      return undefined;
    case "forget":
      published = ["one"];
      behaviour = "well";
      reads.discovery = 0;
      reads.keys = 0;
      return undefined;
    case "count":
      return { ...reads };
  }
}

function answer(response: ServerResponse, path: keyof typeof reads, isElsewhere: boolean): void {
  reads[path] += 1;
  const named = behaviour === "wrong-issuer" ? `${url}/other` : url;
  // The machine itself, by an address that is none of its own.
  const keysAt = behaviour === "plain-keys" ? `${url.replace("127.0.0.1", "0.0.0.0")}${PATHS.keys}` : `${url}${PATHS.keys}`;
  const document = path === "discovery" ? { issuer: named, jwks_uri: keysAt } : { keys: published.map((kid) => keys.get(kid)?.public) };
  if (behaviour === "failing") return void response.writeHead(500).end("{}");
  if (behaviour === "redirecting" && !isElsewhere)
    return void response.writeHead(302, { location: `${url}/elsewhere${PATHS[path]}` }).end();
  if (behaviour === "silent") return;
  response.writeHead(200, { "content-type": "application/json" });
  if (path === "keys" && behaviour === "huge") response.write(" ".repeat(1_048_576));
  if (path === "keys" && behaviour === "dripping") return void response.write('{"keys":[');
  response.end(
    path === "keys" && behaviour === "symmetric"
      ? JSON.stringify({ keys: [{ kty: "oct", k: "AAAA", kid: "one" }] })
      : JSON.stringify(document),
  );
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url?.replace(/^\/elsewhere/, "");
  if (path === PATHS.discovery) return answer(response, "discovery", path !== request.url);
  if (path === PATHS.keys) return answer(response, "keys", path !== request.url);
  if (path !== "/command") return void response.writeHead(404).end();
  const result = await obey((await json(request)) as IssuerCommand);
  response.end(JSON.stringify(result ?? {}));
}

const listener = (request: IncomingMessage, response: ServerResponse): void =>
  void handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
const server =
  certificateFile === undefined || keyFile === undefined
    ? createServer(listener)
    : createSecureServer({ cert: readFileSync(certificateFile), key: readFileSync(keyFile) }, listener);
server.listen(Number(port), "127.0.0.1", () => {
  url = `${certificateFile === undefined ? "http" : "https"}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stdout.write(`${url}\n`);
});
// Whoever started it is gone.
process.stdin.on("end", () => process.exit(0)).resume();
