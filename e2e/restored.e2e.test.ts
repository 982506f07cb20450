import pg from "pg";
import { expect, it } from "vitest";
import type { MoveView } from "../src/api/routes/moves.ts";
import type { InstanceView, WorkspaceView } from "../src/api/schema.ts";
import { runCommand } from "../src/cli/testing/run-command.ts";
import { allReady } from "./control-plane.ts";
import { callHarness } from "./harness-client.ts";
import { configMapFile, IS_LONG, openWorkspace, openWorld, until, type World } from "./world.ts";

const BACKUP = "yesterday";

/**
 * Runs statements as the server's owner, in another database: the one in question must have no connections while it
 * is copied.
 */
async function onServer(databaseUrl: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: Object.assign(new URL(databaseUrl), { pathname: "/template1" }).href });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

async function withoutArgosy({ harness }: World, run: () => Promise<void>): Promise<void> {
  for (const index of harness.argosyUrls.keys()) await callHarness(harness, "killArgosy", { index });
  await run();
}

async function startAll(world: World): Promise<void> {
  for (const index of world.harness.argosyUrls.keys()) await callHarness(world.harness, "startArgosy", { index });
  await allReady(world);
}

it.runIf(IS_LONG)(
  "goes on from yesterday's database: units that were moved since stay where they are, and nothing is deleted (I2, I7)",
  async () => {
    const world = openWorld();
    const { harness, git, rest } = world;
    const name = new URL(harness.databaseUrl).pathname.slice(1);
    const ownerOf = async (): Promise<string | null | undefined> =>
      (await rest.all<WorkspaceView>("/v1/workspaces")).find(({ namespace }) => namespace === "restored")?.units[0]?.instance;
    await git.commit("restored", { "dev/config.yaml": configMapFile("restored", { step: "one" }) });
    const workspace = await openWorkspace(world, "restored");
    await workspace.apply("app", { repository: "restored", path: "dev" });
    await workspace.settled("app");
    const uid = (await workspace.configMap("restored"))?.metadata.uid;
    const before = await ownerOf();

    await withoutArgosy(world, () => onServer(harness.databaseUrl, `create database ${BACKUP} template ${name}`));
    await startAll(world);
    const to = (await rest.all<InstanceView>("/v1/instances")).find((instance) => instance.name !== before)?.name ?? "";
    const asked = await rest.post<MoveView>("/v1/moves", { workspace: "restored", to });
    await until(
      "moved",
      () => rest.get<MoveView>(`/v1/moves/${asked.id}`),
      ({ phase }) => phase === "DONE",
    );

    await withoutArgosy(world, () => onServer(harness.databaseUrl, `drop database ${name}`, `alter database ${BACKUP} rename to ${name}`));
    const waiting = callHarness(harness, "startArgosy", { index: 0 });
    waiting.catch(() => {});
    await until(
      "a control plane says why it waits",
      () => callHarness(harness, "saidByArgosy", { containing: "main.old-database" }),
      (lines) => (lines as readonly string[]).length > 0,
    );
    const config = (await callHarness(harness, "configOf", { index: 0 })) as string;
    const recover = (...args: readonly string[]) =>
      until(
        "nobody alive",
        () => runCommand(["recover-epochs", "-c", config, "--database", harness.databaseUrl, ...args], {}),
        ({ code }) => code === 0,
      );
    const dry = await recover("--dry-run");
    expect(dry.out).toMatch(/^restored .* MOVED$/m);
    expect((await recover()).err).toContain("Control planes may be started");

    // It goes on by itself.
    await waiting;
    await startAll(world);
    expect(await ownerOf()).toBe(to);
    const revision = await git.commit("restored", { "dev/config.yaml": configMapFile("restored", { step: "two" }) });
    await workspace.annotate("app", { "argosy.dev/refreshed-at": "two" });
    await workspace.settled("app", revision);
    const found = await workspace.configMap("restored");
    expect([found?.metadata.uid, found?.data]).toEqual([uid, { step: "two" }]);
  },
);
