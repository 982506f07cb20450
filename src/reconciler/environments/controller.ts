import { type Environment, entryCredentialKey } from "../../domain/environment.ts";
import type { EnvironmentId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { ShardObject } from "../../domain/shard-object.ts";
import { acknowledgementOf } from "../../shard/acknowledge.ts";
import { diffObject, planRemoval } from "../../shard/diff-object.ts";
import { nameFreelyEntered } from "../../shard/freely-entered.ts";
import type { Lack } from "../../shard/lack.ts";
import type { DesiredObject, ObservedObject } from "../../shard/managed-object.ts";
import { parseCredential } from "../../shard/parse-credential.ts";
import { renderEnvironmentEntry, superfluousEntries } from "../../shard/render-environment.ts";
import { type Seat, unitFence } from "../../shard/seat.ts";
import type { CredentialStore } from "../../store/credential/port.ts";
import type { DesiredUnit, ShardStore } from "../../store/shard/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { createCredentialReader } from "../credentials/controller.ts";
import { allOrFirstFailure, type Carrier } from "../object/controller.ts";
import { waits } from "../progress/reasons.ts";
import type { Alignment } from "../repositories/controller.ts";
import type { Rows } from "../rows/controller.ts";
import type { Host } from "../seats/controller.ts";

/** Keeps the entries by which a unit's owner enters the unit's environments. */
export interface EnvironmentEntries {
  /** Sees to it that every environment the unit uses has its entry, but for those whose credential cannot be read. */
  raise(row: DesiredUnit, host: Host, signal: AbortSignal): Promise<Alignment>;
  /** Name of an environment that the instance may enter for the unit with what is no account of ours; `undefined`: none. */
  enteredFreely(row: DesiredUnit, instance: Instance, signal: AbortSignal): Promise<string | undefined>;
  /** Takes away the entries of environments that the unit does not use any more. Returns what that waits for, for people. */
  clear(row: DesiredUnit, host: Host, signal: AbortSignal): Promise<readonly string[]>;
}

export interface EnvironmentEntriesDeps {
  readonly credentials: CredentialStore;
  readonly shards: ShardStore;
  readonly rows: Rows;
  readonly carrier: Carrier;
  readonly log: Log;
}

interface Entry {
  readonly environment: Environment;
  readonly desired: DesiredObject;
}

export function createEnvironmentEntries(deps: EnvironmentEntriesDeps): EnvironmentEntries {
  const { shards, rows, carrier } = deps;
  const reader = createCredentialReader(deps);

  const render = async (seat: Seat, environment: Environment, signal: AbortSignal): Promise<readonly Entry[]> => {
    const key = entryCredentialKey(environment, { unitId: seat.unit.id, instanceId: seat.instance.id });
    const credential = await reader.read(key, (text) => parseCredential(text, environment.apiUrl), signal);
    return credential === undefined ? [] : [{ environment, desired: renderEnvironmentEntry(seat, environment, credential) }];
  };

  return {
    async raise(row, host, signal) {
      const seat = { unit: row.unit, workspace: row.workspace, instance: host.instance };
      const entries = (await Promise.all(row.environments.map((environment) => render(seat, environment, signal)))).flat();
      const ends = await allOrFirstFailure(
        entries.map(({ desired }) =>
          carrier.carryOut(
            { objects: host.engine.entries, at: desired.at, plan: (observed) => diffObject(desired, observed), name: "environment-entry" },
            signal,
          ),
        ),
      );
      const news = entries.flatMap(({ environment, desired }, index): readonly ShardObject[] => {
        const end = ends[index];
        if (end?.kind !== "settled") return [];
        const standing = { kind: "cluster-entry", subject: environment.id, desired, observed: end.observed } as const;
        return [acknowledgementOf(seat, standing, row.acknowledged) ?? []].flat();
      });
      await allOrFirstFailure(news.map((object) => rows.acknowledge(object, signal)));
      const going = entries.filter((_, index) => ends[index]?.kind !== "settled");
      return {
        waits: going.map(({ environment }) => waits.going(waits.environmentEntry(environment.name))),
        lacks: lacksOf(row.environments, new Set(entries.map(({ environment }) => environment.id))),
      };
    },

    async enteredFreely(row, instance, signal) {
      const seat = { unit: row.unit, workspace: row.workspace, instance };
      const present = row.environments.filter(({ createsAccount }) => createsAccount);
      const wanted = (await Promise.all(present.map((environment) => render(seat, environment, signal)))).flat();
      return nameFreelyEntered(row, instance.id, new Map(wanted.map(({ environment: { id }, desired }) => [id, desired.contentHash])));
    },

    async clear(row, host, signal) {
      const { id: instanceId, namespace } = host.instance;
      const used = new Set(row.environments.map(({ id }) => id));
      const recorded = row.acknowledged.filter(
        ({ kind, subject, ...object }) =>
          kind === "cluster-entry" && object.instanceId === instanceId && !used.has(subject as EnvironmentId),
      );
      const names = superfluousEntries(host.engine.entries.list(namespace), {
        unitId: row.unit.id,
        used,
        recorded: recorded.map(({ subject }) => subject as EnvironmentId),
      });
      const fence = unitFence(row.unit);
      const plan = (observed: ObservedObject | undefined) => planRemoval(observed, fence);
      const ends = await allOrFirstFailure(
        names.map((name) =>
          carrier.carryOut({ objects: host.engine.entries, at: { namespace, name }, plan, name: "environment-entry" }, signal),
        ),
      );
      if (ends.some(({ kind }) => kind === "await-end")) return [waits.going("a former environment's entry")];
      if (recorded.length > 0) await shards.forgetObjects(recorded, signal);
      return [];
    },
  };
}

/** Nothing that is wanted goes through an environment that is not connected: nobody misses its credential. */
function lacksOf(environments: readonly Environment[], readable: ReadonlySet<EnvironmentId>): readonly Lack[] {
  return environments
    .filter(({ id, state }) => state === "connected" && !readable.has(id))
    .map(({ id, name }) => ({ kind: "environment", id, name }));
}
