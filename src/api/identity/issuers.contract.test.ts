import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parseConfig } from "../../config.ts";
import { type Clock, millis } from "../../domain/clock.ts";
import { makeIdentities } from "../../main/identities.ts";
import { systemClock } from "../../runtime/clock.ts";
import { anAuthority, aServerCertificate } from "../../runtime/testing/certificates.ts";
import { silentLog } from "../../telemetry/log.ts";
import type { SignRequest } from "../testing/issuer/commands.ts";
import { freePort, type IssuerProcess, startIssuer } from "../testing/issuer/start-issuer.ts";
import { idleDeps, type Served, serveApi } from "../testing/served.ts";
import type { Identities } from "./port.ts";

const NOWHERE = { request: () => Promise.reject(new Error("nobody asks the API cluster here")) };
const ROLES = [
  { role: "operator", groups: ["sre"] },
  { role: "approver", names: ["root"] },
  { role: "operator", groups: ["team"], workspaces: ["team-*"] },
];

/** The machine's clock, and more; durations stand still but for what a test lets pass. */
function aClock(): Clock & { pass(ms: number): void } {
  let passedMs = 0;
  return {
    now: () => millis(systemClock.now() + passedMs),
    monotonicMs: () => passedMs,
    after: systemClock.after,
    pass(ms) {
      passedMs += ms;
    },
  };
}

const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.stop();
});
const opened = <T extends { stop(): Promise<void> }>(one: T): T => {
  open.push(one);
  return one;
};

/** One of each for all tests: processes take seconds to start. `evil` is nobody's issuer, unless a test says otherwise. */
let issuer: IssuerProcess;
let evil: IssuerProcess;
let served: Served;
let identities: Identities = { recognise: async () => ({ kind: "other" }) };
beforeAll(async () => {
  [issuer, evil, served] = await Promise.all([
    startIssuer(),
    startIssuer(),
    serveApi((store) => ({ ...idleDeps(store), identities: { recognise: (authorization) => identities.recognise(authorization) } })),
  ]);
});
afterAll(() => Promise.all([issuer?.stop(), evil?.stop(), served?.close()]));
beforeEach(async () => {
  await Promise.all([issuer.tell({ do: "forget" }), evil.tell({ do: "forget" })]);
});

/** From now on the API accepts tokens of the issuers at these URLs, `corp` and others, of which it knows nothing yet. */
function anApi(url: string, settings: object = {}, others: readonly object[] = []) {
  const clock = aClock();
  const document = { authentication: { issuers: [{ alias: "corp", issuer: url, roles: ROLES, ...settings }, ...others] } };
  const parsed = parseConfig(document, {});
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.complaints));
  identities = makeIdentities({ config: parsed.config, clock, log: silentLog, apiCluster: NOWHERE });
  return {
    clock,
    async whoami(token: string) {
      const response = await fetch(`${served.url}/v1/whoami`, { headers: { authorization: `Bearer ${token}` } });
      return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> };
    },
  };
}

const nowS = (): number => Math.floor(Date.now() / 1000);
const refusedAs = (status: number, code: string, detail: RegExp | string = "") => ({
  status,
  body: { code, detail: expect.stringMatching(detail) },
});

