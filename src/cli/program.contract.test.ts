import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tokenHash } from "../api/auth.ts";
import { type Api, createApi } from "../api/server.ts";
import { idleDeps } from "../api/testing/served.ts";
import { UnavailableError } from "../domain/errors.ts";
import type { FleetSpec } from "../domain/fleet.ts";
import { systemClock } from "../runtime/clock.ts";
import { createMemoryStore, type MemoryStore } from "../store/adapters/memory/memory-store.ts";
import type { Store } from "../store/port.ts";
import { aDecision, anInstance, aToken } from "../store/testing/builders.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { runCommand } from "./testing/run-command.ts";

const TOKEN = "argosy_operator_0123456789";
const SPEC = {
  engineClusters: [],
  pools: [{ name: "standard", instances: { min: 1, max: 2 }, capacity: { applications: 5_000, gitPerMinute: 1_000 } }],
  versions: { catalogue: [] },
  workspaces: { selector: { a: "b" } },
  deployments: { allowedGroups: [] },
} as unknown as FleetSpec;

describe("the command line against a server", () => {
  const directory = mkdtempSync(join(tmpdir(), "argosy-cli-"));
  const signal = AbortSignal.timeout(60_000);
  let store: Store;
  let api: Api;
  let url: string;
  let isDatabaseAway = false;
  let ok = true;
  let remark: string | undefined;
  beforeAll(async () => {
    store = createMemoryStore({ clock: systemClock });
    await store.tokens.put(aToken({ name: "otto", role: "operator", hash: tokenHash(TOKEN) }), undefined, signal);
    const tokens: Store["tokens"] = {
      ...store.tokens,
      readHashes: (abort) =>
        isDatabaseAway
          ? Promise.reject(new UnavailableError("looking for a token", { code: "store.unavailable" }))
          : store.tokens.readHashes(abort),
    };
    api = await createApi({
      ...idleDeps(store as MemoryStore),
      ...{ store: { ...store, tokens }, log: silentLog, metrics: noMetrics, clock: systemClock, version: "1.2.3" },
      parseFleet: (document) =>
        (document as { readonly kind?: string }).kind === "Fleet"
          ? { ok: true, spec: SPEC, saysGroups: true }
          : {
              ok: false,
              complaints: [
                { path: "kind", message: "is missing", remedy: "Give kind: Fleet" },
                { path: "pools", message: "is missing", remedy: "Give at least one pool" },
              ],
            },
      planFleet: ({ pruned }) => pruned.map((pool) => ({ instance: `${pool}-1`, pool, change: "retired", units: 0, reason: "gone" })),
      readUsage: async (rows) => new Map(rows.map(({ id }) => [id, { clusterEntries: 3, controllerMemoryBytes: 300 * 2 ** 20 }])),
      isSchedule: (text) => text.split(" ").length === 5,
      explain: () => ["because"],
      doctor: async () => [
        {
          name: "pool standard",
          ok,
          detail: "1 ACTIVE of 1 to 2 instances",
          remedy: "See why",
          ...(remark === undefined ? {} : { remark }),
        },
      ],
      metricsText: async () => ({ contentType: "text/plain", text: "" }),
      readiness: async () => ({ ok: false, checks: [{ name: "database", ok: false, detail: "does not answer" }] }),
    });
    url = await api.listen({ host: "127.0.0.1", port: 0 });
  });
  afterAll(async () => {
    await api.close();
    await store.close();
    rmSync(directory, { recursive: true });
  });

  const run = (args: readonly string[], env: Readonly<Record<string, string>> = { ARGOSY_URL: url, ARGOSY_TOKEN: TOKEN }) =>
    runCommand(args, { ARGOSY_STATE: directory, ...env });

  it("lists nothing with a head, and says so beside it", async () => {
    expect(await run(["get", "apps", "shop", "-n", "anna"])).toEqual({
      out: "NAMESPACE  NAME  INSTANCE  SYNC  HEALTH  REVISION",
      err: "there are no applications named shop of workspace anna",
      code: 0,
    });
    expect(await run(["get", "operations", "-o", "json"])).toEqual({ out: "[]", err: "", code: 0 });
  });

  it("refuses an option that would do nothing", async () => {
    expect(await run(["get", "instances", "-n", "anna"])).toMatchObject({ err: expect.stringContaining("--namespace"), code: 2 });
    expect(await run(["get", "workspaces", "--op-state", "Failed"])).toMatchObject({ err: expect.stringContaining("--op-state"), code: 2 });
  });

  it.each([
    [
      ["get", "ships"],
      2,
      "resource: there is no kind ships. Use one of instances, workspaces, applications, operations, plans, moves, rollouts, fleet.",
    ],
    [["describe", "app", "shop"], 2, "name: shop does not say of which workspace. Give namespace/name, or the namespace with -n."],
    [["describe", "app", "shop", "-n", "anna"], 1, "there is no application shop; `argosy get applications` lists them all"],
    [["describe", "instance", "x"], 1, "there is no instance x; `argosy get instances` lists them all"],
    [["explain", "nobody"], 1, "there is no workspace nobody; `argosy get workspaces` lists them"],
    [["get", "ws", "--token", "argosy_unknown_0123456789"], 1, "nobody knows the token that was sent; `argosy token create` makes one"],
    [["journal", "--limit", "5000"], 2, "limit: Too big: expected number to be <=1000. See --help of the command"],
    [["get", "fleet", "-w"], 2, "--watch: changes only when somebody declares it. `argosy journal --kind fleet` tells each change of it."],
    [["get", "ws", "--url", "nonsense"], 2, "ARGOSY_URL: nonsense is no address of a REST API. Give one like https://argosy.example:8080."],
    [["apply", "-f", "/nope.yaml"], 2, "/nope.yaml: cannot be read. Name a file that exists and that you may read."],
  ])("answers %j with exit code %i and what to do", async (args, code, err) => {
    expect(await run(args)).toEqual({ out: "", err, code });
  });

  it("makes no token whose role nobody named", async () => {
    expect(await run(["token", "create", "ci"])).toMatchObject({ out: "", code: 2 });
  });

  it("says which addresses and tokens it misses", async () => {
    expect(await run(["get", "ws"], {})).toMatchObject({ code: 2, err: expect.stringMatching(/no fleet to talk to.*--state DIR/) });
  });

  it("shows what a dry run would change, and what an apply changed", async () => {
    const file = join(directory, "fleet.yaml");
    writeFileSync(file, "kind: Fleet\n");
    expect((await run(["apply", "-f", file, "--dry-run"])).out).toBe(
      "fleet would change (none is declared yet)\n  + deployments\n  + pools.standard\n  + versions\n  + workspaces",
    );
    expect((await run(["apply", "-f", file])).out).toMatch(/^fleet changed/);
    expect(JSON.parse((await run(["apply", "-f", file, "-o", "json"])).out)).toMatchObject({ changed: false, changes: [] });
  });

  it("shows what a prune would retire, and carries it out when asked to", async () => {
    const file = join(directory, "prune.yaml");
    writeFileSync(file, "kind: Fleet\n");
    await run(["apply", "-f", file]);
    expect(await run(["apply", "-f", file, "--prune"])).toMatchObject({ out: expect.stringMatching(/^fleet unchanged/), code: 0 });
    const old = anInstance({ name: "old-1", pool: "old", state: "CORDONED", reason: "its pool was removed" });
    await store.fleet.insertInstance(old, aDecision(), signal);
    const shown = await run(["apply", "-f", file, "--prune"]);
    expect(shown).toEqual({
      out: expect.stringContaining("instances\n  old-1 is retired: gone"),
      err: "nothing was changed: repeat it with --yes to carry this out",
      code: 1,
    });
    expect((await store.fleet.readFleet(signal))?.pruned).toEqual([]);
    expect(await run(["apply", "-f", file, "--prune", "--yes"])).toMatchObject({ out: expect.stringMatching(/^fleet changed/), code: 0 });
    expect((await store.fleet.readFleet(signal))?.pruned).toEqual(["old"]);
    expect((await run(["get", "instances"])).err).toBe("old-1 is CORDONED: its pool was removed");
    const wide = await run(["get", "instances", "-o", "wide"]);
    expect(wide.out).toMatch(/ENTRIES +MEMORY +RAISED +REASON/);
    expect(wide.out).toContain("300 MiB");
    expect(wide.err).toBe("");
  });

  it("gives every complaint about a fleet file a line of its own", async () => {
    const file = join(directory, "wrong.yaml");
    writeFileSync(file, "kind: Ship\n");
    expect(await run(["apply", "-f", file])).toEqual({
      out: "",
      err: "2 things are wrong:\n  kind: is missing. Give kind: Fleet\n  pools: is missing. Give at least one pool",
      code: 1,
    });
  });

  it("ends the doctor with 1 and the remedies when a check failed, and with 0 when none did", async () => {
    expect(await run(["doctor"])).toMatchObject({ code: 0, out: expect.stringContaining("all 1 checks passed") });
    ok = false;
    const sick = await run(["doctor"]);
    ok = true;
    expect(sick).toMatchObject({ code: 1, out: expect.stringContaining("1 of 1 checks failed; what to do:\n  pool standard: See why") });
  });

  it("ends the doctor with 0 where something is as somebody ordered, and says what", async () => {
    remark = "cordoned by otto: a kernel update";
    const { out, code } = await run(["doctor"]);
    remark = undefined;
    expect(code).toBe(0);
    expect(out).toMatch(/^note +pool standard/m);
    expect(out).toContain("all 1 checks passed\n\nno failure, but to be known:\n  pool standard: cordoned by otto: a kernel update");
  });

  it("lets the doctor tell what it can when the database or the server is away", async () => {
    isDatabaseAway = true;
    const withoutDatabase = await run(["doctor"], { ARGOSY_URL: url, ARGOSY_TOKEN: "argosy_operator_not_remembered" });
    isDatabaseAway = false;
    expect(withoutDatabase.code).toBe(1);
    expect(withoutDatabase.out).toMatch(/FAIL +REST API/);
    expect(withoutDatabase.out).toMatch(/FAIL +server: database +does not answer/);
    const nowhere = await run(["doctor", "--url", "http://127.0.0.1:2"]);
    expect(nowhere).toMatchObject({ code: 1, out: expect.stringMatching(/FAIL +REST API +no answer from http:\/\/127\.0\.0\.1:2/) });
  });

  it("says its own version without a server, and the server's with one", async () => {
    expect(await run(["version"])).toEqual({ out: "argosy 0.9.0\nserver 1.2.3", err: "", code: 0 });
    expect(await run(["version"], {})).toEqual({ out: "argosy 0.9.0", err: "", code: 0 });
    expect(JSON.parse((await run(["version", "-o", "json"], {})).out)).toEqual({ argosy: "0.9.0", server: null });
    const away = await run(["version", "--url", "http://127.0.0.1:2"]);
    expect(away).toMatchObject({ out: "argosy 0.9.0", err: expect.stringContaining("no answer"), code: 0 });
  });

  it("says in a sentence that something else answers at the address", async () => {
    const other: Server = createServer((_request, response) => response.end("<html>hello</html>"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const seen = await run(["get", "ws", "--url", elsewhere]);
    other.close();
    expect(seen).toMatchObject({ code: 1, err: expect.stringMatching(/answers, but not as Argosy does; correct ARGOSY_URL/) });
  });
});
