import { type Environment, entryCredentialKey } from "../../domain/environment.ts";
import type { EnvironmentId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { ShardObject } from "../../domain/shard-object.ts";
import { acknowledgementOf } from "../../shard/acknowledge.ts";
import { type ApplicationPlacement, unitFence } from "../../shard/application-placement.ts";
import { nameFreelyEntered } from "../../shard/freely-entered.ts";
import type { DesiredObject } from "../../shard/managed-object.ts";
import type { MissingPrerequisite } from "../../shard/missing-prerequisite.ts";
import { parseCredential } from "../../shard/parse-credential.ts";
import { renderEnvironmentEntry, superfluousEntries } from "../../shard/render-environment.ts";
import type { DesiredUnit, ShardStore } from "../../store/shard/port.ts";
import { allOrFirstFailure, type ObjectWriter } from "../apply-object.ts";
import { type PlacedUnit, placementOf } from "../find-hosts.ts";
import type { Rows } from "../read-and-record-rows.ts";
import { type TroubleCause, waits } from "../trouble.ts";
import { type ReadCredentialDeps, readCredential } from "./read-credential.ts";

/** The Secrets by which an instance enters the remote clusters of a unit's environments. */
export interface ClusterEntries {
  /** Sees to it that every environment the unit uses has its entry, but for those whose credential cannot be read. */
  apply(placed: PlacedUnit, signal: AbortSignal): Promise<TroubleCause>;
  /** Name of an environment that the instance may enter for the unit with what is no account of ours; `undefined`: none. */
  nameFreelyEntered(row: DesiredUnit, instance: Instance, signal: AbortSignal): Promise<string | undefined>;
  /** Removes the entries of environments that the unit does not use any more. Returns what that waits for, for people. */
  removeUnused(placed: PlacedUnit, signal: AbortSignal): Promise<readonly string[]>;
  /** Removes all of them. Returns what that waits for, for people. */
  remove(placed: PlacedUnit, signal: AbortSignal): Promise<readonly string[]>;
}

export interface ClusterEntriesDeps extends ReadCredentialDeps {
  readonly shards: Pick<ShardStore, "forgetObjects">;
  readonly rows: Pick<Rows, "acknowledge">;
  readonly writer: ObjectWriter;
}

interface Entry {
  readonly environment: Environment;
  readonly desired: DesiredObject;
}

const NAME = "environment-entry";

export function createClusterEntries(deps: ClusterEntriesDeps): ClusterEntries {
  const { shards, rows, writer } = deps;

  const render = async (
    placement: ApplicationPlacement,
    environments: readonly Environment[],
    signal: AbortSignal,
  ): Promise<readonly Entry[]> => {
    const rendered = environments.map(async (environment) => {
      const key = entryCredentialKey(environment, { unitId: placement.unit.id, instanceId: placement.instance.id });
      const credential = await readCredential(deps, key, (text) => parseCredential(text, environment.apiUrl), signal);
      return credential === undefined ? [] : [{ environment, desired: renderEnvironmentEntry(placement, environment, credential) }];
    });
    return (await Promise.all(rendered)).flat();
  };

  const removeUnused = async ({ row, host }: PlacedUnit, signal: AbortSignal): Promise<readonly string[]> => {
    const { id: instanceId, namespace } = host.instance;
    const used = new Set(row.environments.map(({ id }) => id));
    const recorded = row.acknowledged.filter(
      ({ kind, subject, ...object }) => kind === "cluster-entry" && object.instanceId === instanceId && !used.has(subject as EnvironmentId),
    );
    const names = superfluousEntries(host.engine.entries.list(namespace), {
      unitId: row.unit.id,
      used,
      recorded: recorded.map(({ subject }) => subject as EnvironmentId),
    });
    const fence = unitFence(row.unit);
    const ends = await allOrFirstFailure(
      names.map((name) => writer.remove({ objects: host.engine.entries, at: { namespace, name }, name: NAME, fence }, signal)),
    );
    if (ends.some(({ kind }) => kind === "await-end")) return [waits.going("a former environment's entry")];
    if (recorded.length > 0) await shards.forgetObjects(recorded, signal);
    return [];
  };

  return {
    async apply(placed, signal) {
      const { row, host } = placed;
      const placement = placementOf(placed);
      const entries = await render(placement, row.environments, signal);
      const ends = await allOrFirstFailure(
        entries.map(({ desired }) => writer.put({ objects: host.engine.entries, desired, name: NAME }, signal)),
      );
      const notifications = entries.flatMap(({ environment, desired }, index): readonly ShardObject[] => {
        const end = ends[index];
        if (end?.kind !== "settled") return [];
        const standing = { kind: "cluster-entry", subject: environment.id, desired, observed: end.observed } as const;
        return [acknowledgementOf(placement, standing, row.acknowledged) ?? []].flat();
      });
      await allOrFirstFailure(notifications.map((object) => rows.acknowledge(object, signal)));
      const going = entries.filter((_, index) => ends[index]?.kind !== "settled");
      return {
        waits: going.map(({ environment }) => waits.going(waits.environmentEntry(environment.name))),
        missingPrerequisites: missingPrerequisitesOf(row.environments, new Set(entries.map(({ environment }) => environment.id))),
      };
    },

    async nameFreelyEntered(row, instance, signal) {
      const placement = { unit: row.unit, workspace: row.workspace, instance };
      const present = row.environments.filter(({ createsAccount }) => createsAccount);
      const entries = await render(placement, present, signal);
      return nameFreelyEntered(row, instance.id, new Map(entries.map(({ environment: { id }, desired }) => [id, desired.contentHash])));
    },

    removeUnused,
    remove: ({ row, host }, signal) => removeUnused({ row: { ...row, environments: [] }, host }, signal),
  };
}

/** Nothing that is wanted goes through an environment that is not connected: nobody misses its credential. */
function missingPrerequisitesOf(
  environments: readonly Environment[],
  readable: ReadonlySet<EnvironmentId>,
): readonly MissingPrerequisite[] {
  return environments
    .filter(({ id, state }) => state === "connected" && !readable.has(id))
    .map(({ id, name }) => ({ kind: "environment", id, name }));
}
