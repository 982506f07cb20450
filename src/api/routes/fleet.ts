import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { isAnyScaled, withSizes } from "../../domain/capacity.ts";
import { millis } from "../../domain/clock.ts";
import { mayKindBeDeployed } from "../../domain/deployable-kinds.ts";
import { GoneError } from "../../domain/errors.ts";
import { EVERY_GROUP, type FleetSpec } from "../../domain/fleet.ts";
import {
  approvalsFor,
  type FleetProposal,
  firstMaker,
  type NeededApproval,
  type Person,
  PROPOSAL_MS,
} from "../../domain/fleet-approval.ts";
import { diffFleet } from "../../domain/fleet-diff.ts";
import { canonicalJson } from "../../domain/hash.ts";
import { changedParts, nextBuild, undigestedParts } from "../../domain/release.ts";
import type { StoredFleet } from "../../store/fleet/port.ts";
import type { DeployedKind } from "../../store/operation/port.ts";
import type { Store } from "../../store/port.ts";
import { againWhenStale } from "../again-when-stale.ts";
import { fleetChange, neededApproval, proposalView, viewOfChanges, viewOfNeeds, viewOfProposal } from "../fleet-views.ts";
import type { ApiDeps, FleetComplaint } from "../port.ts";
import { problem, sendProblem } from "../problem.ts";
import { frozenComplaints } from "../version-views.ts";

const flag = z.enum(["true", "false"]).default("false");
const instance = z
  .object({
    instance: z.string(),
    pool: z.string(),
    change: z
      .enum(["created", "retired", "waits", "recalled", "resized", "left"])
      .describe("waits: it gets no new units and is retired when it holds none; left: nobody asks for it, prune=true retires it"),
    units: z.number().int().describe("units it holds now"),
    reason: z.string(),
  })
  .meta({ id: "PlannedChange" });
const lostKind = z
  .object({ group: z.string(), kind: z.string(), applications: z.number().int().describe("that have one at least") })
  .meta({ id: "LostKind" });
const answer = z
  .object({
    revision: z.number().int().describe("of the fleet in force; 0 while none is declared"),
    changed: z.boolean(),
    dryRun: z.boolean(),
    pools: z.array(z.string()),
    changes: z.array(fleetChange).describe("what differs from what was declared before, sorted by path"),
    instances: z.array(instance).describe("what becomes of instances, by pool and name"),
    lostKinds: z
      .array(lostKind)
      .describe("kinds that applications have and that this declaration stops allowing; those that most have first"),
    needs: z.array(neededApproval).describe("what of it waits for a second person once it is not a dry run any more"),
  })
  .meta({ id: "AppliedFleet" });
export type AppliedFleet = z.infer<typeof answer>;

const declared = z
  .object({
    revision: z.number().int(),
    pruned: z.array(z.string()).describe("pools that are not declared any more and whose instances leave"),
    document: z.record(z.string(), z.unknown()).describe("the Fleet document as PUT takes it, every default written out"),
  })
  .meta({ id: "DeclaredFleet" });
export type DeclaredFleet = z.infer<typeof declared>;

/** Reading what is declared, which names Secrets and holds none. */
export function addFleetView(server: FastifyInstance, deps: ApiDeps): void {
  server.withTypeProvider<ZodTypeProvider>().get(
    "/v1/fleet",
    {
      schema: {
        operationId: "readFleet",
        summary: "The declared fleet, as a document that may be declared again",
        security: [{ token: [] }],
        response: { 200: declared },
      },
    },
    async () => {
      const stored = await deps.store.fleet.readFleet(AbortSignal.timeout(30_000));
      if (stored === undefined)
        throw new GoneError("no fleet is declared yet; `argosy apply -f fleet.yaml` declares one", { code: "api.no-fleet" });
      return { revision: stored.revision, pruned: [...stored.pruned], document: deps.renderFleet(stored.spec) };
    },
  );
}

