import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startDevCluster } from "../../hack/dev-cluster/dev-cluster.ts";
import { startGitServer } from "../../hack/git-server/git-server.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import { type Counted, countWrites } from "./count-writes.ts";
import { type Applications, OBJECTS, openApplications, refreshAll, restartWith, sayOfAll } from "./engine.ts";

const HELP = `Usage: npm run bench -- resource-health [options]

What it costs an API server that Argo CD keeps the health of each object in its Application (controller.resource.health.persist), beside what the
same changes cost without: writes of Applications and their bytes. One real controller; each application has four objects, of which two change.

  --applications N  (default: 1000)
  --help            this text
`;

const VERSION = "3.5.7";
const NAMESPACE = "bench-engine";
const LIFETIME_MS = 60 * 60_000;

interface Row extends Counted {
  readonly what: string;
  readonly isKept: boolean;
}

/** Runs the measure with these arguments and writes the result. Returns the exit code. */
export async function resourceHealthBench(args: readonly string[], write: (text: string) => void): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { applications: { type: "string" }, help: { type: "boolean" } } });
  if (values.help === true) {
    write(HELP);
    return 0;
  }
  const count = Number(values.applications ?? 1000);
  const signal = AbortSignal.timeout(LIFETIME_MS);
  const directory = mkdtempSync(join(tmpdir(), "argosy-bench-"));
  mkdirSync(join(directory, "git"));
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const dev = await startDevCluster({ stateDir: join(directory, "cluster") }, signal);
    stops.push(dev.stop);
    const git = await startGitServer({ directory: join(directory, "git") });
    stops.push(git.stop);
    const crds = join((await dev.argoCd(VERSION, signal)).directory, "crds");
    const { client, adminKubeconfig } = dev.main;
    write(`${count} applications of ${OBJECTS} objects on Argo CD ${VERSION}\n`);
    const applications = await openApplications(
      { client, kubeconfig: adminKubeconfig, crds, git, count, namespace: NAMESPACE, version: VERSION },
      signal,
    );
    const rows = await measure(client, applications, write, signal);
    write(`\n${table(rows, count)}\n`);
    return 0;
  } finally {
    for (const stop of stops.reverse()) await stop().catch(() => undefined);
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measure(
  client: KubeClient,
  applications: Applications,
  write: (text: string) => void,
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const count = applications.names.length;
  const counter = countWrites(client, NAMESPACE, signal);
  const step = async (what: string, isKept: boolean, act: () => Promise<unknown>, isDone: () => boolean): Promise<void> => {
    await counter.quiet(() => true);
    counter.reset();
    await act();
    await counter.quiet(isDone);
    const counted = counter.counted();
    rows.push({ what, isKept, ...counted });
    write(
      `  ${isKept ? "kept    " : "not kept"} ${what}: ${counted.writes} writes, ${counted.patchBytes} B of patches, ${counted.eventBytes} B of events, ${counted.objectBytes} B of objects, ${(counted.tookMs / 1000).toFixed(0)} s\n`,
    );
  };
  const are = (health: string) => () => counter.all((status) => status.health?.status === health, count);
  const keep = () => counter.all((status) => status["resourceHealthSource"] !== "appTree", count);
  for (const isKept of [false, true]) {
    const says = (object: "one" | "other", isWell: boolean, message: string) => () =>
      sayOfAll(applications, { object, isWell, message }, signal);
    // After its start a controller compares only what has changed. The health of the other objects comes into their
    // Applications with the next comparison.
    const switchOver = async () => {
      await restartWith(applications, signal);
      await refreshAll(applications, signal);
    };
    if (isKept) await step("first comparison with the setting", isKept, switchOver, keep);
    else await step("first comparison", isKept, () => applications.create(signal), are("Healthy"));
    await step("asked to refresh, nothing new", isKept, () => refreshAll(applications, signal), counter.noneAsked);
    await step(
      "one object breaks",
      isKept,
      says("one", false, "the server could not find the metric requests-per-second"),
      are("Degraded"),
    );
    await step(
      "the other breaks too",
      isKept,
      says("other", false, "the server could not find the metric requests-per-second"),
      are("Degraded"),
    );
    await step(
      "it says something else",
      isKept,
      says("other", false, "no metrics returned from the resource metrics API"),
      are("Degraded"),
    );
    await step("one is well again", isKept, says("one", true, "recommended size matches current size"), are("Degraded"));
    await step("the other is well again", isKept, says("other", true, "recommended size matches current size"), are("Healthy"));
  }
  counter.stop();
  return rows;
}

function table(rows: readonly Row[], count: number): string {
  const each = (value: number): string => (value / count).toFixed(value / count < 10 ? 2 : 0);
  const lines = rows
    .filter(({ isKept }) => !isKept)
    .map(({ what }, index) => {
      const [without, kept] = [false, true].map((isKept) => rows.filter((row) => row.isKept === isKept)[index]);
      if (without === undefined || kept === undefined) throw new Error("each step is measured both ways");
      const pair = (of: (row: Row) => number): string => `${each(of(without))} -> ${each(of(kept))}`;
      return `| ${what} | ${pair((row) => row.writes)} | ${pair((row) => row.patchBytes)} | ${pair((row) => row.eventBytes)} | ${pair((row) => row.objectBytes)} |`;
    });
  const head = [
    "| For each application: without -> with | writes | bytes of patches | bytes of watch events | bytes of the object |",
    "|---|---|---|---|---|",
  ];
  return [...head, ...lines].join("\n");
}
