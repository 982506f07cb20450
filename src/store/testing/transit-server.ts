import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface TransitServer {
  readonly address: string;
  /** Tokens that may use the key. */
  readonly tokens: Set<string>;
  /** What was asked, as `POST /v1/…`, in order. */
  readonly asked: string[];
  /** Answers with this instead of what was asked for; `undefined`: no longer. */
  answerWith(answer: { readonly status: number; readonly body?: string; readonly location?: string } | undefined): void;
  stop(): Promise<void>;
}

interface Asked {
  readonly path: string;
  readonly token: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * As much of a Vault as its transit engine needs here: one key `argosy` at `transit`, and a Kubernetes login for the role `argosy` that
 * takes the token `of-a-pod`.
 */
export async function startTransitServer(): Promise<TransitServer> {
  const key = randomBytes(32);
  const tokens = new Set<string>();
  const asked: string[] = [];
  let instead: { readonly status: number; readonly body?: string; readonly location?: string } | undefined;

  const wrap = (plain: Buffer): string => {
    const iv = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", key, iv);
    const closed = Buffer.concat([cipher.update(plain), cipher.final()]);
    return `vault:v1:${Buffer.concat([iv, cipher.getAuthTag(), closed]).toString("base64")}`;
  };
  const unwrap = (wrapped: string): Buffer => {
    const bytes = Buffer.from(wrapped.replace(/^vault:v1:/, ""), "base64");
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12)).setAuthTag(bytes.subarray(12, 28));
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
  };
  const answer = ({ path, token, body }: Asked): { readonly status: number; readonly body: object } => {
    if (path === "/v1/auth/kubernetes/login") {
      if (body["role"] !== "argosy" || body["jwt"] !== "of-a-pod") return { status: 403, body: { errors: ["permission denied"] } };
      tokens.add("of-a-login");
      return { status: 200, body: { auth: { client_token: "of-a-login" } } };
    }
    if (!tokens.has(token)) return { status: 403, body: { errors: ["permission denied"] } };
    if (path === "/v1/transit/datakey/wrapped/argosy") return { status: 200, body: { data: { ciphertext: wrap(randomBytes(32)) } } };
    if (path !== "/v1/transit/decrypt/argosy") return { status: 404, body: { errors: [] } };
    try {
      return { status: 200, body: { data: { plaintext: unwrap(String(body["ciphertext"])).toString("base64") } } };
    } catch {
      return { status: 400, body: { errors: ["invalid ciphertext: unable to decrypt"] } };
    }
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    asked.push(`${request.method} ${request.url}`);
    const body = JSON.parse(await text(request)) as Asked["body"];
    const said = answer({ path: request.url ?? "", token: String(request.headers["x-vault-token"] ?? ""), body });
    const headers = instead?.location === undefined ? {} : { location: instead.location };
    response.writeHead(instead?.status ?? said.status, { "content-type": "application/json", ...headers });
    response.end(instead === undefined ? JSON.stringify(said.body) : (instead.body ?? "{}"));
  };

  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ tokens, asked },
    answerWith: (answered) => {
      instead = answered;
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
