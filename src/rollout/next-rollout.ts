import { millis, rfc3339 } from "../domain/clock.ts";
import type { InstanceObservation, Rollout, Wave, WaveInstance } from "../domain/rollout.ts";
import { failureOf, hasCompared, remember, syncsOf, upgradedOf } from "./evidence.ts";
import { readGates } from "./judge/readings.ts";
import { evidenceAgainst, judgeSyncs } from "./judge/sequential.ts";
import { isCordonedBy, presentOf, type RolloutFacts, watchedOf, waveOf, withWave } from "./waves.ts";

/** One step of a rollout. */
export interface NextRollout {
  /** The rollout after the step; the same object where nothing changes. */
  readonly rollout: Rollout;
  /** The decision, for the journal. `undefined`: nothing was decided. */
  readonly verdict: "WAVE" | "BAKED" | "EXTENDED" | "ASKED" | "ROLLING_BACK" | "FAILED" | "ABORTED" | "DONE" | undefined;
  /** The rule behind the decision. */
  readonly rule: string;
}

/**
 * How many instances of one engine cluster restart at once. Each then fills its caches from the clusters it deploys
 * to, all at the same time.
 */
const AT_ONCE = 2;
const AT_ONCE_EMERGENCY = 5;

/**
 * Decides the next step of a rollout, from its row, what was observed of its wave, and the time. The release that its
 * instances should run follows from the result, by `versionOf`: the next step makes up for one that broke off.
 */
export function nextRollout(facts: RolloutFacts): NextRollout {
  const seen = { ...facts, rollout: remember(facts) };
  const next = decide(seen);
  const isSame = JSON.stringify(next.rollout) === JSON.stringify(facts.rollout);
  return isSame ? { rollout: facts.rollout, verdict: undefined, rule: "" } : next;
}

function decide(facts: RolloutFacts): NextRollout {
  const { rollout } = facts;
  switch (rollout.state) {
    case "RUNNING":
    case "PAUSED":
    case "ASKING":
      return goOn(facts);
    case "ROLLING_BACK":
      return rollBack(facts);
    case "DONE":
    case "FAILED":
    case "ABORTED":
      return noteOnly(rollout, rollout.note);
    default:
      return rollout.state satisfies never;
  }
}

function goOn(facts: RolloutFacts): NextRollout {
  const { rollout } = facts;
  const wave = waveOf(rollout);
  if (wave === undefined)
    return { rollout: { ...rollout, state: "DONE", note: "nothing was left to upgrade" }, verdict: "DONE", rule: "EMPTY" };
  const failure = failureOf(facts, wave);
  if (failure?.isCertain === true) return giveUp(rollout, failure.gate, failure.text);
  const { suspect: _passed, ...watched } = wave;
  if (failure === undefined) return advance(facts, withWave(rollout, watched));
  const suspect = { gate: failure.gate, since: failure.since };
  return noteOnly(withWave(rollout, { ...watched, suspect }), `${wave.name}: ${failure.text}; watching whether it passes`);
}

/** Nothing speaks against the wave now: upgrades its next instances, bakes it, or ends it. */
function advance(facts: RolloutFacts, rollout: Rollout): NextRollout {
  const wave = waveOf(rollout) as Wave;
  const present = presentOf(facts, wave);
  if (present.length === 0) return pass(facts, rollout, "LEFT");
  if (present.some(({ askedAt }) => askedAt === undefined)) return beginSome(facts, rollout, present);
  const missing = present.filter(({ readyAt }) => readyAt === undefined).map(({ name }) => name);
  if (missing.length > 0) return noteOnly(rollout, `${wave.name}: waiting for ${missing.join(", ")} to run ${rollout.version}`);
  if (wave.bakingSince === undefined) return noteOnly(withWave(rollout, { ...wave, bakingSince: facts.now }), `${wave.name}: baking`);
  return bake(facts, rollout);
}

/**
 * Begins with as many instances as may restart at once, and records what each was like before. An instance that has
 * to be empty is emptied first.
 */
