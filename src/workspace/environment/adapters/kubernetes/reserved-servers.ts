import { lookup } from "node:dns/promises";
import { posix } from "node:path";
import type { Clock } from "../../../../domain/clock.ts";
import type { ShownServer } from "../../../../domain/shown-server.ts";
import type { Log } from "../../../../telemetry/log.ts";
import { endpointKey } from "../../../address.ts";
import type { ShownServers } from "../../port.ts";
import { hostOf, portOf } from "./checked-addresses.ts";
import { peerCertificate } from "./peer-certificate.ts";

/** What gives away that a server is one that no user may reach. */
export interface Reserved {
  /** Listeners by name, and by every address the names have now. */
  readonly listeners: ReadonlySet<string>;
  readonly certificates: ReadonlySet<string>;
}

/**
 * What gives away those of `servers` that could be the one at `target`; `undefined` while one of them never showed it, when
 * nothing may be taken for another cluster. Two paths on one listener are two clusters behind one front; a server without a path
 * is all of its listener.
 */
export type KnowReserved = (target: URL, servers: readonly string[]) => Promise<Reserved | undefined>;

interface Memory {
  readonly triedAtMs: number;
  /** What it showed last, which it need not have done at the last try. */
  readonly known: Promise<ShownServer | undefined>;
}

/** How long what was read counts without being read again, in ms. */
const REMEMBERED_MS = 60_000;
/** How soon a server that showed nothing is asked again, in ms. */
const AGAIN_MS = 5_000;
/** How long one of our own servers may take to show itself, in ms. */
const TIMEOUT_MS = 5_000;

/** Remembers what gave a server away, beyond the end of this process: one that is away for a while is as reserved as before. */
export function createReservedKnowledge({
  clock,
  log,
  shown,
  rememberedMs = REMEMBERED_MS,
}: {
  readonly clock: Clock;
  readonly log: Log;
  readonly shown?: ShownServers;
  readonly rememberedMs?: number;
}): KnowReserved {
  const memories = new Map<string, Memory>();

  const tried = async <T>(reaching: Promise<T> | undefined): Promise<T | undefined> => {
    try {
      return await reaching;
    } catch (err) {
      // What this process reads itself is enough while the server shows itself; while it does not, nobody is visited.
      return void log.warn({ err }, "Not reaching what is kept of the clusters that host instances");
    }
  };

  const find = async (server: string, before: ShownServer | undefined): Promise<ShownServer | undefined> => {
    const learnt = await learn(server);
    if (learnt === undefined) return before ?? tried(shown?.read(server, AbortSignal.timeout(TIMEOUT_MS)));
    await tried(shown?.keep(learnt, AbortSignal.timeout(TIMEOUT_MS)));
    return learnt;
  };

  const knowledgeOf = async (server: string): Promise<ShownServer | undefined> => {
    const memory = memories.get(server);
    const before = await memory?.known;
    const now = clock.monotonicMs();
    const latest = memories.get(server);
    if (latest !== memory) return latest?.known;
    if (memory !== undefined && now - memory.triedAtMs < (before === undefined ? Math.min(AGAIN_MS, rememberedMs) : rememberedMs))
      return before;
    const known = find(server, before);
    memories.set(server, { triedAtMs: now, known });
    return known;
  };

  return async (target, servers) => {
    for (const server of memories.keys()) if (!servers.includes(server)) memories.delete(server);
    const near = servers.filter((server) => isSamePlace(pathOf(new URL(server)), pathOf(target)));
    const known = (await Promise.all(near.map(knowledgeOf))).filter((each) => each !== undefined);
    if (known.length < near.length) return undefined;
    return {
      listeners: new Set(known.flatMap(({ listeners }) => listeners)),
      certificates: new Set(known.flatMap(({ certificate }) => certificate ?? [])),
    };
  };
}

/** These names are the administrator's: they may stand in a hosts file, and nobody's slow name server is asked for them. */
async function learn(server: string): Promise<ShownServer | undefined> {
  const url = new URL(server);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const host = hostOf(url);
  const addresses = await lookup(host, { all: true }).catch(() => []);
  const shown = url.protocol === "https:" ? await peerCertificate(url, { signal }) : undefined;
  if (addresses.length === 0 || shown?.kind === "nothing") return undefined;
  return {
    server,
    listeners: [host, ...addresses.map(({ address }) => address)].map((address) => endpointKey(address, portOf(url))),
    certificate: shown?.fingerprint,
  };
}

/** As a front that is easy to please reads it: two that may be one path to it are one. */
function pathOf(url: URL): string {
  try {
    const path = decodeURIComponent(url.pathname).replaceAll("\\", "/").toLowerCase();
    return posix.normalize(path).replace(/\/$/, "");
  } catch {
    return "";
  }
}

function isSamePlace(a: string, b: string): boolean {
  return a === b || a === "" || b === "";
}
