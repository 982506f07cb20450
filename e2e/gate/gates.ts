import type { DevApi } from "../../hack/dev-cluster/dev-cluster.ts";
import type { FaultProxy } from "../../hack/dev-cluster/fault-proxy.ts";
import type { ArgosyProcess } from "../../hack/fleet/argosy-process.ts";
import { openHttpGate } from "./http-gate.ts";
import { openPostgresGate } from "./postgres-gate.ts";
import { type Account, createTurnstile, type Watching } from "./turnstile.ts";
import { whoSends } from "./who-sends.ts";

/** The connections of the control planes, and which processes use them. */
export interface Ways {
  readonly api: DevApi;
  readonly databaseProxy: FaultProxy;
  readonly databaseUrl: string;
  readonly processes: readonly ArgosyProcess[];
}

/** Gates for the connections of all control planes, which can also go past them. */
export interface Gates {
  /** Leads the connections through the gates, unless they go there already, and begins to count. */
  watch(watching: Watching): Promise<void>;
  account(): Account;
  close(): Promise<void>;
}

export function createGates({ api, databaseProxy, databaseUrl, processes }: Ways): Gates {
  const kill = async (port: number): Promise<number> => {
    const origins = await Promise.all([api.faultProxy, databaseProxy].map((proxy) => proxy.originOf(port)));
    const origin = origins.find((each) => each !== undefined);
    const pid =
      origin === undefined
        ? undefined
        : whoSends(
            origin,
            processes.map((each) => each.pid),
          );
    const index = processes.findIndex((each) => each.pid === pid);
    if (pid === undefined || index < 0) throw new Error(`no control plane process sends from port ${port}`);
    processes[index]?.kill("SIGKILL");
    await processes[index]?.exited;
    return index;
  };
  const turnstile = createTurnstile(kill);
  let closes: (() => Promise<void>)[] = [];

  const open = async (): Promise<void> => {
    for (const way of ["api", "engine"]) {
      const gate = await openHttpGate(way, api.kubernetes, turnstile);
      await api.faultProxy.divert(way, gate.port);
      closes.push(() => api.faultProxy.divert(way, undefined).then(gate.close));
    }
    const gate = await openPostgresGate(Number(new URL(databaseUrl).port), turnstile);
    await databaseProxy.divert("database", gate.port);
    closes.push(() => databaseProxy.divert("database", undefined).then(gate.close));
  };

  return {
    async watch(watching) {
      turnstile.watch(watching);
      if (closes.length === 0) await open();
    },
    account: () => turnstile.account(),
    async close() {
      const all = closes;
      closes = [];
      await Promise.all(all.map((close) => close()));
    },
  };
}
