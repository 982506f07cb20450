import { describe, expect, it } from "vitest";
import { type Millis, millis } from "../../domain/clock.ts";
import { UnavailableError } from "../../domain/errors.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { silentLog } from "../../telemetry/log.ts";
import type { ClusterIdentities, Identity, Issuer, KeySet, NotAccepted } from "./port.ts";
import { CHECKS, createIdentities, REFUSED_MS, REVIEWS } from "./recognise.ts";

const ISSUER = "https://login.example";
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
/** Accepted where its signature is `good`. */
const aToken = (signature: string, claims: object = {}, header: object = { alg: "ES256", kid: "one" }): string =>
  `Bearer ${encode(header)}.${encode({ iss: ISSUER, sub: "alice", groups: ["sre"], ...claims })}.${signature}`;

function world({ isAway = false, allows = (): Identity | NotAccepted => ({ name: "system:serviceaccount:ci:builder", groups: [] }) } = {}) {
  const clock = createVirtualClock();
  const counts = { reads: 0, checks: 0, reviews: 0 };
  const aKeySet = (): KeySet => ({
    knows: ({ kid }) => kid === "one",
    async check(token) {
      counts.checks += 1;
      const [, body = "", signature] = token.split(".");
      if (signature !== "good") return { refused: "its signature is wrong", isProven: false };
      return { claims: JSON.parse(Buffer.from(body, "base64url").toString()) as Record<string, unknown> };
    },
  });
  const server = { isAway, keys: aKeySet() };
  const issuer: Issuer = {
    ...{ alias: "corp", issuer: ISSUER, nameClaim: "sub", groupsClaim: ["groups"], keepKeysMs: 3_600_000 },
    mappings: [{ role: "operator", groups: ["sre"], names: [] }],
    documents: {
      async read() {
        counts.reads += 1;
        if (server.isAway) throw new UnavailableError("reading", { code: "api.issuer" });
        return server.keys;
      },
    },
  };
  const cluster: ClusterIdentities = {
    rememberMs: 10_000,
    mappings: [{ role: "viewer", groups: [], names: ["system:serviceaccount:ci:builder", "jane"] }],
    reviews: {
      async review() {
        counts.reviews += 1;
        if (server.isAway) throw new UnavailableError("asking", { code: "kube.unreachable" });
        return allows();
      },
    },
  };
  const identities = createIdentities({ clock, log: silentLog, issuers: [issuer], cluster });
  return { clock, counts, server, aKeySet, ...identities };
}

const OF_CLUSTER = { iss: "https://kubernetes.default.svc" };

describe("who is asked about a token", () => {
  it.each([
    undefined,
    "",
    "Basic YWxpY2U6cHc=",
    "Bearer argosy_0123456789abcdef",
    "Bearer argosy_e30.e30.e30",
    "Bearer a.b",
    "Bearer a.b.c.d",
    "Bearer e30.e30.e30 ",
    `Bearer ${encode([])}.${encode({})}.x`,
    `Bearer ${encode({ alg: "ES256", kid: 7 })}.${encode({})}.x`,
    `Bearer ${"a".repeat(20_000)}.${encode({})}.x`,
  ])("is the table of tokens, where it is no JSON Web Token: %s", async (authorization) => {
    const { recognise, counts } = world();
    expect(await recognise(authorization)).toEqual({ kind: "other" });
    expect(counts).toEqual({ reads: 0, checks: 0, reviews: 0 });
  });

  it("is the issuer that it names, and nobody else", async () => {
    const { recognise, counts } = world();
    expect(await recognise(aToken("good"))).toMatchObject({ kind: "caller", caller: { name: "oidc:corp:alice", role: "operator" } });
    expect(await recognise(aToken("wrong"))).toMatchObject({ kind: "refused", status: 401 });
    expect(counts).toEqual({ reads: 1, checks: 2, reviews: 0 });
  });

  it("is the API cluster for any other issuer", async () => {
    const { recognise, counts } = world();
    const found = await recognise(aToken("any", { ...OF_CLUSTER, exp: 1_800_000_000 }));
    const until: Millis = millis(1_800_000_000_000);
    expect(found).toMatchObject({
      kind: "caller",
      caller: { name: "serviceaccount:ci/builder", way: "kubernetes", role: "viewer", until },
    });
    expect(counts).toEqual({ reads: 0, checks: 0, reviews: 1 });
  });

  it("names a user of the cluster who looks like an account as what it is", async () => {
    const { recognise } = world({ allows: () => ({ name: "jane", groups: [] }) });
    expect(await recognise(aToken("any", OF_CLUSTER))).toMatchObject({ kind: "caller", caller: { name: "kubernetes:jane" } });
  });
});