describe("a token of an issuer", () => {
  const claims = (more: Readonly<Record<string, unknown>> = {}) => ({
    ...{ iss: issuer.url, aud: "argosy", sub: "alice", groups: ["sre"], iat: nowS(), exp: nowS() + 600 },
    ...more,
  });
  const signed = (more: Readonly<Record<string, unknown>> = {}, request: Partial<SignRequest> = {}): Promise<string> =>
    issuer.sign({ key: "one", claims: claims(more), ...request });

  it("says who the caller is, with the role of its groups", async () => {
    const api = anApi(issuer.url);
    const exp = nowS() + 600;
    expect(await api.whoami(await signed({ exp }))).toEqual({
      status: 200,
      body: {
        ...{ actor: "oidc:corp:alice", way: "oidc", role: "operator" },
        grants: [{ role: "operator", classes: null, workspaces: null }],
        until: new Date(exp * 1000).toISOString().replace(".000", ""),
      },
    });
  });

  it("has the highest role of those that its name and groups are given, and each where it is given", async () => {
    const api = anApi(issuer.url);
    expect((await api.whoami(await signed({ sub: "root", groups: ["team"] }))).body).toMatchObject({
      role: "approver",
      grants: [{ role: "approver" }],
    });
    const limited = { role: "operator", classes: null, workspaces: ["team-*"] };
    expect((await api.whoami(await signed({ groups: "team" }))).body).toMatchObject({ role: "operator", grants: [limited] });
  });

  it("is in the journal by what it proved", async () => {
    anApi(issuer.url);
    const response = await fetch(`${served.url}/v1/freezes/launch`, {
      method: "PUT",
      headers: { authorization: `Bearer ${await signed()}`, "content-type": "application/json" },
      body: JSON.stringify({ seconds: 600, reason: "launch" }),
    });
    expect(await response.json()).toMatchObject({ actor: "oidc:corp:alice" });
  });

  it("without a role is refused with the groups that it names, and nothing of what would do", async () => {
    const api = anApi(issuer.url);
    const { body } = await api.whoami(await signed({ groups: ["guests", "evil\u202egroup"] }));
    expect(body).toMatchObject({
      status: 403,
      code: "api.no-role",
      detail: expect.stringContaining("oidc:corp:alice is known and has no role"),
    });
    expect(body["detail"]).toContain("guests, evil�group");
    expect(body["detail"]).not.toMatch(/sre|team|root/);
  });

  it("takes name and groups from the claims that are configured", async () => {
    const api = anApi(issuer.url, { nameClaim: "email", groupsClaim: ["realm_access", "roles"] });
    const token = await signed({ email: "alice@example.org", groups: [], realm_access: { roles: ["sre"] } });
    expect((await api.whoami(token)).body).toMatchObject({ actor: "oidc:corp:alice@example.org", role: "operator" });
    for (const email of [undefined, "", 7, "two\nlines", "x".repeat(201), ["alice"]])
      expect(await api.whoami(await signed({ email, realm_access: { roles: ["sre"] } }))).toMatchObject(
        refusedAs(401, "api.token-refused", /claim email is no name/),
      );
  });

  const now = nowS();
  const WRONG: Readonly<Record<string, readonly [Readonly<Record<string, unknown>>, RegExp]>> = {
    expired: [{ exp: now - 31 }, /has expired/],
    "without an expiry": [{ exp: undefined }, /when it expires/],
    "not valid yet": [{ nbf: now + 90 }, /not valid yet/],
    "for somebody else": [{ aud: "jenkins" }, /not for argosy/],
    "for nobody": [{ aud: undefined }, /not for argosy/],
  };
  it.each(Object.keys(WRONG))("is refused: one %s", async (what) => {
    const [more, detail] = WRONG[what] ?? [{}, /x/];
    const api = anApi(issuer.url);
    expect(await api.whoami(await signed(more))).toMatchObject(refusedAs(401, "api.token-refused", detail));
  });

  it("may come from a clock that is off by as much as is configured, and no more, both ways", async () => {
    const api = anApi(issuer.url, { clockSkewMs: 60_000 });
    const status = async (more: object): Promise<number> => (await api.whoami(await signed({ ...more }))).status;
    expect(await status({ exp: nowS() - 40 })).toBe(200);
    expect(await status({ exp: nowS() - 70 })).toBe(401);
    expect(await status({ nbf: nowS() + 40 })).toBe(200);
    expect(await status({ nbf: nowS() + 90 })).toBe(401);
    const strict = anApi(issuer.url, { clockSkewMs: 0 });
    expect((await strict.whoami(await signed({ exp: nowS() - 5 }))).status).toBe(401);
  });

  it("is refused once it has expired, also while it is remembered", async () => {
    const api = anApi(issuer.url, { clockSkewMs: 0 });
    const token = await signed({ exp: nowS() + 30 });
    expect((await api.whoami(token)).status).toBe(200);
    api.clock.pass(31_000);
    expect(await api.whoami(token)).toMatchObject(refusedAs(401, "api.token-refused", /has expired/));
  });

  it("is refused: an attacker's, of an issuer that nobody configured, which is never contacted", async () => {
    const api = anApi(issuer.url);
    const token = await evil.sign({ key: "one", claims: claims({ iss: evil.url }) });
    expect(await api.whoami(token)).toMatchObject(refusedAs(401, "api.unknown-issuer"));
    expect(await evil.reads()).toEqual({ discovery: 0, keys: 0 });
    expect(await issuer.reads()).toEqual({ discovery: 0, keys: 0 });
  });

  it("is refused: one that an attacker signed with a key of the same name", async () => {
    const api = anApi(issuer.url);
    const token = await evil.sign({ key: "one", claims: claims() });
    expect(await api.whoami(token)).toMatchObject(refusedAs(401, "api.token-refused", /signature/));
  });

  it("is refused: one without a signature (alg none)", async () => {
    const api = anApi(issuer.url);
    expect((await api.whoami(await signed())).status).toBe(200);
    const token = await signed({}, { as: "none" });
    expect(token.endsWith(".")).toBe(true);
    expect(await api.whoami(token)).toMatchObject(refusedAs(401, "api.token-refused", /not accepted/));
  });

  it("is refused: one with the public key as the secret (HS256)", async () => {
    const api = anApi(issuer.url);
    expect(await api.whoami(await signed({}, { as: "hs256-with-the-public-key" }))).toMatchObject(refusedAs(401, "api.token-refused"));
  });

  it("is refused: one signed in a way that is not among the configured ones", async () => {
    const api = anApi(issuer.url, { algorithms: ["RS256"] });
    expect(await api.whoami(await signed())).toMatchObject(refusedAs(401, "api.token-refused", /not accepted/));
  });

  it("is refused: one whose claims were exchanged under a good signature", async () => {
    const api = anApi(issuer.url);
    const [head, , signature] = (await signed()).split(".");
    const body = Buffer.from(JSON.stringify(claims({ sub: "root" }))).toString("base64url");
    expect(await api.whoami(`${head}.${body}.${signature}`)).toMatchObject(refusedAs(401, "api.token-refused", /signature/));
  });

  it("is refused: one that brings its own key, or names where to fetch one (jwk, jku, x5u)", async () => {
    const api = anApi(issuer.url);
    const header = { jwk: { kty: "EC", crv: "P-256", x: "AA", y: "AA" }, jku: `${evil.url}/keys`, x5u: `${evil.url}/keys` };
    const token = await evil.sign({ key: "one", claims: claims(), header });
    expect(await api.whoami(token)).toMatchObject(refusedAs(401, "api.token-refused"));
    expect(await evil.reads()).toEqual({ discovery: 0, keys: 0 });
  });

  it("counts as soon as its key is published, and is refused as soon as that is revoked, within the time keys are read again in", async () => {
    const api = anApi(issuer.url);
    const first = await signed();
    expect((await api.whoami(first)).status).toBe(200);
    await issuer.tell({ do: "add-key", kid: "two", alg: "RS256" });
    const second = await signed({}, { key: "two" });
    expect((await api.whoami(second)).status).toBe(401);
    await issuer.tell({ do: "publish", kids: ["one", "two"] });
    api.clock.pass(10_001);
    expect((await api.whoami(second)).status).toBe(200);
    expect((await api.whoami(first)).status).toBe(200);
    await issuer.tell({ do: "publish", kids: ["two"] });
    api.clock.pass(600_001);
    // The tokens are good for ten minutes: new ones, by the old key and by the new.
    const later = { exp: nowS() + 1200 };
    expect((await api.whoami(await signed(later))).status).toBe(401);
    expect((await api.whoami(await signed(later, { key: "two" }))).status).toBe(200);
  });

  it("is not believed because it was before, when its key has been revoked", async () => {
    const api = anApi(issuer.url);
    const token = await signed({ exp: nowS() + 3600 });
    expect((await api.whoami(token)).status).toBe(200);
    await issuer.tell({ do: "add-key", kid: "two", alg: "ES256" });
    await issuer.tell({ do: "publish", kids: ["two"] });
    api.clock.pass(10_001);
    // It names the new key, whereupon the keys are read again.
    expect((await api.whoami(await signed({}, { key: "two" }))).status).toBe(200);
    expect((await api.whoami(token)).status).toBe(401);
  });

  it("is accepted by keys that were read before while the issuer is away, for as long as is configured", async () => {
    const api = anApi(issuer.url, { keepKeysMs: 3_600_000 });
    const later = { exp: nowS() + 7200 };
    const tokens = await Promise.all([1, 2, 3].map((jti) => signed({ ...later, jti })));
    expect((await api.whoami(tokens[0] ?? "")).status).toBe(200);
    await issuer.tell({ do: "behave", as: "failing" });
    api.clock.pass(3_500_000);
    expect((await api.whoami(tokens[1] ?? "")).status).toBe(200);
    api.clock.pass(200_000);
    expect(await api.whoami(tokens[2] ?? "")).toMatchObject(refusedAs(503, "api.identity-away"));
    // Who has a token of the table gets in.
    expect((await served.call("GET", "/v1/whoami")).status).toBe(200);
  });

  it("waits for an issuer that is away when Argosy starts, and is accepted once it is there", async () => {
    const port = await freePort();
    const api = anApi(`http://127.0.0.1:${port}`);
    const token = (late: IssuerProcess) => late.sign({ key: "one", claims: claims({ iss: late.url }) });
    const early = await signed({ iss: `http://127.0.0.1:${port}` });
    expect(await api.whoami(early)).toMatchObject(refusedAs(503, "api.identity-away"));
    const late = opened(await startIssuer({ port }));
    api.clock.pass(10_001);
    expect((await api.whoami(await token(late))).status).toBe(200);
  });

  it.each(["failing", "redirecting", "huge", "symmetric", "wrong-issuer", "plain-keys"] as const)(
    "is not accepted by what an issuer says that is %s",
    async (as) => {
      await issuer.tell({ do: "behave", as });
      const api = anApi(issuer.url);
      expect(await api.whoami(await signed())).toMatchObject(refusedAs(503, "api.identity-away"));
      await issuer.tell({ do: "behave", as: "well" });
      api.clock.pass(10_001);
      expect((await api.whoami(await signed())).status).toBe(200);
    },
  );

  it("waits for an issuer that is silent or drips no longer than five seconds, and others not at all", async () => {
    const other = { alias: "other", issuer: evil.url, roles: ROLES };
    const api = anApi(issuer.url, {}, [other]);
    const both = async (more: object): Promise<readonly string[]> =>
      Promise.all([signed({ ...more }), evil.sign({ key: "one", claims: claims({ ...more, iss: evil.url }) })]);
    const statuses = async (tokens: readonly string[]): Promise<readonly number[]> =>
      (await Promise.all(tokens.map((token) => api.whoami(token)))).map(({ status }) => status);
    expect(await statuses(await both({}))).toEqual([200, 200]);
    // Before they fall silent, since they answer the same way then.
    const later = await both({ exp: nowS() + 1800 });
    await Promise.all([issuer.tell({ do: "behave", as: "silent" }), evil.tell({ do: "behave", as: "dripping" })]);
    api.clock.pass(600_001);
    const waiting = statuses(later);
    expect((await served.call("GET", "/v1/whoami")).status).toBe(200);
    expect(await waiting).toEqual([200, 200]);
  });

  it("does not follow a flood of wrong ones: the issuer is read once, and who was known stays so", async () => {
    const api = anApi(issuer.url);
    const good = await signed();
    expect((await api.whoami(good)).status).toBe(200);
    const [head = "", body = ""] = good.split(".");
    const wrong = (index: number): string => Buffer.from(String(index).padStart(64, "x")).toString("base64url");
    const answers = await Promise.all(Array.from({ length: 300 }, (_, index) => api.whoami(`${head}.${body}.${wrong(index)}`)));
    expect(new Set(answers.map((answer) => answer.body["code"]))).toEqual(new Set(["api.token-refused", "api.identity-busy"]));
    expect(await issuer.reads()).toEqual({ discovery: 1, keys: 1 });
    expect((await api.whoami(good)).status).toBe(200);
  });

  it("makes the issuer be read once in ten seconds, however many keys are named that nobody knows", async () => {
    const api = anApi(issuer.url);
    expect((await api.whoami(await signed())).status).toBe(200);
    api.clock.pass(10_001);
    const [, body = "", signature = ""] = (await signed()).split(".");
    const answers = Array.from({ length: 200 }, (_, index) => {
      const head = Buffer.from(JSON.stringify({ alg: "ES256", kid: `k${index}` })).toString("base64url");
      return api.whoami(`${head}.${body}.${signature}`);
    });
    for (const { status } of await Promise.all(answers)) expect(status).toBe(401);
    expect(await issuer.reads()).toEqual({ discovery: 2, keys: 2 });
  });
});

it("is read over HTTPS by the configured authority alone", async () => {
  const directory = mkdtempSync(join(tmpdir(), "argosy-issuer-"));
  opened({ stop: async () => rmSync(directory, { recursive: true }) });
  const authority = anAuthority();
  const pair = aServerCertificate(["127.0.0.1"], authority);
  const at = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  const [certFile, keyFile] = [at("tls.crt", pair.cert), at("tls.key", pair.key)];
  const secure = opened(await startIssuer({ certificate: { certFile, keyFile, authority: authority.cert } }));
  const token = await secure.sign({
    key: "one",
    claims: { iss: secure.url, aud: "argosy", sub: "alice", groups: ["sre"], exp: nowS() + 60 },
  });
  const trusting = anApi(secure.url, { certificateAuthority: authority.cert });
  expect((await trusting.whoami(token)).status).toBe(200);
  for (const settings of [{}, { certificateAuthority: anAuthority("another").cert }]) {
    const api = anApi(secure.url, settings);
    expect(await api.whoami(token)).toMatchObject(refusedAs(503, "api.identity-away"));
  }
});