/** Writing what is declared. */
export function addFleetRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  app.put(
    "/v1/fleet",
    {
      schema: {
        operationId: "applyFleet",
        summary: "Declares the fleet; with dryRun=true only checks the document and says what it would change",
        security: [{ token: [] }],
        querystring: z.object({
          dryRun: flag,
          prune: flag.describe("let the instances of pools go that the document leaves out"),
        }),
        body: z.unknown().describe("a Fleet document (kind: Fleet)"),
        response: { 200: answer, 202: proposalView.describe("it waits for an approver who is somebody else") },
      },
    },
    async (request, reply) => {
      const parsed = deps.parseFleet(request.body);
      if (!parsed.ok) return sendProblem(reply, refusal(parsed.complaints));
      const complaints = await findComplaints(deps, parsed.spec);
      if (complaints.length > 0) return sendProblem(reply, refusal(complaints));
      const unsaid = parsed.saysGroups ? [] : await groupComplaints(deps, parsed.spec);
      if (unsaid.length > 0) return sendProblem(reply, refusal(unsaid));
      const { dryRun, prune } = request.query;
      const wanted = { spec: parsed.spec, by: await findPerson(deps, request.actor), dryRun: dryRun === "true", prune: prune === "true" };
      const outcome = await againWhenStale(() => declare(deps, wanted));
      if (outcome.kind === "applied") return outcome.applied;
      const { proposal } = outcome;
      return reply.code(202).send(viewOfProposal(proposal, { now: deps.clock.now(), revision: proposal.base }));
    },
  );
}

export function refusal(complaints: readonly FleetComplaint[]) {
  const detail = complaints.map((c) => `${c.path}: ${c.message}. ${c.remedy}`).join("\n");
  return problem({ status: 422, code: "fleet.invalid", detail, complaints: complaints.map((c) => ({ ...c })) });
}

/**
 * A document from before `allowedGroups`, in Git, says nothing of it, and is declared again by whoever merges there. Where the fleet in
 * force allows every group, that would take away what users deploy without anybody having said so.
 */
async function groupComplaints({ store }: ApiDeps, spec: FleetSpec): Promise<readonly FleetComplaint[]> {
  const before = (await store.fleet.readFleet(AbortSignal.timeout(30_000)))?.spec;
  if (before?.deployments.allowedGroups.includes(EVERY_GROUP) !== true) return [];
  const lost = await findLostKinds(store, before, spec);
  const named = lost.slice(0, LOST_NAMED).map(({ group, kind }) => `${kind} of ${group || "core"}`);
  const inUse =
    lost.length === 0 ? "" : `, and applications have ${[...named, ...(lost.length > LOST_NAMED ? ["others"] : [])].join(", ")}`;
  return [
    {
      path: "deployments.allowedGroups",
      message: `is missing, while the fleet in force allows every group${inUse}`,
      remedy: 'Give the groups that workspaces may deploy; ["*"] keeps it as it is, and [] allows the kinds of Kubernetes alone',
    },
  ];
}

const LOST_NAMED = 10;

/** What applications have that was allowed and is no longer. Nothing is read where both allow the same. */
async function findLostKinds(
  { operations }: Pick<Store, "operations">,
  before: FleetSpec | undefined,
  after: FleetSpec,
): Promise<readonly DeployedKind[]> {
  if (before === undefined || canonicalJson(before.deployments) === canonicalJson(after.deployments)) return [];
  const deployed = await operations.listDeployedKinds(AbortSignal.timeout(30_000));
  return deployed.filter((one) => mayKindBeDeployed(one, before.deployments) && !mayKindBeDeployed(one, after.deployments));
}

/** Who makes a request, with who made the token of it. */
export async function findPerson({ store }: Pick<ApiDeps, "store">, actor: string): Promise<Person> {
  const tokens = await store.tokens.list(AbortSignal.timeout(30_000));
  return { actor, owner: firstMaker(actor, new Map(tokens.map(({ name, createdBy }) => [name, createdBy]))) };
}

