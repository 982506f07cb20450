import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseSchedule } from "../domain/cron.ts";
import { planFleet } from "../instance-provisioner/fleet-plan.ts";
import { parseFleetDocument } from "../instance-provisioner/fleet-schema/parse-fleet.ts";
import { renderFleetDocument } from "../instance-provisioner/fleet-schema/render-fleet.ts";
import { systemClock } from "../runtime/clock.ts";
import type { MemoryStore } from "../store/adapters/memory/memory-store.ts";
import { createKeyRing } from "../store/adapters/postgres/credentials/envelope.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import type { Store } from "../store/port.ts";
import { aFleet, aToken } from "../store/testing/builders.ts";
import { createGranted } from "../store/testing/database-logins.ts";
import { startTestServer, type TestServer } from "../store/testing/test-server.ts";
import { createWorld, soon } from "../store/testing/world.ts";
import { TOKEN_ROLES } from "../store/token/port.ts";
import type { Log } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { makeSecret, tokenHash } from "./auth.ts";
import { type Api, createApi } from "./server.ts";
import { createJudge, type RawAnswer } from "./testing/fuzz/judge.ts";
import { type ApiDocument, type Operation, operationsOf, type RawRequest, requestsTo } from "./testing/fuzz/requests.ts";
import { createSender } from "./testing/fuzz/send.ts";
import { planningDeps } from "./testing/planning-deps.ts";

const REQUESTS = process.env["ARGOSY_LONG"] === undefined ? 2_000 : 20_000;
const SEED = Number(process.env["ARGOSY_FUZZ_SEED"] ?? 20_261_126);
const AT_ONCE = 8;
const GENEROUS = 60 * 60_000;

let server: TestServer;
let store: Store;
let api: Api;
let url: string;
let document: ApiDocument;
let known: readonly string[];
const tokens = TOKEN_ROLES.map((role) => ({ role, secret: makeSecret() }));
const secrets = tokens.flatMap(({ secret }) => [secret, tokenHash(secret)]);
const logged: string[] = [];
const write = (fields: unknown, message: string): void =>
  void logged.push(`${message} ${JSON.stringify(fields, (_, value: unknown) => (value instanceof Error ? String(value.stack) : value))}`);
const log: Log = { debug: write, info: write, warn: write, error: write, child: () => log };

beforeAll(async () => {
  server = await startTestServer();
  // As an installation has it that gives its processes logins of their own: a right that the REST API does not have is a 500 here.
  const { owner, logins } = await createGranted(server);
  const keyRing = createKeyRing("first", new Map([["first", new Uint8Array(32).fill(7)]]));
  const parts = { keyRing, clock: systemClock, log, metrics: noMetrics, poolSize: 8 };
  const filled = await createPostgresStore({ url: owner, ...parts });
  known = await fillStore(filled);
  await filled.close();
  store = await createPostgresStore({ url: logins.api, roles: ["api"], ...parts });
  for (const { role, secret } of tokens)
    await store.tokens.put(aToken({ name: `fuzz-${role}`, role, hash: tokenHash(secret) }), undefined, soon());
  api = await createApi({
    ...planningDeps(store as MemoryStore),
    log,
    parseFleet: parseFleetDocument,
    renderFleet: (spec) => ({ ...renderFleetDocument(spec) }),
    planFleet,
    isSchedule: (text) => parseSchedule(text) !== undefined,
    requestRates: { reads: 1e6, writes: 1e6, unknown: 1e6 },
  });
  url = await api.listen({ host: "127.0.0.1", port: 0 });
  document = (await api.document()) as ApiDocument;
});
afterAll(async () => {
  await api.close();
  await store.close();
  await server.stop();
});

/** A fleet with something of everything; returns names and ids that requests may use. */
async function fillStore(filled: Store): Promise<readonly string[]> {
  const world = createWorld(filled);
  await filled.fleet.applyFleet(aFleet(), "anna", soon());
  const deployed = await world.deploy();
  const other = await world.addInstance();
  await filled.tokens.put(aToken({ name: "ci" }), undefined, soon());
  const instances = await filled.fleet.listInstances(soon());
  return [
    ...["team", "ci", "standard", "weekend", "3.5.7", deployed.unitId, deployed.workspaceId, deployed.applicationId, other.id],
    ...instances.flatMap(({ id, name, pool }) => [id, name, pool, id.slice(0, 8)]),
  ];
}

