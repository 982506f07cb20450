import type { Clock } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { sharesEntry } from "../../domain/instance.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import type { Destination, OwnNamespaces } from "../../shard/application-placement.ts";
import type { DesiredObject, ObjectAt, ObservedObject } from "../../shard/managed-object.ts";
import { formerReaderBindingName } from "../../shard/names.ts";
import { renderIdentity } from "../../shard/render-instance.ts";
import type { Log } from "../../telemetry/log.ts";
import { allOrFirstFailure, type ObjectWriter } from "../apply-object.ts";
import { type Host, type Hosts, UNLISTED_AGAIN_MS } from "../find-hosts.ts";
import type { Requests } from "../keys.ts";
import type { ApiCluster, ManagedObjects } from "../port.ts";
import type { Impersonation } from "../units/grant-impersonation.ts";
import type { EntryTokens } from "./keep-entry-token.ts";
import type { ReaderKinds } from "./keep-reader-role.ts";
import type { InstanceSweep } from "./sweep-instance.ts";

export interface ApplyInstanceDeps {
  readonly hosts: Hosts;
  readonly writer: ObjectWriter;
  readonly apiCluster: ApiCluster;
  readonly impersonation: Pick<Impersonation, "align" | "alignIfChanged">;
  readonly sweep: Pick<InstanceSweep, "sweep" | "isThoroughDue">;
  readonly readerKinds: Pick<ReaderKinds, "isFilled">;
  readonly entryTokens: Pick<EntryTokens, "keepShared" | "listDue">;
  readonly destination: Destination;
  readonly requests: Pick<Requests, "requestUnit">;
  readonly namespaces: OwnNamespaces;
  /** How long the binding of earlier versions stays beside the present one, in ms. */
  readonly formerStaysMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Whether an instance may read, and after how many ms its binding of an earlier version is due to go. */
interface Reading {
  readonly mayRead: boolean;
  readonly againAfterMs?: number;
}

/** How soon to check again whether the role to read by has rules, in ms. On a new cluster they are being written at that moment. */
const FILLED_AGAIN_MS = 1_000;

/**
 * Returns what gives an instance its identity on the API cluster and its entry for that cluster, then sweeps what it holds. When the
 * instance is retired, it takes both back. Where each workspace has an entry, that entry is the canaries' alone.
 */
export function createApplyInstance(deps: ApplyInstanceDeps) {
  const { apiCluster, writer, namespaces, readerKinds, clock } = deps;
  /** Since when the present binding stands beside a former one, on the clock that only grows. */
  const besideSinceMs = new Map<InstanceId, number>();

  /**
   * Lets the instance read by the present role, and a while later no more by the one of earlier versions: an API server that knows the binding may
   * not know yet what the role says.
   */
  const applyReader = async (id: InstanceId, reader: DesiredObject, signal: AbortSignal): Promise<Reading> => {
    const formerReader = formerReaderAt(id);
    const isFormerThere = apiCluster.readers.get(formerReader) !== undefined;
    if (!(await readerKinds.isFilled(signal))) return { mayRead: isFormerThere };
    await writer.put({ name: "reader", objects: apiCluster.readers, desired: reader }, signal);
    if (!isFormerThere) return { mayRead: true };
    const nowMs = clock.monotonicMs();
    const sinceMs = besideSinceMs.get(id) ?? nowMs;
    const againAfterMs = sinceMs + deps.formerStaysMs - nowMs;
    if (againAfterMs > 0) {
      besideSinceMs.set(id, sinceMs);
      return { mayRead: true, againAfterMs };
    }
    await writer.remove({ name: "reader", objects: apiCluster.readers, at: formerReader }, signal);
    besideSinceMs.delete(id);
    return { mayRead: true };
  };

  /** The read account with its rights; no account while a former one is on its way out. */
  const applyIdentity = async (
    id: InstanceId,
    signal: AbortSignal,
  ): Promise<{ readonly account: ObservedObject | undefined; readonly reading: Reading }> => {
    const { account, reader, impersonation } = renderIdentity(id, namespaces);
    const [end, reading] = await allOrFirstFailure([
      writer.put({ name: "read-account", objects: apiCluster.accounts, desired: account }, signal),
      applyReader(id, reader, signal),
      writer.put({ name: "impersonation-binding", objects: apiCluster.bindings, desired: impersonation }, signal),
      deps.sweep.isThoroughDue(id) ? deps.impersonation.align(id, signal) : deps.impersonation.alignIfChanged(id, signal),
    ]);
    return { account: end.kind === "settled" ? end.observed : undefined, reading };
  };

  const fill = async (host: Host, signal: AbortSignal): Promise<WorkResult | undefined> => {
    const { account, reading } = await applyIdentity(host.instance.id, signal);
    // An instance that may read nothing takes the cluster for empty.
    if (!reading.mayRead) return { requeueAfterMs: FILLED_AGAIN_MS };
    if (account === undefined) {
      deps.log.debug({ instance: host.instance.name }, "Waiting for the end of a former read account");
      return undefined;
    }
    const { requeueAfterMs } = await deps.entryTokens.keepShared(host, account, signal);
    await deps.sweep.sweep(host, signal);
    return { requeueAfterMs: Math.min(requeueAfterMs, reading.againAfterMs ?? requeueAfterMs) };
  };

  /**
   * Its identity gives an instance with an entry for each workspace no right: one that a version before has given goes as soon as no Application
   * is deployed by it. What its units have instead they are asked for.
   */
  const fillApart = async (host: Host, signal: AbortSignal): Promise<WorkResult | undefined> => {
    const { instance, engine } = host;
    const { account } = renderIdentity(instance.id, namespaces);
    const end = await writer.put({ name: "read-account", objects: apiCluster.accounts, desired: account }, signal);
    if (!(await readerKinds.isFilled(signal))) return { requeueAfterMs: FILLED_AGAIN_MS };
    if (end.kind !== "settled") return undefined;
    const isUsed = engine.applications.list(instance.namespace).some(({ server }) => server === deps.destination.server);
    const left = isUsed ? [] : rightsOf(instance.id).filter(({ isSeen }) => isSeen);
    await allOrFirstFailure(left.map(({ remove }) => remove(signal)));
    const { requeueAfterMs } = await deps.entryTokens.keepShared(host, end.observed, signal);
    await deps.sweep.sweep(host, signal);
    deps.entryTokens.listDue(host).forEach(deps.requests.requestUnit);
    return { requeueAfterMs };
  };

  /** What gives an instance's account rights, by this version or one before. `isSeen`: it is there, as far as the watch says. */
  const rightsOf = (id: InstanceId) => {
    const { account, reader, impersonation } = renderIdentity(id, namespaces);
    const { bindings, roles, readers } = apiCluster;
    const right = <T extends ObservedObject>(name: string, objects: ManagedObjects<T>, at: ObjectAt) => ({
      isSeen: objects.get(at) !== undefined,
      remove: (signal: AbortSignal) => writer.remove({ name, objects, at }, signal),
    });
    return [
      right("impersonation-binding", bindings, impersonation.at),
      right("impersonation", roles, account.at),
      right("reader", readers, reader.at),
      right("reader", readers, formerReaderAt(id)),
    ];
  };

  /** The account goes last: as long as it is there, something may be left to do. */
  const removeIdentity = async (id: InstanceId, signal: AbortSignal): Promise<void> => {
    const { account } = renderIdentity(id, namespaces);
    if (apiCluster.accounts.get(account.at) === undefined) return;
    await allOrFirstFailure(rightsOf(id).map(({ remove }) => remove(signal)));
    await writer.remove({ name: "read-account", objects: apiCluster.accounts, at: account.at }, signal);
  };

  return async (id: InstanceId, signal: AbortSignal): Promise<WorkResult | void> => {
    if (deps.hosts.isRetired(id) && apiCluster.isSynced()) return removeIdentity(id, signal);
    const host = await deps.hosts.find(id, signal);
    if (host === undefined) return undefined;
    if (!host.engine.isSynced() || !apiCluster.isSynced()) return { requeueAfterMs: UNLISTED_AGAIN_MS };
    return sharesEntry(host.instance) ? fill(host, signal) : fillApart(host, signal);
  };
}

function formerReaderAt(id: InstanceId): ObjectAt {
  return { namespace: "", name: formerReaderBindingName(id) };
}