/** What speaks against a declaration by what was declared and rolled out before. */
export async function findComplaints({ store }: Pick<ApiDeps, "store">, spec: FleetSpec): Promise<readonly FleetComplaint[]> {
  const signal = AbortSignal.timeout(30_000);
  const [declared, known] = [(await store.fleet.readFleet(signal))?.spec, await store.fleet.listReleaseParts(signal)];
  const taken = [...known, ...spec.versions.catalogue].map(({ version }) => version);
  return [
    ...changedParts(known, declared, spec).map(({ index, part, version }) => ({
      path: `versions.catalogue[${index}].${part}`,
      message: `is another image than the one that release ${version} was declared with, and a release never changes`,
      remedy: `Declare it as a release of its own, ${nextBuild(version, taken)}, and give that to instances with argosy rollout create`,
    })),
    ...undigestedParts(known, declared, spec).map(({ index, part }) => ({
      path: `versions.catalogue[${index}].${part}`,
      message: "has no digest, and a tag may name another image tomorrow",
      remedy: "Give it as name:tag@sha256:…; `docker buildx imagetools inspect <image>` prints the digest",
    })),
    ...frozenComplaints(spec, await store.rollouts.listFrozen(signal)),
  ];
}

interface Declaration {
  readonly spec: FleetSpec;
  readonly by: Person;
  readonly dryRun: boolean;
  readonly prune: boolean;
}

type Outcome =
  | { readonly kind: "applied"; readonly applied: AppliedFleet }
  | { readonly kind: "proposed"; readonly proposal: FleetProposal };

/** Tells what becomes of instances from the rows as they are before the provisioner has acted on the new declaration. */
async function declare(deps: ApiDeps, wanted: Declaration): Promise<Outcome> {
  const { store, planFleet } = deps;
  const { spec, by, dryRun, prune } = wanted;
  const signal = AbortSignal.timeout(30_000);
  const before = await store.fleet.readFleet(signal);
  const [instances, units] = [await store.fleet.listInstances(signal), await store.fleet.countUnits(signal)];
  const isFirst = before === undefined && instances.length === 0 && units.size === 0;
  const needs = isFirst || deps.approvals.fleet === "nobody" ? [] : approvalsFor(before?.spec, spec);
  if (needs.length > 0 && !dryRun) return { kind: "proposed", proposal: await propose(deps, { wanted, before, needs }, signal) };
  const isDeclared = (name: string): boolean => spec.pools.some((pool) => pool.name === name);
  const peopled = instances.filter(({ state }) => state !== "RETIRED").map(({ pool }) => pool);
  const pruned = [...new Set(prune ? peopled : before?.pruned)].filter((name) => !isDeclared(name)).sort();
  const sizes = isAnyScaled(spec) ? await store.loads.listSizes(signal) : {};
  const plan = planFleet({ spec: withSizes(spec, sizes), pruned, instances, units });
  const lostKinds = await findLostKinds(store, before?.spec, spec);
  const isSame = before !== undefined && canonicalJson([before.spec, before.pruned]) === canonicalJson([spec, pruned]);
  if (!dryRun) await store.fleet.changeFleet({ spec, actor: by.actor, revision: before?.revision ?? 0 }, signal);
  if (!dryRun && prune) await store.fleet.prunePools(by.actor, signal);
  const revision = (dryRun ? before : await store.fleet.readFleet(signal))?.revision ?? 0;
  const applied = {
    revision,
    changed: !isSame,
    dryRun,
    pools: spec.pools.map((pool) => pool.name),
    changes: viewOfChanges(diffFleet(before?.spec, spec)),
    instances: plan.map((one) => ({ ...one })),
    lostKinds: lostKinds.map((one) => ({ ...one })),
    needs: viewOfNeeds(needs),
  };
  return { kind: "applied", applied };
}

interface Proposed {
  readonly wanted: Declaration;
  readonly before: StoredFleet | undefined;
  readonly needs: readonly NeededApproval[];
}

function propose({ store, clock, ids }: ApiDeps, { wanted, before, needs }: Proposed, signal: AbortSignal): Promise<FleetProposal> {
  const { spec, prune, by } = wanted;
  const createdAt = clock.now();
  return store.proposals.propose(
    {
      ...{ id: ids.next(), spec, prune, base: before?.revision ?? 0, needs, changes: diffFleet(before?.spec, spec), by },
      ...{ createdAt, expiresAt: millis(createdAt + PROPOSAL_MS), end: undefined },
    },
    signal,
  );
}
