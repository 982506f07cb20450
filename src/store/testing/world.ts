import { expect, vi } from "vitest";
import type { Change } from "../../domain/change.ts";
import type { ApplicationId, InstanceId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { Application, PlacementUnit } from "../../domain/workspace.ts";
import type { DeletionIntent, DeploymentIntent } from "../intent/port.ts";
import type { Store } from "../port.ts";
import { UNIT_OBJECT_KINDS } from "../shard/unit-object-kinds.ts";
import { aDecision, anInstance, anIntent, anObject, WIDE } from "./builders.ts";

const DEADLINE_MS = 30_000;

export const soon = (): AbortSignal => AbortSignal.timeout(DEADLINE_MS);

/** Opens a store with nothing in it; `close` also takes away what it was kept in. */
export type OpenStore = () => Promise<{ readonly store: Store; close(): Promise<void> }>;

/** An application with all that leads to it. */
export interface Deployed {
  readonly intent: DeploymentIntent;
  readonly applicationId: ApplicationId;
  readonly unitId: UnitId;
  readonly workspaceId: WorkspaceId;
  readonly instanceId: InstanceId;
  readonly epoch: number;
}

export interface World {
  readonly store: Store;
  record(over?: Parameters<typeof anIntent>[0]): Promise<DeploymentIntent & { readonly applicationId: ApplicationId }>;
  /** Records an intent again with something changed. */
  again(intent: DeploymentIntent, over: Partial<DeploymentIntent>): ReturnType<Store["intents"]["recordDeployments"]>;
  remove(intent: DeploymentIntent, deletion?: DeletionIntent["deletion"]): Promise<void>;
  unit(applicationId: ApplicationId): Promise<PlacementUnit>;
  application(applicationId: ApplicationId): Promise<Application>;
  addInstance(over?: Partial<Instance>): Promise<Instance>;
  place(unitId: UnitId, instanceId: InstanceId): Promise<number>;
  /** A new application on a new instance. */
  deploy(over?: Parameters<typeof anIntent>[0]): Promise<Deployed>;
  /** Acknowledges the unit's objects. */
  acknowledgeUnit(deployed: Deployed, appliedRevision?: number): Promise<number>;
  /** The hints of what `work` commits, as `kind:id`, sorted. */
  notificationsOf(work: () => Promise<unknown>): Promise<readonly string[]>;
}

export function createWorld(store: Store): World {
  const { intents, placements, fleet, shards } = store;

  const desired = async (applicationId: ApplicationId) => {
    const [found] = await shards.readApplications([applicationId], soon());
    if (found === undefined) throw new Error(`there is no application ${applicationId}`);
    return found;
  };
  const world: World = {
    store,
    async record(over) {
      const intent = anIntent(over);
      const [outcome] = await intents.recordDeployments([intent], soon());
      if (outcome === undefined) throw new Error("there is no outcome");
      return { ...intent, applicationId: outcome.applicationId };
    },
    again: (intent, over) => intents.recordDeployments([{ ...intent, newIds: anIntent().newIds, ...over }], soon()),
    remove: ({ uid }, deletion = "cascade") =>
      intents.recordDeletions([{ uid, deletion, operationId: anIntent().newIds.operationId }], soon()),
    unit: async (applicationId) => (await desired(applicationId)).unit,
    application: async (applicationId) => (await desired(applicationId)).application,
    async addInstance(over) {
      const instance = anInstance(over);
      expect(await fleet.insertInstance(instance, aDecision({ subject: instance.id, kind: "instance" }), soon())).toBe(true);
      return instance;
    },
    async place(unitId, instanceId) {
      const found = await placements.readUnit(unitId, soon());
      const placement = {
        unitId,
        instanceId,
        rowVersion: found?.unit.rowVersion ?? 0,
        ceiling: WIDE,
        decision: aDecision({ subject: unitId }),
      };
      const outcome = await placements.commitFirstPlacement(placement, soon());
      if (outcome.kind !== "placed") throw new Error(`placing ${unitId}: ${outcome.kind}`);
      return outcome.epoch;
    },
    async deploy(over) {
      const { id: instanceId } = await world.addInstance();
      const intent = await world.record(over);
      const { id: unitId, workspaceId } = await world.unit(intent.applicationId);
      return { intent, applicationId: intent.applicationId, unitId, workspaceId, instanceId, epoch: await world.place(unitId, instanceId) };
    },
    async acknowledgeUnit({ unitId, instanceId, epoch }, appliedRevision = 1) {
      return shards.acknowledge(
        UNIT_OBJECT_KINDS.map((kind) => anObject({ instanceId, subject: unitId, epoch }, { kind, appliedRevision })),
        soon(),
      );
    },
    notificationsOf: (work) => notificationsOf(store, work),
  };
  return world;
}

/** Hints come in the order of commits: those before the hint of a last, telling commit are all there will be. */
async function notificationsOf({ changes, fleet }: Store, work: () => Promise<unknown>): Promise<readonly string[]> {
  const heard: string[] = [];
  let isListening = false;
  const stop = changes.subscribe((notifications: readonly Change[] | "missed") => {
    if (notifications === "missed") isListening = true;
    else heard.push(...notifications.map(({ kind, id }) => `${kind}:${id}`));
  });
  try {
    await eventually(() => expect(isListening).toBe(true));
    await work();
    const last = anInstance({ class: "nobody's", state: "RETIRED" });
    await fleet.insertInstance(last, aDecision(), soon());
    await eventually(() => expect(heard).toContain(`instance:${last.id}`));
    return heard.filter((notification) => notification !== `instance:${last.id}`).sort();
  } finally {
    stop();
  }
}

export function eventually(check: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: DEADLINE_MS, interval: 10 });
}
