import { expect } from "vitest";
import type { ApplicationId } from "../src/domain/ids.ts";
import { ANNOTATION_EPOCH, LABEL_APPLICATION, LABEL_MANAGED_BY, MANAGED_BY } from "../src/domain/names.ts";
import { systemClock } from "../src/runtime/clock.ts";
import type { ListPage } from "../src/runtime/kube/client.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { createPostgresStore } from "../src/store/adapters/postgres/postgres-store.ts";
import type { Store } from "../src/store/port.ts";
import type { DesiredApplication } from "../src/store/shard/port.ts";
import { silentLog } from "../src/telemetry/log.ts";
import { noMetrics } from "../src/telemetry/metrics.ts";
import { TYPES, type World } from "./world.ts";

/** The true state, read without the control planes: rows from the database, objects from the API server. */
export interface Truth {
  readonly store: Store;
  /** Applications of these namespaces, deleted ones included, with what was acknowledged of each. */
  rows(namespaces: readonly string[]): Promise<readonly DesiredApplication[]>;
  /** Argosy's Applications on all instances. */
  objects(): Promise<readonly KubeObject[]>;
  close(): Promise<void>;
}

const PAGE = 500;

export async function openTruth({ harness, kube, signal }: World): Promise<Truth> {
  const store = await createPostgresStore({
    url: harness.databaseUrl,
    ...{ clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 2 },
  });
  const idsIn = async (namespace: string): Promise<readonly ApplicationId[]> => {
    const page = await store.operations.listApplications({ namespace }, { limit: PAGE, after: "" }, signal);
    expect(page.length).toBeLessThan(PAGE);
    return page.map(({ application }) => application.id);
  };
  return {
    store,
    rows: async (namespaces) => store.shards.readApplications((await Promise.all(namespaces.map(idsIn))).flat(), signal),
    async objects() {
      const found: KubeObject[] = [];
      for (let next: string | undefined = ""; next !== undefined; ) {
        const page: ListPage<KubeObject> = await kube.listPage<KubeObject>(
          TYPES.application,
          { labelSelector: `${LABEL_MANAGED_BY}=${MANAGED_BY}`, limit: PAGE, ...(next === "" ? {} : { continueToken: next }) },
          signal,
        );
        found.push(...page.items);
        next = page.continueToken === "" ? undefined : page.continueToken;
      }
      return found;
    },
    close: () => store.close(),
  };
}

/** Whether everything these rows ask for was written and acknowledged. */
export function isStanding({ application, acknowledged }: DesiredApplication): boolean {
  return acknowledged?.appliedRevision === application.desiredRevision;
}

/** `namespace/name` of what users request, by what is recorded of it. */
const nameOf = ({ workspace, application }: DesiredApplication): string => `${workspace.namespace}/${application.name}`;

/**
 * Nothing was lost and nothing happened twice: there is one row for each request, one object for each row and the
 * reverse, under the recorded epoch and uid, and each unit was placed by one decision.
 */
export async function expectWhole(truth: Truth, requests: readonly string[], signal: AbortSignal): Promise<void> {
  const namespaces = [...new Set(requests.map((request) => request.split("/")[0] ?? ""))];
  const rows = await truth.rows(namespaces);
  expect(rows.map(nameOf).sort()).toEqual([...requests].sort());
  const ids = new Set<string>(rows.map(({ application }) => application.id));
  const objects = (await truth.objects()).filter(({ metadata }) => ids.has(metadata.labels?.[LABEL_APPLICATION] ?? ""));
  const ofObject = ({ metadata }: KubeObject) => ({
    name: metadata.name,
    uid: metadata.uid,
    epoch: metadata.annotations?.[ANNOTATION_EPOCH],
  });
  const ofRow = ({ application, unit, acknowledged }: DesiredApplication) => ({
    name: application.argoName,
    uid: acknowledged?.uid,
    epoch: String(unit.epoch),
  });
  const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1);
  expect(objects.map(ofObject).sort(byName)).toEqual(rows.map(ofRow).sort(byName));
  for (const unit of new Set(rows.map((row) => row.unit.id)))
    expect(await truth.store.decisions.list({ subject: unit, kind: "placement" }, 10, signal)).toHaveLength(1);
}

/** Every Application of Argosy's belongs to a row: none was left behind by what happened so far. */
export async function expectNoOrphans(truth: Truth, signal: AbortSignal): Promise<void> {
  const ids = (await truth.objects()).map(({ metadata }) => (metadata.labels?.[LABEL_APPLICATION] ?? "") as ApplicationId);
  const known = new Set((await truth.store.shards.readApplications(ids, signal)).map(({ application }) => application.id));
  expect(ids.filter((id) => !known.has(id))).toEqual([]);
}