function beginSome(facts: RolloutFacts, rollout: Rollout, present: readonly WaveInstance[]): NextRollout {
  const wave = waveOf(rollout) as Wave;
  if (rollout.state !== "RUNNING") return noteOnly(rollout, rollout.note);
  if (facts.freeze !== undefined && !rollout.isEmergency) return noteOnly(rollout, `${wave.name}: a freeze holds: ${facts.freeze}`);
  const begun = new Map(begunNow(facts, present).map((one) => [one.id, one]));
  if (begun.size === 0) return noteOnly(rollout, `${wave.name}: ${whyNoneBegins(present)}`);
  const instances = wave.instances.map((one) => begun.get(one.id) ?? one);
  return {
    rollout: { ...withWave(rollout, { ...wave, instances }), note: `${wave.name}: ${whatBegins([...begun.values()])}` },
    verdict: "WAVE",
    rule: "BUDGET",
  };
}

/** The instances that begin to be emptied or upgraded with this step, as they are then. */
function begunNow(facts: RolloutFacts, present: readonly WaveInstance[]): readonly WaveInstance[] {
  const underWay = new Map<string, number>();
  const begin = ({ engineCluster }: WaveInstance): void => void underWay.set(engineCluster, (underWay.get(engineCluster) ?? 0) + 1);
  for (const one of present) if (isBegun(one) && one.readyAt === undefined) begin(one);
  const most = facts.rollout.isEmergency ? AT_ONCE_EMERGENCY : AT_ONCE;
  return present.flatMap((one) => {
    const observation = facts.observations.get(one.id);
    const mayBegin = isBegun(one) || (underWay.get(one.engineCluster) ?? 0) < most;
    if (one.askedAt !== undefined || observation === undefined || !mayBegin) return [];
    const next = withNextOrder(one, facts, observation);
    if (!isBegun(one)) begin(one);
    return next === one ? [] : [next];
  });
}

function whatBegins(begun: readonly WaveInstance[]): string {
  const [upgraded, emptied] = [begun.filter(({ askedAt }) => askedAt !== undefined), begun.filter(({ askedAt }) => askedAt === undefined)];
  const named = (what: string, some: readonly WaveInstance[]): readonly string[] =>
    some.length === 0 ? [] : [`${what} ${some.map(({ name }) => name).join(", ")}`];
  return [...named("emptying", emptied), ...named("upgrading", upgraded)].join(", ");
}

const isBegun = ({ askedAt, emptyingSince }: WaveInstance): boolean => askedAt !== undefined || emptyingSince !== undefined;

/** An instance with its next order: upgrade it, or empty it first. The same object where there is none. */
function withNextOrder(
  one: WaveInstance,
  { now, units, rollout }: RolloutFacts,
  { applications, faulty, strayed, fresh }: InstanceObservation,
): WaveInstance {
  const baseline = one.baseline ?? { applications, faulty, strayed, fresh };
  const isEmpty = rollout.mode === "in-place" || (units.get(one.id) ?? 0) === 0;
  if (isEmpty) return { ...one, askedAt: now, baseline };
  return one.emptyingSince === undefined ? { ...one, emptyingSince: now, baseline } : one;
}

function whyNoneBegins(present: readonly WaveInstance[]): string {
  const emptying = present.filter(({ askedAt, emptyingSince }) => askedAt === undefined && emptyingSince !== undefined);
  if (emptying.length === 0) return "waiting for instances to be seen, or for those before them";
  return `waiting until ${emptying.map(({ name }) => name).join(", ")} holds nothing`;
}

