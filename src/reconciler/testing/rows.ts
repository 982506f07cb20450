import type { Blockage } from "../../domain/blockage.ts";
import { millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import { DefectError, UnavailableError } from "../../domain/errors.ts";
import type { ApplicationId, InstanceId, MoveId, UnitId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { asLoadVector, type LoadVector } from "../../domain/load.ts";
import type { Move } from "../../domain/move.ts";
import type { Operation } from "../../domain/operation.ts";
import { type RepositorySecret, writeRepositorySecret } from "../../domain/repository-credential.ts";
import type { ShardKind, ShardObject } from "../../domain/shard-object.ts";
import type { RecordedStatus } from "../../domain/status.ts";
import type { SyncRun } from "../../domain/sync-run.ts";
import type { Application, ApplicationSpec, Deletion, PlacementUnit } from "../../domain/workspace.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createMemoryStore } from "../../store/adapters/memory/memory-store.ts";
import type { Store } from "../../store/port.ts";
import type { RunIntent } from "../../store/sync-run/port.ts";

export type ReconcilerStore = Pick<Store, "shards" | "statuses" | "syncRuns" | "fleet" | "credentials" | "decisions" | "changes">;

/** Rows, and what others do to them. Each namespace is a workspace with one unit. */
type CredentialOver = { readonly url?: string; readonly secret?: RepositorySecret; readonly createdAt?: string };

export interface TestRows {
  /** What the reconciler is given: its statements are counted, its notifications can be muted. */
  readonly store: ReconcilerStore;
  /** The same rows, uncounted and never away. */
  readonly memory: Store;
  addInstance(name: string, over?: Partial<Instance>): Promise<Instance>;
  retire(instance: Instance): Promise<void>;
  /** `namespaceUid`: of another namespace than the one that had the name first. */
  addApplication(namespace: string, name: string, over?: Partial<ApplicationSpec>, namespaceUid?: string): Promise<Application>;
  place(application: Application, instanceId: InstanceId): Promise<PlacementUnit>;
  /** A live move of the unit has begun. */
  beginMove(unit: PlacementUnit, to: Instance): Promise<Move>;
  changeSpec(application: Application, over: Partial<ApplicationSpec>): Promise<void>;
  deleteApplication(application: Application, deletion: Exclude<Deletion, "none">): Promise<void>;
  endWorkspace(application: Application): Promise<void>;
  /** What the workspace controllers record of an environment. */
  readonly users: Pick<Store, "environments" | "credentials">;
  /** Gives the application's workspace a credential, or changes the one of that name. Returns its uid. */
  addCredential(application: Application, name: string, over?: CredentialOver): Promise<string>;
  revokeCredential(uid: string): Promise<void>;
  /** Records a run of the application's sync and returns its uid. */
  addRun(application: Application, over?: Partial<RunIntent>): Promise<string>;
  cancelRun(uid: string): Promise<void>;
  run(uid: string): Promise<SyncRun | undefined>;
  unit(id: UnitId): Promise<PlacementUnit | undefined>;
  application(id: ApplicationId): Promise<Application | undefined>;
  acknowledged(kind: ShardKind, subject: string): Promise<ShardObject | undefined>;
  status(id: ApplicationId): Promise<RecordedStatus | undefined>;
  blockage(id: ApplicationId): Promise<Blockage | undefined>;
  /** The application's operations, oldest first. */
  operations(id: ApplicationId): Promise<readonly Operation[]>;
  /** Statements of the reconciler so far, by name. */
  statements(): Readonly<Record<string, number>>;
  /** While muted no notification arrives. */
  mute(isMuted: boolean): void;
  /** Says to the reconciler that notifications may have been lost. */
  missNotifications(): void;
  /** While it is away every statement of the reconciler fails. */
  setAway(isAway: boolean): void;
}

const SPEC: ApplicationSpec = {
  source: { repoUrl: "https://git.example/team/app", path: "deploy", targetRevision: "main" },
  destination: {},
  type: "automated",
  createNamespace: false,
};
const BEARER: RepositorySecret = { kind: "bearer", token: "t" };
const AMPLE: LoadVector = asLoadVector({ applications: 1e9, clusterEntries: 1e9, cachedResources: 1e9, milliCpu: 1e9, gitPerMinute: 1e9 });
const DECISION: Decision = { at: millis(0), subject: "test", kind: "fleet", verdict: "TEST", rule: "TEST", details: {} };
const never = new AbortController().signal;

export function createTestRows(): TestRows {
  const memory = createMemoryStore({ clock: systemClock });
  const counts: Record<string, number> = {};
  const listeners = new Set<Parameters<Store["changes"]["subscribe"]>[0]>();
  let isMuted = false;
  let isAway = false;
  let count = 0;

  const counted = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, name) {
        const member: unknown = Reflect.get(object, name);
        if (typeof member !== "function") return member;
        return (...args: unknown[]): unknown => {
          counts[String(name)] = (counts[String(name)] ?? 0) + 1;
          if (isAway) return Promise.reject(new UnavailableError("reaching the database", { code: "test.away" }));
          return Reflect.apply(member, object, args);
        };
      },
    });

  const next = (what: string): string => {
    count += 1;
    return `${what}-${count}`;
  };

  type Request = Pick<Application, "name" | "uid" | "generation" | "spec" | "argoName">;
  const record = async (namespace: string, application: Request, namespaceUid = `uid-of-${namespace}`) => {
    const ids = {
      workspaceId: next("workspace"),
      unitId: next("unit"),
      applicationId: next("application"),
      operationId: next("operation"),
    };
    const [outcome] = await memory.intents.recordDeployments(
      [
        {
          ...application,
          workspace: { plane: "kubernetes", apiCluster: "api", namespace, namespaceUid, trustClass: "public" },
          newIds: ids as never,
          class: "eu/shared/public",
        },
      ],
      never,
    );
    return need(outcome).applicationId;
  };

  const rows: TestRows = {
    memory,
    store: {
      shards: counted(memory.shards),
      statuses: counted(memory.statuses),
      syncRuns: counted(memory.syncRuns),
      fleet: counted(memory.fleet),
      credentials: counted(memory.credentials),
      decisions: counted(memory.decisions),
      changes: {
        ...memory.changes,
        subscribe(listener) {
          listeners.add(listener);
          const end = memory.changes.subscribe((notifications) => (isMuted ? undefined : listener(notifications)));
          return () => {
            listeners.delete(listener);
            end();
          };
        },
      },
    },
    async addInstance(name, over = {}) {
      const place = { engineCluster: "engine", namespace: `argocd-${name}`, pool: "standard", class: "eu/shared/public" };
      const version = { version: "3.5.7", desiredVersion: "3.5.7" };
      const life = {
        state: "ACTIVE",
        stateSince: millis(0),
        reason: "",
        attempt: 0,
        weight: 1,
        appliedHash: "",
        cause: undefined,
        halt: "none",
        failsOver: false,
        entries: "shared",
        revision: 1,
      } as const;
      const instance: Instance = { id: next("instance") as InstanceId, name, ...place, ...version, ...life, capacity: AMPLE, ...over };
      await memory.fleet.insertInstance(instance, DECISION, never);
      return need(await memory.fleet.readInstance(instance.id, never));
    },
    async retire({ id, revision }) {
      await memory.fleet.changeInstance(
        { id, revision, state: "RETIRED", reason: "test", cause: undefined, attempt: 0, decision: undefined },
        never,
      );
    },
    async addApplication(namespace, name, over = {}, namespaceUid) {
      const unique = next(`${namespace}-${name}`);
      const request = { name, uid: `uid-${unique}`, generation: 1, spec: { ...SPEC, ...over }, argoName: unique };
      const id = await record(namespace, request, namespaceUid);
      return need(await rows.application(id));
    },
    async place({ unitId }, instanceId) {
      const { rowVersion } = need(await rows.unit(unitId));
      await memory.placements.commitFirstPlacement({ unitId, rowVersion, instanceId, ceiling: AMPLE, decision: DECISION }, never);
      return need(await rows.unit(unitId));
    },
    async beginMove({ id: unitId, epoch }, { id: to }) {
      const id = next("move") as MoveId;
      const why = { kind: "voluntary", reason: "FORCED", plan: undefined, reverses: undefined, isFailOver: false, actor: "otto" } as const;
      await memory.moves.request({ id, unitId, to, epoch, ...why, ceiling: AMPLE, decision: DECISION }, never);
      await memory.moves.begin(id, never);
      return need(await memory.moves.read(id, never));
    },
    async changeSpec({ id }, over) {
      const [row] = await memory.shards.readApplications([id], never);
      const { application, workspace } = need(row);
      await record(workspace.namespace, { ...application, generation: application.generation + 1, spec: { ...application.spec, ...over } });
    },
    async deleteApplication({ uid }, deletion) {
      await memory.intents.recordDeletions([{ uid, deletion, operationId: next("operation") as never }], never);
    },
    users: memory,
    endWorkspace: ({ workspaceId }) => memory.intents.recordWorkspaceEnds([workspaceId], never),
    async addCredential({ id }, name, { url = SPEC.source.repoUrl, secret = BEARER, createdAt = "2026" } = {}) {
      const [row] = await memory.shards.readApplications([id], never);
      const { workspace, unit } = need(row);
      const uid = `uid-of-credential-${workspace.namespace}-${name}`;
      const newIds = {
        ...{ workspaceId: workspace.id, unitId: unit.id },
        ...{ repositoryCredentialId: next("repository-credential"), credentialId: next("secret") },
      };
      const resource = { name, uid, generation: 1, createdAt, url, urlKey: url.toLowerCase(), secretVersion: "1" };
      const secretText = writeRepositorySecret(secret);
      await memory.repositoryCredentials.record(
        { ...resource, workspace, newIds: newIds as never, class: unit.class, secret: secretText },
        never,
      );
      return uid;
    },
    revokeCredential: (uid) => memory.repositoryCredentials.revoke([uid], never),
    async addRun({ uid: deploymentUid }, over = {}) {
      const uid = next("run");
      const at = { apiCluster: "api", namespace: "team", name: uid };
      const intent = { uid, ...at, deploymentUid, revision: "", prune: false, createdAt: systemClock.now(), ...over };
      await memory.syncRuns.record([intent], never);
      return uid;
    },
    cancelRun: (uid) => memory.syncRuns.cancel([uid], never),
    run: async (uid) => (await memory.syncRuns.readViews([uid], never))[0]?.run,
    unit: async (id) => (await memory.shards.readUnit(id, never))?.unit,
    application: async (id) => (await memory.shards.readApplications([id], never))[0]?.application,
    async acknowledged(kind, subject) {
      if (kind === "application") return (await memory.shards.readApplications([subject as ApplicationId], never))[0]?.acknowledged;
      return (await memory.shards.readUnit(subject as UnitId, never))?.acknowledged.find((object) => object.kind === kind);
    },
    status: async (id) => (await memory.intents.readByIds([id], never))[0]?.status,
    blockage: async (id) => (await memory.intents.readByIds([id], never))[0]?.blockage,
    operations: async (id) =>
      (await memory.operations.listOperations({}, { limit: 1000, after: "" }, never)).filter(({ subject }) => subject === id),
    statements: () => ({ ...counts }),
    mute(muted) {
      isMuted = muted;
    },
    missNotifications: () => listeners.forEach((listener) => listener("missed")),
    setAway(away) {
      isAway = away;
    },
  };
  return rows;
}

function need<T>(value: T | undefined): T {
  if (value === undefined) throw new DefectError("finding a row in a test", { code: "test.row" });
  return value;
}
