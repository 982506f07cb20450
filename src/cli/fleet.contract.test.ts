import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { tokenHash } from "../api/auth.ts";
import { type Api, createApi } from "../api/server.ts";
import { idleDeps } from "../api/testing/served.ts";
import { planFleet } from "../instance-provisioner/fleet-plan.ts";
import { parseFleetDocument } from "../instance-provisioner/fleet-schema/parse-fleet.ts";
import { renderFleetDocument } from "../instance-provisioner/fleet-schema/render-fleet.ts";
import { systemClock } from "../runtime/clock.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import type { Store } from "../store/port.ts";
import { aDecision, anInstance, aToken } from "../store/testing/builders.ts";
import { startTestServer, type TestServer } from "../store/testing/test-server.ts";
import { soon } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { runCommand } from "./testing/run-command.ts";

const EXAMPLE = new URL("../instance-provisioner/testing/fleet-example.yaml", import.meta.url).pathname;
const tokens = { viewer: "argosy_viewer_0123456789", operator: "argosy_operator_0123456789" };
const directory = mkdtempSync(join(tmpdir(), "argosy-fleet-"));
let server: TestServer;
let store: Store;
let api: Api;
let url: string;
beforeAll(async () => {
  server = await startTestServer();
  const database = await server.createMigrated();
  store = await createPostgresStore({ url: database.url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 2 });
  for (const role of ["viewer", "operator"] as const)
    await store.tokens.put(aToken({ name: role, role, hash: tokenHash(tokens[role]) }), undefined, soon());
  api = await createApi({
    ...idleDeps(createMemoryStore({ clock: systemClock })),
    approvals: { fleet: "nobody" },
    ...{ store, parseFleet: parseFleetDocument, renderFleet: (spec) => ({ ...renderFleetDocument(spec) }), planFleet },
  });
  url = await api.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await api.close();
  await store.close();
  await server.stop();
  rmSync(directory, { recursive: true });
});

const run = (args: readonly string[], role: keyof typeof tokens = "operator") =>
  runCommand(args, { ARGOSY_STATE: directory, ARGOSY_URL: url, ARGOSY_TOKEN: tokens[role] });

it("reads a fleet back as the document that declares it, and nothing changes when that is declared again", async () => {
  expect(await run(["get", "fleet", "-o", "yaml"])).toEqual({
    ...{ out: "", err: "no fleet is declared yet; `argosy apply -f fleet.yaml` declares one", code: 1 },
  });
  expect(await run(["apply", "-f", EXAMPLE])).toMatchObject({ out: expect.stringContaining("fleet changed"), code: 0 });
  for (const format of ["yaml", "json"]) {
    const shown = await run(["get", "fleet", "-o", format], "viewer");
    expect(shown).toMatchObject({ err: "", code: 0 });
    expect(parse(shown.out)).toMatchObject(parse(readFileSync(EXAMPLE, "utf8")) as object);
    const file = join(directory, `fleet.${format}`);
    writeFileSync(file, shown.out);
    for (const more of [["--dry-run"], []]) {
      const applied = await run(["apply", "-f", file, ...more, "-o", "json"]);
      expect(JSON.parse(applied.out)).toMatchObject({ changed: false, revision: 1, changes: [] });
    }
  }
});

it("shows people the pools in 80 columns, and says what there is beside", async () => {
  const { out, err, code } = await run(["get", "fleet"], "viewer");
  expect(out).toBe(
    [
      "POOL      CLASS                    INSTANCES  APPS EACH  VERSION",
      "standard  eu/shared/public         2 to 10    1000       default",
      "careful   eu/shared/internal/slow  1 to 4     500        3.4.7",
      "early     eu/shared/public/early   1 to 2     500        default",
    ].join("\n"),
  );
  expect([err, code]).toEqual(["revision 1; -o yaml prints the document that `argosy apply -f` takes", 0]);
});

it("names a pool whose instances leave", async () => {
  await store.fleet.insertInstance(anInstance({ name: "careful-1", pool: "careful" }), aDecision(), soon());
  const document = parse(readFileSync(EXAMPLE, "utf8")) as { readonly pools: readonly unknown[]; readonly workspaces: object };
  const file = join(directory, "fewer.json");
  writeFileSync(file, JSON.stringify({ ...document, pools: document.pools.slice(0, 1) }));
  expect((await run(["apply", "-f", file, "--prune", "--yes"])).err).toContain("workspaces.classes[0].class: is the class of no pool");
  writeFileSync(
    file,
    JSON.stringify({
      ...document,
      pools: document.pools.slice(0, 1),
      workspaces: { ...document.workspaces, classes: [], classQuotas: [] },
    }),
  );
  expect((await run(["apply", "-f", file, "--prune", "--yes"])).code).toBe(0);
  expect((await run(["get", "fleet"])).err).toContain("\npool careful is not declared any more, and its instances leave");
});

it("takes no kind away because a file from before says nothing of kinds, and says what a narrower list would take", async () => {
  const document = parse(readFileSync(EXAMPLE, "utf8")) as object;
  const file = join(directory, "kinds.json");
  const apply = async (deployments: object, ...more: readonly string[]) => {
    writeFileSync(file, JSON.stringify({ ...document, deployments }));
    return run(["apply", "-f", file, ...more]);
  };
  expect(await apply({ allowedGroups: ["*"] })).toMatchObject({ code: 0 });
  for (const more of [[], ["--dry-run"]]) {
    const refused = await apply({}, ...more);
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain("deployments.allowedGroups: is missing, while the fleet in force allows every group");
  }
  expect(await apply({ allowedGroups: [] })).toMatchObject({ code: 0, out: expect.stringContaining('allowedGroups: ["*"] → []') });
  expect(await apply({})).toMatchObject({ code: 0, out: expect.stringContaining("fleet unchanged") });
});

it("refuses what a fleet does not have", async () => {
  expect(await run(["get", "fleet", "standard"])).toMatchObject({
    err: "name: there is one fleet, and it has no name. Leave it out.",
    code: 2,
  });
  expect(await run(["get", "fleet", "-n", "anna"])).toMatchObject({ err: expect.stringContaining("--namespace"), code: 2 });
  expect(await run(["describe", "fleet", "all"])).toMatchObject({
    ...{ err: "resource: a fleet is one document. Use `argosy get fleet -o yaml`.", code: 2 },
  });
});