describe("whatever is sent to the REST API", () => {
  it(`is answered as its document says, or refused with a problem that gives nothing away (${REQUESTS} requests, seed ${SEED})`, {
    timeout: GENEROUS,
  }, async () => {
    const judge = createJudge(document, secrets);
    const sender = createSender(url);
    const requests = fc.sample(requestsTo(operationsOf(document), { known, tokens: tokens.map(({ secret }) => secret) }), {
      ...{ numRuns: REQUESTS, seed: SEED },
    });
    const complaints = new Map<string, string>();
    const statuses = new Map<number, number>();
    const next = requests.values();
    const work = async (): Promise<void> => {
      for (const each of next) {
        const answer = await sender.send(each);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        for (const complaint of judge.complaints(each, answer)) {
          const about = `${each.operation.method} ${each.operation.path}: ${complaint}`;
          if (!complaints.has(about)) complaints.set(about, `${shown(each)}\n    ${answer.text.slice(0, 300)}`);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    sender.close();
    expect([...complaints].map(([about, example]) => `${about}\n    ${example}`).join("\n")).toBe("");
    expect(logged.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
    expect(logged.filter((line) => line.includes("permission denied"))).toEqual([]);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    // Requests that are all refused would show nothing.
    for (const status of [200, 400, 401, 403, 404, 422]) expect(statuses.get(status) ?? 0).toBeGreaterThan(REQUESTS / 200);
    process.stdout.write(
      `fuzz: ${[...statuses]
        .toSorted(([a], [b]) => a - b)
        .map(([status, count]) => `${status}: ${count}`)
        .join(", ")}\n`,
    );
  });

  it.each([
    ["no HTTP at all", "\x16\x03\x01\x02\x00\x01\x00"],
    ["a request line that never ends", `GET /${"a".repeat(100_000)} HTTP/1.1\r\n\r\n`],
    ["headers without end", `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${"x".repeat(100_000)}\r\n\r\n`],
    ["two lengths", "POST /v1/plans HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx"],
    ["a length and chunks", "POST /v1/plans HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["a method nobody knows", "FETCH / HTTP/1.1\r\nhost: x\r\n\r\n"],
    ["a NUL in the path", "GET /v1/\0 HTTP/1.1\r\nhost: x\r\n\r\n"],
  ])("gets a problem for an answer where it is %s", async (_what, bytes) => {
    const sender = createSender(url);
    const text = await sender.sendBytes(bytes);
    sender.close();
    const [head = "", body = ""] = text.split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(head.toLowerCase()).toContain("content-type: application/problem+json");
    expect(JSON.parse(body)).toMatchObject({
      status: expect.any(Number),
      code: expect.stringMatching(/^api\./),
      title: expect.any(String),
    });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

describe("the judge of these answers", () => {
  const operation: Operation = {
    ...{ method: "GET", path: "/v1/things", parameters: [], body: undefined },
    answers: { "200": { type: "object", properties: { a: { type: "string" } }, required: ["a"] } },
  };
  const asked: RawRequest = { operation, method: "GET", target: "/v1/things?x=%2Fsrc%2Fmain", headers: {}, body: undefined };
  const judge = createJudge({ paths: {}, components: { schemas: {} } }, ["argosy_secret"]);
  const problemOf = (detail: string, status = 404): RawAnswer => ({
    ...{ status, contentType: "application/problem+json; charset=utf-8" },
    text: JSON.stringify({ type: "urn:x", title: "t", status: 404, code: "api.x", detail }),
  });
  const said = (status: number, text: string, contentType = "application/json"): RawAnswer => ({ status, contentType, text });

  it.each<readonly [string, RawAnswer, string | undefined]>([
    ["a good answer", said(200, '{"a":"b"}'), undefined],
    ["a problem", problemOf("there is no such thing"), undefined],
    ["what the request itself said", problemOf("/src/main is not there"), undefined],
    ["a failure", said(500, "{}"), "answers 500"],
    ["a 503 that nobody declared", said(503, "{}"), "answers 503"],
    ["an answer that is not declared", said(200, '{"a":1}'), "answers what is not declared"],
    ["a refusal that is no problem", said(404, "{}"), "refuses with application/json"],
    ["a problem of another status", problemOf("x", 400), "says 404 in the problem and 400 on the line"],
    ["a token", problemOf("argosy_secret is wrong"), "gives away a secret"],
    ["a stack", problemOf("x\n    at run (file:///srv/argosy/main.js:1:1)"), "gives away a stack trace"],
    ["a file", problemOf("/opt/node_modules/fastify/lib/x.js"), "gives away a path of the source"],
    ["a statement", problemOf("select name, hash from api_token"), "gives away a statement of the database"],
  ])("says of %s what is wrong about it", (_what, answer, complaint) => {
    const found = judge.complaints(asked, answer).join("; ");
    if (complaint === undefined) expect(found).toBe("");
    else expect(found).toContain(complaint);
  });
});

function shown({ method, target, headers, body }: RawRequest): string {
  return `${method} ${target.slice(0, 300)} ${headers["content-type"] ?? ""} ${String(body ?? "").slice(0, 300)}`;
}
