import { type Millis, millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import { StaleError } from "../../domain/errors.ts";
import type { InstanceVerdict } from "../../domain/health.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { RememberedLimit, ResourceLimits } from "../../domain/raised-resources.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { type LimitedInstance, planResources, type ResourceFacts, type ResourceRaise } from "../capacity/plan-resources.ts";
import { type ClassState, freezeAt, type PlanningFacts } from "../plan/assemble.ts";

export interface RaisingDeps {
  readonly store: Pick<Store, "decisions" | "fleet">;
  readonly log: Log;
}

/** How far back it counts that health has found whose work ended a repo-server, in ms: as long as evictions count. */
const ATTRIBUTED_MS = 60 * 60_000;
/** For how long it is remembered what an instance ran out of and could not be given, in ms. A kill and the next one are one story. */
const LIMIT_MS = 60 * 60_000;
const MANY = 1_000;

/**
 * Gives one instance of a class more CPU, memory or disk, if one has run out of it and its pool allows more. The provisioner makes it so, and takes back what
 * pods do not get ready with. Says in the journal what was raised and why, and once what is needed and cannot be given. Returns what is remembered from now on.
 */
export async function refreshResources(
  { store, log }: RaisingDeps,
  state: ClassState,
  { facts, verdicts, at }: { readonly facts: PlanningFacts; readonly verdicts: ResourceFacts["verdicts"]; readonly at: Millis },
  signal: AbortSignal,
): Promise<ClassState> {
  const { raisable = [], instances } = facts;
  if (raisable.length === 0) return { ...state, limits: undefined };
  const { raise, limited } = planResources({
    ...{ pools: raisable, instances, verdicts, at },
    cpu: measuredCpu(facts),
    attributed: await readAttributed(store, at, signal),
    isFrozen: freezeAt(facts.freezes, at) !== undefined,
  });
  const limits = nextLimits(state.limits ?? {}, limited, at);
  const fresh = limited.filter(({ instance }) => limits[instance.id]?.since === at);
  for (const one of fresh)
    log.warn(
      { instance: one.instance.name, amount: one.amount, given: one.given, why: one.why },
      "An instance needs more than it may be given",
    );
  if (fresh.length > 0)
    await store.decisions.append(
      fresh.map((one) => limitDecision(one, at)),
      signal,
    );
  if (raise !== undefined) await carryOut({ store, log }, raise, { verdicts, at }, signal);
  return { ...state, limits };
}

async function carryOut(
  { store, log }: RaisingDeps,
  raise: ResourceRaise,
  { verdicts, at }: { readonly verdicts: ResourceFacts["verdicts"]; readonly at: Millis },
  signal: AbortSignal,
): Promise<void> {
  const { instance, amount, from, to } = raise;
  const { id, revision, state, reason, cause, attempt, raised } = instance;
  const before = raised?.amounts ?? {};
  const next = {
    ...{ amounts: { ...before, [amount]: to }, at, before },
    ...(raised?.refused === undefined ? {} : { refused: raised.refused }),
  };
  const decision = raiseDecision(raise, verdicts.find(({ instanceId }) => instanceId === id)?.cause, at);
  log.info({ instance: instance.name, amount, from, to }, "Raising resources of an instance");
  try {
    await store.fleet.changeInstance(
      { id, revision, state, reason, cause, attempt, raised: next, onlyIfNoneRaised: true, decision },
      signal,
    );
  } catch (error) {
    // Its row has changed meanwhile, or another process gives resources to another one: the next cycle decides anew.
    if (!(error instanceof StaleError)) throw error;
    log.info({ instance: instance.name }, "An instance changed while its resources were to be raised");
  }
}

/** What each controller took when it was measured last. */
function measuredCpu({ instanceLoads }: PlanningFacts): ResourceFacts["cpu"] {
  return new Map(
    instanceLoads.flatMap(({ instanceId, at, observation }) =>
      observation === undefined ? [] : [[instanceId, { milliCpu: observation.milliCpu, at }] as const],
    ),
  );
}

/** Instances of which health has named who ends their repo-server, whatever became of that. */
async function readAttributed({ decisions }: RaisingDeps["store"], at: Millis, signal: AbortSignal): Promise<ReadonlySet<InstanceId>> {
  const named = await decisions.list({ kind: "health", verdict: "QUARANTINE", since: millis(at - ATTRIBUTED_MS) }, MANY, signal);
  return new Set(named.map(({ subject }) => subject as InstanceId));
}

function nextLimits(before: ResourceLimits, limited: readonly LimitedInstance[], at: Millis): ResourceLimits {
  const kept = Object.entries(before).filter(([, { seenAt }]) => at - seenAt < LIMIT_MS);
  const now = limited.map(({ instance, amount, given, why }): readonly [string, RememberedLimit] => {
    const known = before[instance.id];
    const isSame = known !== undefined && at - known.seenAt < LIMIT_MS && known.amount === amount && known.why === why;
    return [instance.id, { amount, given, why, since: isSame ? known.since : at, seenAt: at }];
  });
  return Object.fromEntries([...kept, ...now]);
}

/** What more of an amount is expected to do. */
const EFFECT = {
  "controller.cpu": "comparisons and syncs wait less; its controller is replaced once",
  "controller.memory": "its controller is ended for it no more; it is replaced once",
  "repoServer.memory": "its repo-servers are ended for it no more; they are replaced once",
  "repoServer.disk": "its repo-servers are evicted no more; they are replaced once",
} as const satisfies Record<ResourceRaise["amount"], string>;

function raiseDecision({ instance, amount, from, to }: ResourceRaise, cause: InstanceVerdict["cause"] | undefined, at: Millis): Decision {
  const { id, name, pool } = instance;
  const reason = `${amount} ${to} instead of ${from}: ${WHY[amount]}; expected: ${EFFECT[amount]}`;
  const details = { name, pool, reason, amount, from, to, expected: EFFECT[amount] };
  return { at, subject: id, kind: "instance", verdict: "RAISED", rule: (cause ?? "none").toUpperCase(), details };
}

/** Why more of an amount is needed. */
const WHY = {
  "controller.cpu": "it is overloaded, and its controller takes all the CPU it may",
  "controller.memory": "its controller uses as much memory as it may, or was ended for more",
  "repoServer.memory": "its repo-servers were ended twice for more memory, by no single workspace",
  "repoServer.disk": "its repo-servers were evicted twice for more disk, by no single workspace",
} as const satisfies Record<ResourceRaise["amount"], string>;

function limitDecision({ instance: { id, name, pool }, amount, given, why }: LimitedInstance, at: Millis): Decision {
  const limit =
    why === "MAXIMUM" ? "is all that its pool allows (resources.max)" : "is kept for a day: its pods did not get ready with more";
  const reason = `${WHY[amount]}, and ${amount} ${given} ${limit}`;
  return { at, subject: id, kind: "instance", verdict: "AT_MAXIMUM", rule: why, details: { name, pool, reason, amount, given } };
}