function bake(facts: RolloutFacts, rollout: Rollout): NextRollout {
  const wave = waveOf(rollout) as Wave;
  const endsAt = (wave.bakingSince ?? facts.now) + wave.bakeMs * (wave.isExtended ? 2 : 1);
  if (wave.isApproved) return pass(facts, rollout, "APPROVED");
  // An empty instance shows nothing. It is upgraded so that others can be emptied onto it.
  if (rollout.mode === "drain" && wave.instances.every(({ units }) => units === 0)) return pass(facts, rollout, "EMPTY");
  if (facts.now < endsAt) return noteOnly(rollout, `${wave.name}: baking until ${rfc3339(millis(endsAt))}`);
  const unproven = presentOf(facts, { instances: watchedOf(rollout) }).filter((one) => !hasCompared(facts, one));
  if (unproven.length > 0)
    return noteOnly(rollout, `${wave.name}: waiting for ${unproven.map(({ name }) => name).join(", ")} to compare an application`);
  const syncs = syncsOf(rollout);
  if (judgeSyncs(syncs) === "pass") return pass(facts, rollout, "SYNCS");
  const soFar = `${syncs.failed} of ${syncs.done} syncs failed, which leaves it open`;
  const speaksFor = evidenceAgainst(syncs) <= 0;
  if (speaksFor && rollout.isEmergency) return pass(facts, rollout, "EMERGENCY");
  if (!wave.isExtended)
    return {
      rollout: { ...withWave(rollout, { ...wave, isExtended: true }), note: `${wave.name}: baking twice as long: ${soFar}` },
      verdict: "EXTENDED",
      rule: "SYNCS",
    };
  if (speaksFor && rollout.isUnattended) return pass(facts, rollout, "UNATTENDED");
  if (rollout.state !== "RUNNING") return noteOnly(rollout, rollout.note);
  const note = `${wave.name}: ${soFar}: \`argosy rollout approve ${rollout.id}\` or abort`;
  return { rollout: { ...rollout, state: "ASKING", note }, verdict: "ASKED", rule: "SYNCS" };
}

/** The wave has passed: the rollout goes on to the next one, or was at its last. */
function pass(facts: RolloutFacts, rollout: Rollout, rule: string): NextRollout {
  if (rollout.state === "PAUSED") return noteOnly(rollout, rollout.note);
  const held = watchedOf(rollout).filter(({ id }) => isCordonedBy(rollout, facts.instances.get(id)));
  if (held.length > 0) return noteOnly(rollout, `waiting until ${held.map(({ name }) => name).join(", ")} takes units again`);
  const wave = waveOf(rollout) as Wave;
  const readings = readGates({ upgraded: upgradedOf(facts), syncs: syncsOf(rollout) });
  const passed = withWave(rollout, { ...wave, passed: { at: facts.now, rule, readings } });
  const isLast = rollout.wave === rollout.waves.length - 1;
  if (isLast) return { rollout: { ...passed, state: "DONE", note: `all of it runs ${rollout.version}` }, verdict: "DONE", rule };
  // If the rollout was asking a person, it needs no answer any more.
  return { rollout: { ...passed, state: "RUNNING", wave: rollout.wave + 1, note: `${wave.name}: passed` }, verdict: "BAKED", rule };
}

function giveUp(rollout: Rollout, rule: string, reason: string): NextRollout {
  const note = `rolling ${waveOf(rollout)?.name ?? ""} back: ${reason}`;
  return { rollout: { ...rollout, state: "ROLLING_BACK", ending: { as: "FAILED", reason }, note }, verdict: "ROLLING_BACK", rule };
}

/**
 * Ends the rollout once each instance runs its old release again and takes units. It waits for an instance that does
 * not answer, because its row says what it should run.
 */
function rollBack(facts: RolloutFacts): NextRollout {
  const { rollout } = facts;
  const wave = waveOf(rollout);
  const as = rollout.ending?.as ?? "ABORTED";
  const present = presentOf(facts, { instances: watchedOf(rollout) });
  const missing = present.filter(
    ({ id, from, askedAt }) =>
      isCordonedBy(rollout, facts.instances.get(id)) || (askedAt !== undefined && facts.observations.get(id)?.runs !== from),
  );
  if (missing.length > 0)
    return noteOnly(rollout, `${wave?.name}: waiting for ${missing.map((one) => whatIsAwaited(one, facts)).join(", ")}`);
  return { rollout: { ...rollout, state: as, note: rollout.ending?.reason ?? "" }, verdict: as, rule: "ROLLED_BACK" };
}

/** What the rollback waits for. A release that is no longer declared has to be declared again first. */
function whatIsAwaited({ name, from }: WaveInstance, { released }: RolloutFacts): string {
  const isDeclared = released === undefined || released.includes(from);
  return `${name} to run ${from}${isDeclared ? "" : `, which is not in the catalogue of fleet.yaml any more: put it back and apply that`}`;
}

function noteOnly(rollout: Rollout, note: string): NextRollout {
  return { rollout: { ...rollout, note }, verdict: undefined, rule: "" };
}
