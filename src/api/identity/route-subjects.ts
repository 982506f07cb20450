import { GoneError, InputError } from "../../domain/errors.ts";
import { classOf } from "../../domain/fleet.ts";
import type { MoveId, PlanId, RolloutId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { findByPrefix, findInstance, findWorkspace } from "../find.ts";
import type { ApiDeps } from "../port.ts";
import { type Subject, workspaceSubject } from "./scope.ts";

/** What was asked for, as the schema of its route has checked it. */
export interface Asked {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

type Deps = Pick<ApiDeps, "store">;
/** Everything that a request is about; `undefined`: it is not there, which a limited role does not tell apart from what it does not cover. */
type Find = (asked: Asked, deps: Deps, signal: AbortSignal) => Promise<readonly Subject[] | undefined>;

/**
 * What a request of an operation is about:
 * - `open`: no token is needed
 * - `caller`: whoever asks, alone
 * - `fleet`: all of it; a limited role does not do
 * - `list`: many things; the route shows those alone that lie within `request.scopes`
 * - otherwise what is found by it, and all of that has to lie within what the role is limited to.
 */
export type RouteSubject = "open" | "caller" | "fleet" | "list" | Find;

const NOTHING: readonly Subject[] = [];

/** The one table of them. A route that is not in it is for unlimited roles alone, and fails a test. */
export const ROUTE_SUBJECTS: Readonly<Record<string, RouteSubject>> = {
  // Without a token.
  health: "open",
  readiness: "open",
  version: "open",
  // About whoever asks.
  readWhoami: "caller",
  // The fleet as a whole: what is declared, what Argosy stands on, who may do what, and whatever has no class.
  readFleet: "fleet",
  applyFleet: "fleet",
  runDoctor: "fleet",
  readAdoptionRules: "fleet",
  keepName: "fleet",
  listFleetProposals: "fleet",
  readFleetProposal: "fleet",
  approveFleetProposal: "fleet",
  rejectFleetProposal: "fleet",
  withdrawFleetProposal: "fleet",
  // Whoever makes a token gives a role away, and a limited one would make himself an unlimited one.
  createToken: "fleet",
  listTokens: "fleet",
  revokeToken: "fleet",
  listAudit: "fleet",
  listVersions: "fleet",
  unfreezeVersion: "fleet",
  putFreeze: "fleet",
  deleteFreeze: "fleet",
  // These change how many instances a pool has, or what they bear: that is part of the declaration.
  createInstance: "fleet",
  retireInstance: "fleet",
  applyCalibration: "fleet",
  // Lists.
  listInstances: "list",
  listWorkspaces: "list",
  listApplications: "list",
  listHealth: "list",
  listFreezes: "list",
  listMoves: "list",
  listPlans: "list",
  listRebalancing: "list",
  listCapacity: "list",
  listCost: "list",
  listRollouts: "list",
  topInstances: "list",
  topWorkspaces: "list",
  // Lists that can be asked for one thing alone, and have to be.
  listOperations: ({ query }, deps, signal) => workspace(query["namespace"], deps, signal),
  listDecisions: journal,
  // A workspace.
  explainWorkspace: ({ params }, deps, signal) => workspace(params["workspace"], deps, signal),
  exportWorkspace: ({ params }, deps, signal) => workspace(params["workspace"], deps, signal),
  pinWorkspace: ({ params }, deps, signal) => workspace(params["workspace"], deps, signal),
  holdWorkspace: ({ params }, deps, signal) => workspace(params["workspace"], deps, signal),
  // It leaves one class and comes to another.
  assignWorkspace: async ({ params, body }, deps, signal) => {
    const subjects = await workspace(params["workspace"], deps, signal);
    const to = body["class"];
    return typeof to === "string" ? subjects && [...subjects, { kind: "class", class: to }] : subjects;
  },
  moveWorkspace: ({ body }, deps, signal) => workspace(body["workspace"], deps, signal),
  tryMove: ({ body }, deps, signal) => workspace(body["workspace"], deps, signal),
  readMove: move,
  abortMove: move,
  reverseMove: move,
  // An instance, and so everybody on it.
  explainInstance: ({ params }, deps, signal) => instance(params["instance"], deps, signal),
  readHealth: ({ params }, deps, signal) => instance(params["instance"], deps, signal),
  calibrateInstance: ({ params }, deps, signal) => instance(params["instance"], deps, signal),
  cordonInstance: ({ params }, deps, signal) => instance(params["instance"], deps, signal),
  readDrain: ({ params }, deps, signal) => instance(params["instance"], deps, signal),
  drainInstance: ({ params }, deps, signal) => instance(params["instance"], deps, signal),
  tryDrain: ({ params }, deps, signal) => instance(params["instance"], deps, signal),
  // A class.
  makePlan: wantedPlan,
  supposeChange: ({ body }) => Promise.resolve(typeof body["class"] === "string" ? [{ kind: "class", class: body["class"] }] : undefined),
  readPlan: plan,
  applyPlan: plan,
  createRollout: ({ body }, deps, signal) => pool(body["pool"], deps, signal),
  tryRollout: ({ body }, deps, signal) => pool(body["pool"], deps, signal),
  readRollout: rollout,
  pauseRollout: rollout,
  resumeRollout: rollout,
  abortRollout: rollout,
  approveRollout: rollout,
};

async function workspace(name: unknown, deps: Deps, signal: AbortSignal): Promise<readonly Subject[] | undefined> {
  if (typeof name !== "string") return undefined;
  const found = await orNothing(() => findWorkspace(deps, name, signal));
  return found && [workspaceSubject(found)];
}

async function instance(name: unknown, deps: Deps, signal: AbortSignal): Promise<readonly Subject[] | undefined> {
  if (typeof name !== "string") return undefined;
  const found = await orNothing(() => findInstance(deps, name, signal));
  return found && [{ kind: "class", class: found.class }];
}

/** Of what is gone nobody knows any more whose it was. */
async function move({ params }: Asked, deps: Deps, signal: AbortSignal): Promise<readonly Subject[] | undefined> {
  const { store } = deps;
  const id = String(params["move"]);
  const found =
    (await store.moves.read(id as MoveId, signal)) ??
    (await orNothing(async () => findByPrefix("move", id, await store.moves.list({}, MOST_READ, signal))));
  const unit = found && (await store.placements.readUnit(found.unitId, signal));
  return unit && [workspaceSubject({ workspace: unit.workspace, units: [unit.unit] })];
}

/** More than are kept, and as many as the routes themselves search. */
const MOST_READ = 100_000;
const PLANS_READ = 1000;
const ROLLOUTS_READ = 100;

async function plan({ params }: Asked, { store }: Deps, signal: AbortSignal): Promise<readonly Subject[] | undefined> {
  const id = String(params["plan"]);
  const found =
    (await store.plans.read(id as PlanId, signal)) ??
    (await orNothing(async () => findByPrefix("plan", id, await store.plans.list({}, PLANS_READ, signal))));
  return found && [{ kind: "class", class: found.class }];
}

/** A plan for all classes is one for the fleet. */
function wantedPlan({ body }: Asked, deps: Deps, signal: AbortSignal): Promise<readonly Subject[] | undefined> {
  const { goal = "rebalance", subject } = body;
  if (goal === "add") return pool(subject, deps, signal);
  if (goal !== "rebalance") return instance(subject, deps, signal);
  const only = body["class"];
  return Promise.resolve(typeof only === "string" ? [{ kind: "class", class: only }] : undefined);
}

async function rollout({ params }: Asked, deps: Deps, signal: AbortSignal): Promise<readonly Subject[] | undefined> {
  const { store } = deps;
  const id = String(params["rollout"]);
  const found =
    (await store.rollouts.read(id as RolloutId, signal)) ??
    (await orNothing(async () => findByPrefix("rollout", id, await store.rollouts.list(ROLLOUTS_READ, signal))));
  return pool(found?.pool, deps, signal);
}

/** The classes of a pool: as it is declared, and of the instances that it has. */
async function pool(name: unknown, { store }: Deps, signal: AbortSignal): Promise<readonly Subject[] | undefined> {
  if (typeof name !== "string") return undefined;
  const classes = classesOfPool(name, {
    instances: await store.fleet.listInstances(signal),
    pools: (await store.fleet.readFleet(signal))?.spec.pools ?? [],
  });
  return classes.length === 0 ? undefined : classes.map((one) => ({ kind: "class", class: one }));
}

export function classesOfPool(
  name: string,
  {
    instances,
    pools,
  }: { readonly instances: readonly Instance[]; readonly pools: readonly (Parameters<typeof classOf>[0] & { readonly name: string })[] },
): readonly string[] {
  const declared = pools.filter((one) => one.name === name).map(classOf);
  const standing = instances.filter((one) => one.pool === name && one.state !== "RETIRED").map((one) => one.class);
  return [...new Set([...declared, ...standing])].sort();
}

/** By a subject's id anything can be asked for, beside what else is named: the answer is about all of it. */
async function journal({ query }: Asked, deps: Deps, signal: AbortSignal): Promise<readonly Subject[] | undefined> {
  const { subject, workspace: namespace, instance: name } = query;
  if (subject !== undefined || (namespace === undefined && name === undefined)) return undefined;
  const found = await Promise.all([
    namespace === undefined ? NOTHING : workspace(namespace, deps, signal),
    name === undefined ? NOTHING : instance(name, deps, signal),
  ]);
  return found.every((each) => each !== undefined) ? found.flat() : undefined;
}

/** That there is none, and that several are meant, would both tell of what is not the caller's. */
async function orNothing<T>(find: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof GoneError || error instanceof InputError) return undefined;
    throw error;
  }
}
