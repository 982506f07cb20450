import type { Change } from "../../domain/change.ts";
import { millis } from "../../domain/clock.ts";
import { DefectError, UnavailableError } from "../../domain/errors.ts";
import type { ApplicationId, InstanceId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { ZERO_LOAD } from "../../domain/load.ts";
import type { ShardObject } from "../../domain/shard-object.ts";
import type { RecordedStatus } from "../../domain/status.ts";
import type { Application, ApplicationSpec, Deletion, PlacementUnit, Workspace } from "../../domain/workspace.ts";
import type { FleetStore } from "../../store/fleet/port.ts";
import type { ChangeFeed } from "../../store/port.ts";
import type { ShardStore } from "../../store/shard/port.ts";
import type { StatusStore } from "../../store/status/port.ts";

/** The rows that the reconciler reads and writes, held to the rules of their ports, with what others would do to them. */
export interface TestRows {
  readonly shards: ShardStore;
  readonly statuses: StatusStore;
  readonly fleet: FleetStore;
  readonly changes: ChangeFeed;
  addInstance(name: string, over?: Partial<Instance>): Instance;
  /** A workspace in a namespace of its own, with one unit; not placed. */
  addUnit(namespace: string): PlacementUnit;
  place(unitId: UnitId, instanceId: InstanceId): PlacementUnit;
  addApplication(unitId: UnitId, name: string, over?: Partial<ApplicationSpec>): Application;
  changeSpec(id: ApplicationId, over: Partial<ApplicationSpec>): void;
  deleteApplication(id: ApplicationId, deletion: Exclude<Deletion, "none">): void;
  endWorkspace(unitId: UnitId): void;
  retire(id: InstanceId): void;
  unit(id: UnitId): PlacementUnit;
  application(id: ApplicationId): Application | undefined;
  acknowledged(kind: ShardObject["kind"], subject: string): ShardObject | undefined;
  status(id: ApplicationId): RecordedStatus | undefined;
  /** Statements so far by name, to see what a change costs. */
  statements(): Readonly<Record<string, number>>;
  missHints(): void;
  /** No hint arrives until it is called with false. */
  mute(isMuted: boolean): void;
  setAway(isAway: boolean): void;
}

const SPEC: ApplicationSpec = {
  source: { repoUrl: "https://git.example/team/app", path: "deploy", targetRevision: "main" },
  destination: {},
  type: "automated",
  createNamespace: false,
};
const UNIT_KINDS = ["account", "register", "project"] as const;

export function createTestRows(): TestRows {
  const instances = new Map<InstanceId, Instance>();
  const workspaces = new Map<WorkspaceId, Workspace>();
  const units = new Map<UnitId, PlacementUnit>();
  const applications = new Map<ApplicationId, Application>();
  const objects = new Map<string, ShardObject>();
  const statuses = new Map<ApplicationId, RecordedStatus>();
  const listeners = new Set<(changes: readonly Change[] | "missed") => void>();
  const counts: Record<string, number> = {};
  let count = 0;
  let epochs = 0;
  let isMuted = false;
  let isAway = false;

  const next = <Id extends string>(what: string): Id => {
    count += 1;
    return `${what}-${count}` as Id;
  };
  const tell = (...changes: readonly Change[]): void => {
    if (!isMuted) queueMicrotask(() => listeners.forEach((listener) => listener(changes)));
  };
  const statement = async (name: string): Promise<void> => {
    counts[name] = (counts[name] ?? 0) + 1;
    await new Promise((resolve) => setImmediate(resolve));
    if (isAway) throw new UnavailableError("reaching the database", { code: "store.unavailable" });
  };
  const need = <K, V>(map: ReadonlyMap<K, V>, key: K): V => {
    const value = map.get(key);
    if (value === undefined) throw new DefectError("finding a row in a test", { code: "test.row", context: { key: String(key) } });
    return value;
  };
  const keyOf = (object: Pick<ShardObject, "instanceId" | "kind" | "subject">): string =>
    `${object.instanceId}|${object.kind}|${object.subject}`;
  const applicationsOf = (unitId: UnitId): readonly Application[] => [...applications.values()].filter((one) => one.unitId === unitId);
  const unitAck = (unit: PlacementUnit): number => Math.min(...UNIT_KINDS.map((kind) => ackOf(unit, kind, unit.id)?.appliedRevision ?? 0));
  const ackOf = (unit: PlacementUnit, kind: ShardObject["kind"], subject: string): ShardObject | undefined => {
    const known = unit.owner === undefined ? undefined : objects.get(keyOf({ instanceId: unit.owner, kind, subject }));
    return known?.epoch === unit.epoch ? known : undefined;
  };
  const raise = (unitId: UnitId): void => {
    const unit = need(units, unitId);
    units.set(unitId, { ...unit, desiredRevision: unit.desiredRevision + 1 });
    tell({ kind: "unit", id: unitId });
  };
  const owned = (instanceId: InstanceId): readonly PlacementUnit[] => [...units.values()].filter((unit) => unit.owner === instanceId);
  const unitOfObject = (object: ShardObject): PlacementUnit | undefined =>
    object.kind === "application"
      ? units.get(applications.get(object.subject as ApplicationId)?.unitId as UnitId)
      : units.get(object.subject as UnitId);

  const shards: ShardStore = {
    async readApplications(ids) {
      await statement("readApplications");
      return ids.flatMap((id) => {
        const application = applications.get(id);
        if (application === undefined) return [];
        const unit = need(units, application.unitId);
        return [
          {
            application,
            unit,
            workspace: need(workspaces, application.workspaceId),
            unitAppliedRevision: unitAck(unit),
            acknowledged: ackOf(unit, "application", id),
          },
        ];
      });
    },
    async readUnit(id) {
      await statement("readUnit");
      const unit = units.get(id);
      if (unit === undefined) return undefined;
      const own = applicationsOf(id);
      const acknowledged = [...objects.values()].filter((object) => object.subject === id);
      return {
        unit,
        workspace: need(workspaces, unit.workspaceId),
        repoUrls: [...new Set(own.map((one) => one.spec.source.repoUrl))].sort(),
        applications: own.length,
        acknowledged,
      };
    },
    async listOwned(instanceId) {
      await statement("listOwned");
      return owned(instanceId).map((unit) => ({ unitId: unit.id, epoch: unit.epoch, workspaceId: unit.workspaceId }));
    },
    async listApplications(instanceId) {
      await statement("listApplications");
      return owned(instanceId).flatMap((unit) =>
        applicationsOf(unit.id).map((one) => ({ applicationId: one.id, argoName: one.argoName, epoch: unit.epoch })),
      );
    },
    async listLagging(instanceId, limit) {
      await statement("listLagging");
      const lagging = owned(instanceId).flatMap((unit) =>
        applicationsOf(unit.id).filter(
          (one) => one.deletedAt !== undefined || (ackOf(unit, "application", one.id)?.appliedRevision ?? 0) < one.desiredRevision,
        ),
      );
      return {
        applications: lagging.map((one) => one.id).slice(0, limit),
        units: owned(instanceId)
          .filter((unit) => unitAck(unit) < unit.desiredRevision)
          .map((unit) => unit.id),
      };
    },
    async acknowledge(batch) {
      await statement("acknowledge");
      const taken = batch.filter(
        (object) =>
          unitOfObject(object)?.epoch === object.epoch && (objects.get(keyOf(object))?.appliedRevision ?? 0) <= object.appliedRevision,
      );
      for (const object of taken) objects.set(keyOf(object), object);
      return taken.length;
    },
    async forgetApplications(ids) {
      await statement("forgetApplications");
      for (const id of ids) if (applications.get(id)?.deletedAt !== undefined) applications.delete(id);
    },
    async forgetWorkspace(id) {
      await statement("forgetWorkspace");
      if ([...applications.values()].some((one) => one.workspaceId === id)) return false;
      for (const unit of [...units.values()]) if (unit.workspaceId === id) units.delete(unit.id);
      return workspaces.delete(id);
    },
  };

  const fleet: FleetStore = {
    ...({} as FleetStore),
    async listInstances() {
      await statement("listInstances");
      return [...instances.values()];
    },
    async readInstance(id) {
      await statement("readInstance");
      return instances.get(id);
    },
  };

  return {
    shards,
    fleet,
    statuses: {
      async recordStatuses(batch) {
        await statement("recordStatuses");
        const current = batch.filter((one) => need(units, need(applications, one.applicationId).unitId).epoch === one.epoch);
        const changed = current.filter((one) => statuses.get(one.applicationId)?.hash !== one.hash);
        for (const one of current) statuses.set(one.applicationId, one);
        return changed.map((one) => one.applicationId);
      },
    },
    changes: {
      subscribe(listener) {
        listeners.add(listener);
        queueMicrotask(() => listener("missed"));
        return () => void listeners.delete(listener);
      },
      isConnected: () => true,
    },
    addInstance(name, over = {}) {
      const base = {
        engineCluster: "engine",
        namespace: `argocd-${name}`,
        pool: "standard",
        class: "eu/shared/public",
        version: "3.5.7",
        desiredVersion: "3.5.7",
      };
      const life = {
        state: "ACTIVE",
        stateSince: millis(0),
        reason: "",
        attempt: 0,
        capacity: ZERO_LOAD,
        weight: 1,
        appliedHash: "",
        revision: 1,
      } as const;
      const instance: Instance = { id: next<InstanceId>("instance"), name, ...base, ...life, ...over };
      instances.set(instance.id, instance);
      tell({ kind: "instance", id: instance.id });
      return instance;
    },
    addUnit(namespace) {
      const workspace: Workspace = {
        id: next<WorkspaceId>("workspace"),
        plane: "kubernetes",
        apiCluster: "api",
        namespace,
        namespaceUid: next("uid"),
        trustClass: "public",
        state: "active",
      };
      workspaces.set(workspace.id, workspace);
      const unit: PlacementUnit = {
        id: next<UnitId>("unit"),
        workspaceId: workspace.id,
        bucket: 0,
        class: "eu/shared/public",
        owner: undefined,
        epoch: 0,
        phase: "UNPLACED",
        load: ZERO_LOAD,
        desiredRevision: 1,
        rowVersion: 1,
      };
      units.set(unit.id, unit);
      return unit;
    },
    place(unitId, owner) {
      epochs += 1;
      const unit: PlacementUnit = { ...need(units, unitId), owner, epoch: epochs, phase: "IDLE" };
      units.set(unitId, unit);
      tell({ kind: "unit", id: unitId }, ...applicationsOf(unitId).map((one) => ({ kind: "application", id: one.id }) as const));
      return unit;
    },
    addApplication(unitId, name, over = {}) {
      const unit = need(units, unitId);
      const id = next<ApplicationId>("application");
      const spec = { ...SPEC, ...over };
      const isNewRepository = !applicationsOf(unitId).some((one) => one.spec.source.repoUrl === spec.source.repoUrl);
      const application: Application = {
        id,
        workspaceId: unit.workspaceId,
        unitId,
        name,
        uid: `uid-${id}`,
        generation: 1,
        spec,
        environmentId: undefined,
        argoName: `${need(workspaces, unit.workspaceId).namespace}-${name}-${id}`,
        desiredRevision: 1,
        deletion: "none",
        deletedAt: undefined,
      };
      applications.set(id, application);
      if (isNewRepository) raise(unitId);
      tell({ kind: "application", id });
      return application;
    },
    changeSpec(id, over) {
      const before = need(applications, id);
      applications.set(id, { ...before, spec: { ...before.spec, ...over }, desiredRevision: before.desiredRevision + 1 });
      if (over.source !== undefined && over.source.repoUrl !== before.spec.source.repoUrl) raise(before.unitId);
      tell({ kind: "application", id });
    },
    deleteApplication(id, deletion) {
      applications.set(id, { ...need(applications, id), deletion, deletedAt: millis(1) });
      tell({ kind: "application", id });
    },
    endWorkspace(unitId) {
      const { workspaceId } = need(units, unitId);
      workspaces.set(workspaceId, { ...need(workspaces, workspaceId), state: "deleting" });
      tell({ kind: "unit", id: unitId });
    },
    retire(id) {
      instances.set(id, { ...need(instances, id), state: "RETIRED" });
      tell({ kind: "instance", id });
    },
    unit: (id) => need(units, id),
    application: (id) => applications.get(id),
    acknowledged: (kind, subject) => [...objects.values()].find((object) => object.kind === kind && object.subject === subject),
    status: (id) => statuses.get(id),
    statements: () => ({ ...counts }),
    missHints: () => listeners.forEach((listener) => listener("missed")),
    mute(muted) {
      isMuted = muted;
    },
    setAway(away) {
      isAway = away;
    },
  };
}
