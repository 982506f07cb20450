import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { aToken } from "../../store/testing/builders.ts";
import { tokenHash } from "../auth.ts";
import { idleDeps, type Served, serveApi } from "../testing/served.ts";

const DAY_MS = 24 * 3_600_000;
const WAIT = { timeout: 30_000, interval: 20 };
const signal = AbortSignal.timeout(60_000);

describe("tokens by REST", () => {
  let served: Served;
  beforeEach(async () => {
    served = await serveApi();
  });
  afterEach(() => served.close());

  const make = (body: Readonly<Record<string, unknown>>, role: "viewer" | "operator" | "approver" = "approver") =>
    served.call("POST", "/v1/tokens", { role, body });
  const statusWith = async (token: unknown): Promise<number> =>
    (await fetch(`${served.url}/v1/instances`, { headers: { authorization: `Bearer ${String(token)}` } })).status;
  const listed = async (name: string) => {
    const { items } = (await served.call("GET", "/v1/tokens", { role: "viewer" })).body as {
      readonly items: readonly Record<string, unknown>[];
    };
    return items.find((item) => item["name"] === name);
  };
  const journal = async () =>
    (await served.store.decisions.list({ subject: "token/ci" }, 10, signal)).map(({ verdict, details }) => [verdict, details.actor]);

  it("are made by an approver, shown once, and end after 90 days", async () => {
    const made = await make({ name: "ci", role: "viewer" });
    expect(made).toMatchObject({ status: 201, body: { name: "ci", role: "viewer", owner: "anna", createdBy: "anna", state: "active" } });
    const { token, expiresAt, createdAt } = made.body;
    expect(token).toMatch(/^argosy_[\w-]{43}$/);
    expect(Date.parse(String(expiresAt)) - Date.parse(String(createdAt))).toBe(90 * DAY_MS);
    expect(await statusWith(token)).toBe(200);
    const text = JSON.stringify([await listed("ci"), await journal(), await served.call("GET", "/v1/decisions?subject=token%2Fci")]);
    expect(text).not.toContain(token);
    expect(text).not.toContain(tokenHash(String(token)));
    expect(await journal()).toEqual([["TOKEN_CREATED", "anna"]]);
  });

  it("end when that was asked for, or never if that was said", async () => {
    const { body: short } = await make({ name: "short", role: "viewer", expiresInSeconds: 3600, owner: "night shift" });
    expect(Date.parse(String(short["expiresAt"])) - Date.parse(String(short["createdAt"]))).toBe(3_600_000);
    expect(await listed("short")).toMatchObject({ owner: "night shift", createdBy: "anna" });
    expect((await make({ name: "endless", role: "viewer", expiresInSeconds: null })).body).toMatchObject({ expiresAt: null });
  });

  it.each([
    [{ name: "Not a name", role: "viewer" }],
    [{ name: "ci", role: "root" }],
    [{ name: "ci", role: "viewer", expiresInSeconds: 0 }],
    [{ name: "ci", role: "viewer", expiresInSeconds: 1e12 }],
    [{ name: "ci", role: "viewer", owner: " " }],
    [{ name: "ci", role: "viewer", scope: { classes: [] } }],
    [{ name: "ci", role: "viewer", scope: { workspaces: ["team-*-eu"] } }],
    [{ name: "ci", role: "viewer", scope: { classes: ["eu"] } }],
    [{ name: "ci", role: "viewer", scope: { pools: ["standard"] } }],
    [{ name: "ci", role: "viewer", token: "argosy_of_my_own_choice" }],
  ])("are refused for %j", async (body) => {
    expect(await make(body)).toMatchObject({ status: 400, body: { code: "api.invalid-request" } });
    expect(await listed("ci")).toBeUndefined();
  });

  it("are limited as was asked for, and a limited approver makes, lists and revokes none", async () => {
    const scope = { workspaces: ["team-*"] };
    const { body } = await make({ name: "narrow", role: "approver", scope });
    expect(body).toMatchObject({ scope: { classes: null, workspaces: ["team-*"] } });
    expect(await listed("narrow")).toMatchObject({ scope: { workspaces: ["team-*"] } });
    const asNarrow = async (method: string, path: string, asked?: unknown) => {
      const headers = {
        authorization: `Bearer ${String(body["token"])}`,
        ...(asked === undefined ? {} : { "content-type": "application/json" }),
      };
      const response = await fetch(`${served.url}${path}`, {
        method,
        headers,
        ...(asked === undefined ? {} : { body: JSON.stringify(asked) }),
      });
      return [response.status, ((await response.json()) as { readonly code?: string }).code];
    };
    expect(await asNarrow("GET", "/v1/whoami")).toEqual([200, undefined]);
    const outside = [403, "api.scope"];
    expect(await asNarrow("POST", "/v1/tokens", { name: "wide", role: "approver" })).toEqual(outside);
    expect(await asNarrow("POST", "/v1/tokens", { name: "wide", role: "viewer", scope })).toEqual(outside);
    expect(await asNarrow("DELETE", "/v1/tokens/anna")).toEqual(outside);
    expect(await asNarrow("GET", "/v1/tokens")).toEqual(outside);
    expect(await asNarrow("GET", "/v1/audit")).toEqual(outside);
    expect(await listed("wide")).toBeUndefined();
    expect((await make({ name: "ci", role: "viewer", scope: {} })).body).toMatchObject({ code: "cli.token-scope" });
  });

  it.each(["viewer", "operator"] as const)("refuse a %s who would make a token for himself, or take another's away", async (role) => {
    expect(await make({ name: "ci", role: "viewer" }, role)).toMatchObject({ status: 403, body: { code: "api.role" } });
    expect(await served.call("DELETE", "/v1/tokens/anna", { role })).toMatchObject({ status: 403 });
    expect(await listed("ci")).toBeUndefined();
    expect(await listed("anna")).toMatchObject({ state: "active" });
  });

  it("are refused from now on when they are revoked, which is told apart from one that is not there", async () => {
    const { body } = await make({ name: "ci", role: "operator" });
    expect(await served.call("DELETE", "/v1/tokens/ci", { role: "approver" })).toEqual({ status: 200, body: { name: "ci" } });
    await vi.waitFor(async () => expect(await statusWith(body["token"])).toBe(401), WAIT);
    expect(await listed("ci")).toMatchObject({ state: "revoked", revokedAt: expect.any(String) });
    const again = await served.call("DELETE", "/v1/tokens/ci", { role: "approver" });
    expect(again).toMatchObject({ status: 404, body: { code: "api.no-such-token" } });
    expect(await journal()).toEqual([
      ["TOKEN_REVOKED", "anna"],
      ["TOKEN_CREATED", "anna"],
    ]);
  });

  it("say soon after a request that they were used", async () => {
    expect(await listed("otto")).toMatchObject({ lastUsedAt: null });
    await served.call("GET", "/v1/instances", { role: "operator" });
    await vi.waitFor(async () => expect(await listed("otto")).toMatchObject({ lastUsedAt: expect.any(String) }), WAIT);
  });

  it("that have ended are refused as unknown ones are", async () => {
    await served.store.tokens.put(aToken({ name: "late", hash: tokenHash("argosy_late_0123456789"), lifetimeMs: -1 }), undefined, signal);
    expect(await statusWith("argosy_late_0123456789")).toBe(401);
    expect(await listed("late")).toMatchObject({ state: "expired" });
  });
});

