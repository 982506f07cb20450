import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Progress } from "../../hack/up/progress.ts";
import { errorText } from "../../src/cli/error-text.ts";
import type { Conditions } from "../conditions.ts";
import { openWorld, type World, type WorldWanted } from "./open-world.ts";
import { queryOnce } from "./query-once.ts";

/** Opens a world, lets it be used, and ends all of it, whatever happens. `keep`: its files stay. */
export async function withWorld(
  { wanted, keep, progress }: { readonly wanted: WorldWanted; readonly keep: boolean; readonly progress: Progress },
  signal: AbortSignal,
  use: (world: World, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "argosy-bench-"));
  // PostgreSQL does not run as root, and the user it runs as has to reach the directory.
  chmodSync(directory, 0o711);
  const stops: (() => Promise<unknown>)[] = [];
  const watching = new AbortController();
  const either = AbortSignal.any([signal, watching.signal]);
  try {
    await use(await openWorld({ wanted, directory, progress, stops }, either), either);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    progress.say("  stopping …");
    // The API server waits a minute for open watches.
    watching.abort(new Error("the bench ends"));
    for (const stop of stops.reverse()) await stop().catch((error: unknown) => progress.say(`  ${errorText(error)}`));
    if (keep) progress.say(`  everything is left in ${directory}`);
    else rmSync(directory, { recursive: true, force: true });
  }
}

export async function readVersions(
  { client, databaseUrl }: World,
  signal: AbortSignal,
): Promise<Pick<Conditions, "postgres" | "kubernetes">> {
  const { gitVersion } = await client.request<{ readonly gitVersion: string }>({ method: "GET", path: "/version" }, signal);
  const [server] = await queryOnce<{ readonly server_version: string }>(databaseUrl, "show server_version");
  return { postgres: server?.server_version ?? "?", kubernetes: gitVersion };
}
