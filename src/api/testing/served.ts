import { createRolloutRequests } from "../../rollout/request-rollouts.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createCountingIds, createUuidIds } from "../../runtime/ids.ts";
import { calibrate } from "../../scheduler/calibration/calibrate.ts";
import { exportWorkspace } from "../../shard/export-workspace.ts";
import { createMemoryStore, type MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { aToken } from "../../store/testing/builders.ts";
import type { TokenRole } from "../../store/token/port.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { tokenHash } from "../auth.ts";
import type { ApiDeps } from "../port.ts";
import { createApi } from "../server.ts";

const tokenOf = (role: TokenRole): string => `argosy_${role}_0123456789`;

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Served {
  readonly store: MemoryStore;
  readonly url: string;
  /** A token of a role for the environment of a command. */
  token(role: TokenRole): string;
  call(method: string, path: string, options?: { readonly role?: TokenRole; readonly body?: unknown }): Promise<Answer>;
  close(): Promise<void>;
}

/** What the API asks of other modules, answering that there is nothing. */
export function idleDeps(store: MemoryStore): ApiDeps {
  return {
    ...{ store, log: silentLog, metrics: noMetrics, clock: systemClock, ids: createUuidIds(systemClock), version: "1.2.3" },
    approvals: { fleet: "two-people" },
    requestRates: { reads: 1_000, writes: 1_000, unknown: 1_000 },
    identities: { recognise: async () => ({ kind: "other" }) },
    parseFleet: () => ({ ok: false, complaints: [] }),
    renderFleet: () => ({}),
    planFleet: () => [],
    explain: () => ["because"],
    explainInstance: ({ instance }) => [`instance ${instance.name}`],
    calibrate,
    exportWorkspace: (facts, { namespace, server = "https://api.example:6443" }) => exportWorkspace(facts, { namespace, server }),
    apiClusterUid: async () => "uid-of-kube-system",
    review: () => undefined,
    isSchedule: (text) => text.split(" ").length === 5,
    planning: {
      plan: () => Promise.reject(new Error("nobody plans here")),
      whatIf: () => Promise.reject(new Error("nobody plans here")),
      apply: () => Promise.reject(new Error("nobody plans here")),
      describe: () => [],
      review: () => true,
      names: () => ({ unit: String, instance: String, isDeployed: () => false, approval: [], approvalText: "" }),
    },
    moving: {
      whyNot: async () => undefined,
      ask: () => Promise.reject(new Error("nobody moves here")),
      abort: () => Promise.reject(new Error("nobody moves here")),
      reverse: () => Promise.reject(new Error("nobody moves here")),
      giveUp: async () => 0,
    },
    draining: {
      budget: 8,
      draft: () => Promise.reject(new Error("nobody drains here")),
      staying: () => [],
      whyLast: async () => undefined,
      begin: () => Promise.reject(new Error("nobody drains here")),
    },
    rollouts: createRolloutRequests({ store, clock: systemClock, ids: createCountingIds() }),
    readUsage: async () => new Map(),
    doctor: async () => [],
    metricsText: async () => ({ contentType: "text/plain", text: "" }),
    readiness: async () => ({ ok: true, checks: [] }),
  };
}

/** The API on a store of its own, with a token of each role: otto, vera and anna. */
export async function serveApi(depsOf: (store: MemoryStore) => ApiDeps = idleDeps): Promise<Served> {
  const store = createMemoryStore({ clock: systemClock });
  const signal = AbortSignal.timeout(60_000);
  for (const [name, role] of [["vera", "viewer"] as const, ["otto", "operator"] as const, ["anna", "approver"] as const])
    await store.tokens.put(aToken({ name, role, hash: tokenHash(tokenOf(role)) }), undefined, signal);
  const api = await createApi(depsOf(store));
  const url = await api.listen({ host: "127.0.0.1", port: 0 });
  return {
    store,
    url,
    token: tokenOf,
    async call(method, path, { role = "operator", body } = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${tokenOf(role)}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Answer["body"] };
    },
    async close() {
      await api.close();
      await store.close();
    },
  };
}