describe("limits of requests", () => {
  let served: Served;
  afterEach(() => served.close());
  it("count a token that no issuer knows against its address, and ask nobody about the next one", async () => {
    let asked = 0;
    const refused = { kind: "refused", status: 401, code: "api.token-refused", detail: "no" } as const;
    const recognise = async (_authorization: string | undefined, mayAsk = () => true) => {
      if (mayAsk()) asked += 1;
      return refused;
    };
    const requestRates = { reads: 1_000, writes: 1_000, unknown: 0.1 };
    served = await serveApi((store) => ({ ...idleDeps(store), requestRates, identities: { recognise } }));
    expect(await served.call("GET", "/v1/instances")).toMatchObject({ status: 401, body: { code: "api.token-refused" } });
    expect(await served.call("GET", "/v1/instances")).toMatchObject({ status: 429 });
    expect(asked).toBe(1);
  });
  const limited = async (rates: Partial<{ reads: number; writes: number; unknown: number }>) => {
    served = await serveApi((store) => ({ ...idleDeps(store), requestRates: { reads: 1_000, writes: 1_000, unknown: 1_000, ...rates } }));
  };
  const ask = (path: string, token?: string, method = "GET") =>
    fetch(`${served.url}${path}`, { method, ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }) });
  const statuses = async (count: number, send: () => Promise<Response>): Promise<readonly number[]> => {
    const found = new Set<number>();
    for (let sent = 0; sent < count; sent += 1) found.add((await send()).status);
    return [...found];
  };

  it("refuse one caller's reads with when to try again, and neither its writes nor anybody else", async () => {
    await limited({ reads: 1 });
    const [otto, vera] = [served.token("operator"), served.token("viewer")];
    expect(await statuses(20, () => ask("/v1/freezes", otto))).toEqual([200, 429]);
    const refused = await ask("/v1/freezes", otto);
    expect(refused.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect(refused.headers.get("content-type")).toContain("application/problem+json");
    expect(await refused.json()).toMatchObject({
      status: 429,
      code: "api.too-many-requests",
      detail: expect.stringContaining("try again in"),
    });
    expect((await ask("/v1/freezes/none", otto, "DELETE")).status).toBe(404);
    expect((await ask("/v1/freezes", vera)).status).toBe(200);
  });

  it("refuse one caller's writes", async () => {
    await limited({ writes: 1 });
    expect(await statuses(20, () => ask("/v1/freezes/none", served.token("operator"), "DELETE"))).toEqual([404, 429]);
    expect((await ask("/v1/freezes", served.token("operator"))).status).toBe(200);
  });

  it("refuse whoever guesses tokens, tries paths or reads the description too often, and not the probes or those who have a token", async () => {
    await limited({ unknown: 1 });
    expect(await statuses(20, () => ask("/v1/freezes", `argosy_guess_${Math.random()}_0123456789`))).toEqual([401, 429]);
    for (const path of ["/v1/freezes", "/nowhere", "/openapi.json", "/v1/version"])
      expect(await statuses(30, () => ask(path))).toContain(429);
    expect(await statuses(20, () => ask("/healthz"))).toEqual([200]);
    expect(await statuses(20, () => ask("/readyz"))).toEqual([200]);
    expect((await ask("/v1/freezes", served.token("viewer"))).status).toBe(200);
  });
});
