import { millis } from "../../domain/clock.ts";
import type { EnvironmentId, InstanceId, MoveId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { LABEL_UNIT } from "../../domain/names.ts";
import type { ShardObject } from "../../domain/shard-object.ts";
import type { Application } from "../../domain/workspace.ts";
import { APPLICATIONS, ROLE_BINDINGS, SERVICE_ACCOUNTS } from "../../reconciler/adapters/kubernetes/types.ts";
import type { Reconciler } from "../../reconciler/controller.ts";
import type { UnitPrerequisites } from "../../reconciler/port.ts";
import { addEnvironment, PROD } from "../../reconciler/testing/environments.ts";
import { eventually } from "../../reconciler/testing/until.ts";
import { DESTINATION, NAMESPACES, TOKEN_LIFE, type World } from "../../reconciler/testing/world.ts";
import { systemClock } from "../../runtime/clock.ts";
import type { KubeObject } from "../../runtime/kube/resource.ts";
import { type ApplicationObservation, parseObservation, parseOwnerBinding } from "../../shard/parse-observation.ts";
import type { DesiredUnit } from "../../store/shard/port.ts";
import { aDecision, WIDE } from "../../store/testing/builders.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { clusterAccountName } from "../../workspace/environment/account-objects.ts";
import { createAccountController } from "../../workspace/environment/grant-access.ts";
import type { ClusterAccounts } from "../../workspace/environment/port.ts";
import { createTargetClusters, type TargetClusters } from "../../workspace/environment/testing/target-clusters.ts";
import { createEnvironmentOwnerBindings } from "../../workspace/environment/write-owner-bindings.ts";
import { createManagedCluster, createObservations } from "../adapters/kubernetes/clusters.ts";
import { createMoveWorker, type MoveWorker } from "../carry-out-move.ts";
import { nextMoveStep } from "../next-step.ts";
import type { ManagedCluster } from "../port.ts";
import { createUnseenChanges } from "../unseen-changes.ts";

/** A unit of two applications that stands on one of two instances, in a world with a running reconciler. */
export interface HandOver {
  readonly instances: readonly [Instance, Instance];
  readonly applications: readonly Application[];
  readonly unitId: UnitId;
  readonly reconciler: Reconciler;
  readonly elsewhere: Elsewhere | undefined;
  owner(): Promise<InstanceId | undefined>;
  /** Asks for a move to the other instance, and begins it. */
  begin(how?: { readonly isFailOver: boolean }): Promise<{ readonly id: MoveId; readonly to: Instance; readonly from: Instance }>;
  /** A worker with a memory of its own, whose every call goes through `wrap`. */
  worker(wrap?: <T extends object>(port: T) => T): MoveWorker;
  /** From now on each phase began this much longer ago, in ms. */
  late(ms: number): void;
  /** Works, and lets both Argo CDs refresh, until the move has ended; what a run throws is met again by the next. */
  workUntilEnd(id: MoveId, worker: () => { carryOn(id: MoveId, signal: AbortSignal): Promise<unknown> }): Promise<void>;
  observations(instance: Instance): Promise<readonly ApplicationObservation[]>;
  /** Names of those whom the owner binding lets write. */
  holders(): Promise<readonly string[]>;
  /** Names of the accounts that stand for the unit, on whatever instance. */
  accounts(): Promise<readonly string[]>;
  /** Takes an Application away by hand, with nothing of what it deployed. */
  remove(instance: Instance, name: string): Promise<void>;
  /** Lets each Argo CD refresh what is not paused. */
  observe(): Promise<void>;
}

/** Durations pass between runs, so that no test waits for a proof; the time of day is the store's. */
function createStepClock() {
  let passed = 0;
  return {
    pass(ms: number): void {
      passed += ms;
    },
    clock: { now: () => millis(Date.now()), monotonicMs: () => performance.now() + passed, after: () => () => undefined },
  };
}

const ELSEWHERE = { destination: { environment: "prod", namespace: "web" } };
const STATUS = { sync: { status: "Synced", revision: "0123" }, health: { status: "Healthy" } };
let count = 0;

/** Everything of ours in an environment that one of the unit's applications deploys to. */
export interface Elsewhere {
  readonly id: EnvironmentId;
  readonly clusters: TargetClusters;
  /** What the workspace controllers do when they visit the environment: the owner gets an account. */
  install(): Promise<void>;
  /** The name an instance's account has there. */
  account(instance: Instance): string;
  /** From now on it is recorded that an instance enters it with something else than its account. */
  enterFreely(instance: Instance): Promise<void>;
  /** The token an instance enters it with; `undefined`: it has no entry. */
  tokenOn(instance: Instance): Promise<string | undefined>;
  /** From when on an instance is to have read its cluster anew; `undefined`: nobody asks for that. */
  readAgainAt(instance: Instance): Promise<string | undefined>;
}

const TOKENS = { tokenLife: TOKEN_LIFE, clock: systemClock, log: silentLog, metrics: noMetrics };

/** The environment `prod` with accounts of its own, and the account of the unit's owner. */
async function addElsewhere(world: World, unitId: UnitId): Promise<Elsewhere> {
  const { rows, signal } = world;
  const environment = await addEnvironment(world);
  const clusters = createTargetClusters();
  clusters.serve(PROD, "the user's");
  const scope = { apiUrl: PROD, namespaces: ["web"], clusterResources: false, isInsecure: false, createsAccount: true };
  const accounts = createAccountController({ ...rows.memory, ...TOKENS, accounts: clusters });
  const known = await rows.memory.shards.readUnit(unitId, signal);
  const ask = { id: environment.id, workspaceId: known?.workspace.id as WorkspaceId, request: { ...scope, secretName: "creds" } };
  const install = async (): Promise<void> => {
    const credential = { server: PROD, token: "the user's" };
    const done = await accounts.install({ ...ask, credential, egress: { allow: [], http: [] } }, signal);
    if (done.kind !== "installed") throw new Error(`making an account: ${done.kind}`);
    await rows.memory.environments.connect({ id: environment.id, generation: 1, fingerprint: done.fingerprint, ...scope }, signal);
  };
  await install();
  return {
    id: environment.id,
    clusters,
    install,
    account: ({ id: instanceId }) => clusterAccountName(environment.id, { unitId, instanceId }),
    async enterFreely({ id: instanceId }) {
      const { unit, acknowledged } = (await rows.memory.shards.readUnit(unitId, signal)) as DesiredUnit;
      const entry = acknowledged.find((object) => object.kind === "cluster-entry" && object.instanceId === instanceId) as ShardObject;
      await rows.memory.shards.acknowledge([{ ...entry, epoch: unit.epoch, hash: "of the user's own credential" }], signal);
    },
    readAgainAt: ({ namespace }) => environment.readAgainAt(namespace),
    async tokenOn(instance) {
      const config = (await environment.entry(instance.namespace))?.["config"];
      return config === undefined ? undefined : (JSON.parse(config) as { readonly bearerToken?: string }).bearerToken;
    },
  };
}

export async function startHandOver(world: World, { isElsewhere = false } = {}): Promise<HandOver> {
  const { rows, hands, signal } = world;
  const { memory } = rows;
  const [one, two] = [await rows.addInstance("one"), await rows.addInstance("two")];
  const applications = [
    await rows.addApplication("team-a", "web"),
    await rows.addApplication("team-a", "api", isElsewhere ? ELSEWHERE : {}),
  ];
  const { unitId } = applications[0] as Application;
  await rows.place(applications[0] as Application, one.id);
  const elsewhere = isElsewhere ? await addElsewhere(world, unitId) : undefined;
  const reconciler = await world.startReconciler();
  await eventually("both applications stand", async () => {
    const known = await Promise.all(applications.map(({ id }) => rows.acknowledged("application", id)));
    return known.every((each) => each !== undefined);
  });
  let lateMs = 0;
  const time = createStepClock();
  // The rows say by which uid each namespace is known; these worlds make none.
  const readNamespace: ManagedCluster["readNamespace"] = async (name) => ({ uid: `uid-of-${name}`, isDeleting: false });
  const real = { ...createManagedCluster(hands.api), readNamespace };

  const holders = async (): Promise<readonly string[]> => {
    const raw = await hands.api.get<KubeObject>(ROLE_BINDINGS, { namespace: "team-a", name: "argosy-deployer" }, signal);
    return raw === undefined ? [] : (parseOwnerBinding(raw)?.subjects ?? []);
  };
  /** The authoriser's part, which the fake server does not have: those whom the owner binding names may write. */
  const managed: ManagedCluster = {
    ...real,
    async ask(user) {
      const isAllowed = (await holders()).some((name) => user.endsWith(`:${name}`));
      const trial = isAllowed ? { status: 201, message: "" } : { status: 403, message: `User "${user}" cannot create resource` };
      return [{ endpoint: "fake", isAllowed, trial }];
    },
  };
  const list = async (instance: Instance): Promise<readonly KubeObject[]> =>
    (await hands.engine.listPage<KubeObject>(APPLICATIONS, { namespace: instance.namespace }, signal)).items;

  const over: HandOver = {
    ...{ instances: [one, two], applications, unitId, reconciler, holders, elsewhere },
    owner: async () => (await rows.unit(unitId))?.owner,
    async begin({ isFailOver } = { isFailOver: false }) {
      const unit = await rows.unit(unitId);
      const [from, to] = unit?.owner === one.id ? [one, two] : [two, one];
      count += 1;
      const id = `move-${count}` as MoveId;
      const request = { id, unitId, to: to.id, epoch: unit?.epoch ?? 0, kind: "voluntary", reason: "FORCED", plan: undefined } as const;
      const outcome = await memory.moves.request(
        { ...request, reverses: undefined, isFailOver, actor: "otto", ceiling: WIDE, decision: aDecision() },
        signal,
      );
      if (outcome.kind !== "requested") throw new Error(`asking for a move: ${outcome.kind}`);
      if ((await memory.moves.begin(id, signal)) !== "begun") throw new Error("the move did not begin");
      return { id, to, from };
    },
    worker(wrap = (port) => port) {
      const store = { moves: wrap(memory.moves), shards: wrap(memory.shards), intents: memory.intents };
      const observations = wrap(createObservations(hands.engine));
      const clusters = elsewhere?.clusters ?? createTargetClusters();
      return createMoveWorker({
        ...{ store, clock: time.clock, destination: DESTINATION, namespaces: NAMESPACES, log: silentLog, fenceMs: 2_000 },
        observations: { of: async () => observations },
        managed: wrap(managed),
        unitPrerequisites: wrap<UnitPrerequisites>(reconciler.unitPrerequisites),
        ownerBindings: createEnvironmentOwnerBindings({
          ...TOKENS,
          store: memory,
          accounts: wrap<ClusterAccounts>(clusters),
        }),
        watch: { isHeard: () => false },
        unseen: createUnseenChanges(),
        meter: { entered() {} },
        decide: (move, seen) => nextMoveStep(move, { ...seen, now: millis(seen.now + lateMs) }),
      });
    },
    late(ms) {
      lateMs = ms;
    },
    async workUntilEnd(id, worker) {
      for (let round = 0; round < 200; round += 1) {
        await worker()
          .carryOn(id, signal)
          .catch(() => undefined);
        await over.observe();
        time.pass(1_000);
        if ((await memory.moves.read(id, signal))?.endedAt !== undefined) return;
      }
      throw new Error(`the move did not end: ${JSON.stringify(await memory.moves.read(id, signal))}`);
    },
    async accounts() {
      const labelSelector = `${LABEL_UNIT}=${unitId}`;
      const page = await hands.api.listPage<KubeObject>(SERVICE_ACCOUNTS, { namespace: NAMESPACES.accounts, labelSelector }, signal);
      return page.items.map(({ metadata }) => metadata.name);
    },
    remove: ({ namespace }, name) => hands.engine.delete(APPLICATIONS, { namespace, name }, {}, signal),
    observations: async (instance) => (await list(instance)).flatMap((raw) => parseObservation(raw) ?? []),
    async observe() {
      for (const instance of over.instances) {
        for (const raw of await list(instance)) {
          const observation = parseObservation(raw);
          if (observation === undefined || observation.isPaused || !observation.awaitsRefresh) continue;
          const annotations = { "argocd.argoproj.io/refresh": null };
          const status = { ...STATUS, reconciledAt: new Date(time.clock.now()).toISOString() };
          const at = { namespace: instance.namespace, name: raw.metadata.name };
          await hands.engine.mergePatch(APPLICATIONS, at, { metadata: { annotations }, status }, signal).catch(() => undefined);
        }
      }
    },
  };
  return over;
}