describe("wrong tokens", () => {
  it("of an issuer, 10,000 of them, cost so many checks as are allowed in the time", async () => {
    const { recognise, counts, clock } = world();
    const answers = await Promise.all(Array.from({ length: 10_000 }, (_, index) => recognise(aToken(`wrong${index}`))));
    expect(counts).toEqual({ reads: 1, checks: CHECKS.atOnce, reviews: 0 });
    expect(answers.filter((one) => one.kind === "refused" && one.code === "api.identity-busy")).toHaveLength(10_000 - CHECKS.atOnce);
    await clock.advance(500);
    await Promise.all(Array.from({ length: 10_000 }, (_, index) => recognise(aToken(`more${index}`))));
    expect(counts.checks).toBe(CHECKS.atOnce + CHECKS.perSecond / 2);
  });

  it("of the cluster, 10,000 of them, cost so many questions as are allowed in the time", async () => {
    const { recognise, counts } = world({ allows: () => ({ refused: "no", isProven: false }) });
    await Promise.all(Array.from({ length: 10_000 }, (_, index) => recognise(aToken(`wrong${index}`, OF_CLUSTER))));
    expect(counts).toEqual({ reads: 0, checks: 0, reviews: REVIEWS.atOnce });
  });

  it.each(["of the issuer", "of the cluster"])(
    "%s from an address that has shown too many cost nothing, and a known one goes on",
    async (whose) => {
      const { recognise, counts } = world();
      const claims = whose === "of the cluster" ? OF_CLUSTER : {};
      await recognise(aToken("good", claims));
      const before = { ...counts };
      expect(await recognise(aToken("more", claims), () => false)).toMatchObject({ kind: "refused", code: "api.identity-busy" });
      expect(await recognise(aToken("good", claims), () => false)).toMatchObject({ kind: "caller" });
      expect(counts).toEqual(before);
    },
  );

  it("the same one again costs nothing for a while, and is checked again then", async () => {
    const { recognise, counts, clock } = world();
    for (let index = 0; index < 10_000; index += 1) await recognise(aToken("wrong"));
    expect(counts.checks).toBe(1);
    await clock.advance(REFUSED_MS);
    await recognise(aToken("wrong"));
    expect(counts.checks).toBe(2);
  });

  it("by keys that nobody knows cost no check, and a read in ten seconds", async () => {
    const { recognise, counts, clock } = world();
    const strange = (index: number) => recognise(aToken("good", {}, { alg: "ES256", kid: `k${index}` }));
    for (let index = 0; index < 10_000; index += 1) expect(await strange(index)).toMatchObject({ kind: "refused", status: 401 });
    expect(counts).toMatchObject({ reads: 1, checks: 0 });
    await clock.advance(10_000);
    for (let index = 0; index < 1_000; index += 1) await strange(index);
    expect(counts).toMatchObject({ reads: 2, checks: 0 });
  });
});

describe("what is known of a token", () => {
  it("is asked once, however many show it at the same time", async () => {
    const { recognise, counts } = world();
    await Promise.all(Array.from({ length: 1_000 }, () => recognise(aToken("good"))));
    await Promise.all(Array.from({ length: 1_000 }, () => recognise(aToken("any", OF_CLUSTER))));
    expect(counts).toEqual({ reads: 1, checks: 1, reviews: 1 });
  });

  it("is forgotten when the issuer has other keys", async () => {
    const { recognise, counts, clock, server, aKeySet } = world();
    await recognise(aToken("good"));
    server.keys = aKeySet();
    await clock.advance(10_000);
    await recognise(aToken("good", {}, { alg: "ES256", kid: "two" }));
    await recognise(aToken("good"));
    expect(counts).toMatchObject({ reads: 2, checks: 2 });
  });

  it("is forgotten when it expires", async () => {
    const { recognise, counts, clock } = world();
    const exp = clock.now() / 1000 + 5;
    await recognise(aToken("good", { exp }));
    await clock.advance(5_000);
    await recognise(aToken("good", { exp }));
    expect(counts.checks).toBe(2);
  });

  it("of the cluster is believed for as long as is configured, and not while it is away", async () => {
    const { recognise, counts, clock, server } = world();
    const token = aToken("any", OF_CLUSTER);
    await recognise(token);
    server.isAway = true;
    await clock.advance(9_999);
    expect(await recognise(token)).toMatchObject({ kind: "caller" });
    await clock.advance(1);
    expect(await recognise(token)).toMatchObject({ kind: "refused", status: 503, code: "api.identity-away" });
    server.isAway = false;
    expect(await recognise(token)).toMatchObject({ kind: "caller" });
    expect(counts.reviews).toBe(3);
  });
});
