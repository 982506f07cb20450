import { createPrivateKey, randomUUID, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { isRenewalDue } from "../../../domain/account-token.ts";
import { millis } from "../../../domain/clock.ts";
import { GoneError, RefusedError } from "../../../domain/errors.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { type KubeCredentials, loadKubeconfig } from "../../../runtime/kube/auth.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { createKubeClient } from "../../../runtime/kube/http.ts";
import { NAMESPACES } from "../../../runtime/kube/namespaces.ts";
import { realApiServer } from "../../../runtime/kube/testing/real-api-server.ts";
import { systemRng } from "../../../runtime/rng.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { createAccountTokens } from "./account-tokens.ts";
import { ENGINE_SECRETS, SERVICE_ACCOUNTS } from "./types.ts";

const kubeconfig = await realApiServer();
const never = new AbortController().signal;
const MINUTES = 60_000;

describe.skipIf(kubeconfig === undefined)("tokens of accounts, on a real API server", () => {
  const namespace = `tokens-${randomUUID().slice(0, 8)}`;
  const at = { namespace, name: "read-1" };
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: at };
  const open: KubeClient[] = [];
  let credentials: KubeCredentials;
  let admin: KubeClient;
  const connect = (as: KubeCredentials): KubeClient => {
    const client = createKubeClient({ cluster: "real", credentials: as, clock: systemClock, rng: systemRng, metrics: noMetrics });
    open.push(client);
    return client;
  };
  const tokens = () => createAccountTokens({ client: admin, clock: systemClock });
  /** What the API server says to whoever has this token: the status of a refusal, or 200. */
  const answerTo = async (token: string): Promise<unknown> => {
    const { certificate: _, ...rest } = credentials;
    const client = connect({ ...rest, token: async () => token });
    try {
      await client.request({ method: "GET", path: "/apis" }, never);
      return 200;
    } catch (error) {
      return error instanceof RefusedError ? error.context["status"] : error;
    }
  };

  beforeAll(async () => {
    credentials = loadKubeconfig({ file: kubeconfig ?? "" });
    admin = connect(credentials);
    await admin.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }, never);
    await admin.create(SERVICE_ACCOUNTS, account, never);
  });
  afterAll(() => Promise.all(open.map((client) => client.close())));

  it("are good from now until the end that the server said, and no sooner to be replaced", async () => {
    const asked = Date.now();
    const issued = await tokens().issue(at, 30 * MINUTES, never);
    expect(await answerTo(issued.token)).toBe(200);
    expect((issued.endsAt - issued.madeAt) / MINUTES).toBeCloseTo(30, 1);
    const due = (minutes: number) =>
      isRenewalDue(issued, at.name, { now: millis(asked + minutes * MINUTES), life: { lifeMs: 30 * MINUTES, renewAfterMs: 20 * MINUTES } });
    expect([due(0), due(14), due(21)]).toEqual([false, false, true]);
  });

  it("are refused once they ended", async () => {
    const { token } = await tokens().issue(at, 10 * MINUTES, never);
    // Signed as the API server signs, for nobody can be given one that lives shorter than ten minutes.
    const nowS = Math.floor(Date.now() / 1_000);
    const until = (exp: number) => resign(token, { iat: nowS - 7_200, nbf: nowS - 7_200, exp });
    expect(await answerTo(until(nowS + 600))).toBe(200);
    expect(await answerTo(until(nowS - 60))).toBe(401);
  });

  it("are worth nothing once their account is gone, also when another one has its name", async () => {
    const { token } = await tokens().issue(at, 10 * MINUTES, never);
    expect(await answerTo(token)).toBe(200);
    await admin.delete(SERVICE_ACCOUNTS, at, {}, never);
    await expect(tokens().issue(at, 10 * MINUTES, never)).rejects.toBeInstanceOf(GoneError);
    await admin.create(SERVICE_ACCOUNTS, account, never);
    // The API server keeps what it found out about a token for ten seconds.
    await vi.waitFor(async () => expect(await answerTo(token)).toBe(401), { timeout: 60_000, interval: 500 });
    expect(await answerTo((await tokens().issue(at, 10 * MINUTES, never)).token)).toBe(200);
  });

  it("of earlier versions go with their Secret, whether or not there is one", async () => {
    const annotations = { "kubernetes.io/service-account.name": at.name };
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { ...at, annotations }, type: "kubernetes.io/service-account-token" };
    await admin.create(ENGINE_SECRETS, secret, never);
    await tokens().removeEndless(at, never);
    expect(await admin.get(ENGINE_SECRETS, at, never)).toBeUndefined();
    await tokens().removeEndless(at, never);
  });

  function resign(token: string, claims: object): string {
    const [header = "", payload = ""] = token.split(".");
    const { alg } = JSON.parse(Buffer.from(header, "base64url").toString()) as { readonly alg: string };
    const said = { ...(JSON.parse(Buffer.from(payload, "base64url").toString()) as object), ...claims };
    const body = `${header}.${Buffer.from(JSON.stringify(said)).toString("base64url")}`;
    const key = createPrivateKey(readFileSync(join(dirname(kubeconfig ?? ""), "..", "pki", "service-account.key")));
    const signature = sign("sha256", Buffer.from(body), alg.startsWith("ES") ? { key, dsaEncoding: "ieee-p1363" } : key);
    return `${body}.${signature.toString("base64url")}`;
  }
});
