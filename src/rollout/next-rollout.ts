import { millis, rfc3339 } from "../domain/clock.ts";
import type { InstanceObservation, Rollout, Wave, WaveInstance } from "../domain/rollout.ts";
import { failureOf, hasObserved, remember, syncsOf, upgradedOf } from "./evidence.ts";
import { readGates } from "./judge/readings.ts";
import { evidenceAgainst, judgeSyncs } from "./judge/sequential.ts";
import { isHeldBy, presentOf, type RolloutFacts, watchedOf, waveOf, withWave } from "./waves.ts";

/** What a rollout comes to. */
export interface NextRollout {
  /** The same object when nothing changes. */
  readonly rollout: Rollout;
  /** For the journal; `undefined`: nothing was decided. */
  readonly verdict: "WAVE" | "BAKED" | "EXTENDED" | "ASKED" | "ROLLING_BACK" | "FAILED" | "ABORTED" | "DONE" | undefined;
  /** The rule that decided. */
  readonly rule: string;
}

/** Instances of one engine cluster that start anew at once: each fills its caches from the clusters it deploys to, all at the same time. */
const AT_ONCE = 2;
const AT_ONCE_EMERGENCY = 5;

/**
 * Decides what becomes of a rollout from its row, what was seen of its wave, and what time it is. What its instances should run follows from
 * the outcome by `versionOf`, so that a look that comes to nothing half-way is made good by the next.
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
      return still(rollout, rollout.note);
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
  return still(withWave(rollout, { ...watched, suspect }), `${wave.name}: ${failure.text}; watching whether it passes`);
}

/** Nothing speaks against the wave now: its next instances, its bake, or its end. */
function advance(facts: RolloutFacts, rollout: Rollout): NextRollout {
  const wave = waveOf(rollout) as Wave;
  const present = presentOf(facts, wave);
  if (present.length === 0) return pass(facts, rollout, "LEFT");
  if (present.some(({ askedAt }) => askedAt === undefined)) return ask(facts, rollout, present);
  const missing = present.filter(({ readyAt }) => readyAt === undefined).map(({ name }) => name);
  if (missing.length > 0) return still(rollout, `${wave.name}: waiting for ${missing.join(", ")} to run ${rollout.version}`);
  if (wave.bakingSince === undefined) return still(withWave(rollout, { ...wave, bakingSince: facts.now }), `${wave.name}: baking`);
  return bake(facts, rollout);
}

/** Tells as many instances as may start at once, each with what it was like before; those that have to be empty before are emptied first. */
function ask(facts: RolloutFacts, rollout: Rollout, present: readonly WaveInstance[]): NextRollout {
  const wave = waveOf(rollout) as Wave;
  if (rollout.state !== "RUNNING") return still(rollout, rollout.note);
  if (facts.freeze !== undefined && !rollout.isEmergency) return still(rollout, `${wave.name}: a freeze holds: ${facts.freeze}`);
  const reported = new Map(reportedNow(facts, present).map((one) => [one.id, one]));
  if (reported.size === 0) return still(rollout, `${wave.name}: ${waitsFor(present)}`);
  const instances = wave.instances.map((one) => reported.get(one.id) ?? one);
  return {
    rollout: { ...withWave(rollout, { ...wave, instances }), note: `${wave.name}: ${whatIsReported([...reported.values()])}` },
    verdict: "WAVE",
    rule: "BUDGET",
  };
}

/** Those that are told something now, as they are then. */
function reportedNow(facts: RolloutFacts, present: readonly WaveInstance[]): readonly WaveInstance[] {
  const underWay = new Map<string, number>();
  const begin = ({ engineCluster }: WaveInstance): void => void underWay.set(engineCluster, (underWay.get(engineCluster) ?? 0) + 1);
  for (const one of present) if (isBegun(one) && one.readyAt === undefined) begin(one);
  const most = facts.rollout.isEmergency ? AT_ONCE_EMERGENCY : AT_ONCE;
  return present.flatMap((one) => {
    const observation = facts.observations.get(one.id);
    const mayBegin = isBegun(one) || (underWay.get(one.engineCluster) ?? 0) < most;
    if (one.askedAt !== undefined || observation === undefined || !mayBegin) return [];
    const next = nextOf(one, facts, observation);
    if (!isBegun(one)) begin(one);
    return next === one ? [] : [next];
  });
}

function whatIsReported(reported: readonly WaveInstance[]): string {
  const [upgraded, emptied] = [
    reported.filter(({ askedAt }) => askedAt !== undefined),
    reported.filter(({ askedAt }) => askedAt === undefined),
  ];
  const named = (what: string, some: readonly WaveInstance[]): readonly string[] =>
    some.length === 0 ? [] : [`${what} ${some.map(({ name }) => name).join(", ")}`];
  return [...named("emptying", emptied), ...named("upgrading", upgraded)].join(", ");
}

const isBegun = ({ askedAt, emptyingSince }: WaveInstance): boolean => askedAt !== undefined || emptyingSince !== undefined;

/** An instance as it is told what to do next; the same object where it is not. */
function nextOf(
  one: WaveInstance,
  { now, units, rollout }: RolloutFacts,
  { applications, faulty, strayed, fresh }: InstanceObservation,
): WaveInstance {
  const baseline = one.baseline ?? { applications, faulty, strayed, fresh };
  const isEmpty = rollout.mode === "in-place" || (units.get(one.id) ?? 0) === 0;
  if (isEmpty) return { ...one, askedAt: now, baseline };
  return one.emptyingSince === undefined ? { ...one, emptyingSince: now, baseline } : one;
}

function waitsFor(present: readonly WaveInstance[]): string {
  const emptying = present.filter(({ askedAt, emptyingSince }) => askedAt === undefined && emptyingSince !== undefined);
  if (emptying.length === 0) return "waiting for instances to be seen, or for those before them";
  return `waiting until ${emptying.map(({ name }) => name).join(", ")} holds nothing`;
}

function bake(facts: RolloutFacts, rollout: Rollout): NextRollout {
  const wave = waveOf(rollout) as Wave;
  const endsAt = (wave.bakingSince ?? facts.now) + wave.bakeMs * (wave.isExtended ? 2 : 1);
  if (wave.isApproved) return pass(facts, rollout, "APPROVED");
  // What is upgraded so that others can be emptied onto it shows nothing as long as it is empty.
  if (rollout.mode === "drain" && wave.instances.every(({ units }) => units === 0)) return pass(facts, rollout, "EMPTY");
  if (facts.now < endsAt) return still(rollout, `${wave.name}: baking until ${rfc3339(millis(endsAt))}`);
  const unproven = presentOf(facts, { instances: watchedOf(rollout) }).filter((one) => !hasObserved(facts, one));
  if (unproven.length > 0)
    return still(rollout, `${wave.name}: waiting for ${unproven.map(({ name }) => name).join(", ")} to compare an application`);
  const syncs = syncsOf(rollout);
  if (judgeSyncs(syncs) === "pass") return pass(facts, rollout, "SYNCS");
  const reported = `${syncs.failed} of ${syncs.done} syncs failed, which leaves it open`;
  const speaksFor = evidenceAgainst(syncs) <= 0;
  if (speaksFor && rollout.isEmergency) return pass(facts, rollout, "EMERGENCY");
  if (!wave.isExtended)
    return {
      rollout: { ...withWave(rollout, { ...wave, isExtended: true }), note: `${wave.name}: baking twice as long: ${reported}` },
      verdict: "EXTENDED",
      rule: "SYNCS",
    };
  if (speaksFor && rollout.isUnattended) return pass(facts, rollout, "UNATTENDED");
  if (rollout.state !== "RUNNING") return still(rollout, rollout.note);
  const note = `${wave.name}: ${reported}: \`argosy rollout approve ${rollout.id}\` or abort`;
  return { rollout: { ...rollout, state: "ASKING", note }, verdict: "ASKED", rule: "SYNCS" };
}

/** The wave is good: the next begins with the next look, or it was the last. */
function pass(facts: RolloutFacts, rollout: Rollout, rule: string): NextRollout {
  if (rollout.state === "PAUSED") return still(rollout, rollout.note);
  const held = watchedOf(rollout).filter(({ id }) => isHeldBy(rollout, facts.instances.get(id)));
  if (held.length > 0) return still(rollout, `waiting until ${held.map(({ name }) => name).join(", ")} takes units again`);
  const wave = waveOf(rollout) as Wave;
  const readings = readGates({ upgraded: upgradedOf(facts), syncs: syncsOf(rollout) });
  const passed = withWave(rollout, { ...wave, passed: { at: facts.now, rule, readings } });
  const isLast = rollout.wave === rollout.waves.length - 1;
  if (isLast) return { rollout: { ...passed, state: "DONE", note: `all of it runs ${rollout.version}` }, verdict: "DONE", rule };
  // What nobody has answered by then needs no answer.
  return { rollout: { ...passed, state: "RUNNING", wave: rollout.wave + 1, note: `${wave.name}: passed` }, verdict: "BAKED", rule };
}

function giveUp(rollout: Rollout, rule: string, reason: string): NextRollout {
  const note = `rolling ${waveOf(rollout)?.name ?? ""} back: ${reason}`;
  return { rollout: { ...rollout, state: "ROLLING_BACK", ending: { as: "FAILED", reason }, note }, verdict: "ROLLING_BACK", rule };
}

/** Ends once each instance runs again what it ran before, and takes units. One that gives no answer is waited for: its row says what it should run. */
function rollBack(facts: RolloutFacts): NextRollout {
  const { rollout } = facts;
  const wave = waveOf(rollout);
  const as = rollout.ending?.as ?? "ABORTED";
  const present = presentOf(facts, { instances: watchedOf(rollout) });
  const missing = present.filter(
    ({ id, from, askedAt }) =>
      isHeldBy(rollout, facts.instances.get(id)) || (askedAt !== undefined && facts.observations.get(id)?.runs !== from),
  );
  if (missing.length > 0) return still(rollout, `${wave?.name}: waiting for ${missing.map((one) => whatIsAwaited(one, facts)).join(", ")}`);
  return { rollout: { ...rollout, state: as, note: rollout.ending?.reason ?? "" }, verdict: as, rule: "ROLLED_BACK" };
}

/** A release that nobody can make an instance of any more is waited for until somebody declares it again. */
function whatIsAwaited({ name, from }: WaveInstance, { released }: RolloutFacts): string {
  const isDeclared = released === undefined || released.includes(from);
  return `${name} to run ${from}${isDeclared ? "" : `, which is not in the catalogue of fleet.yaml any more: put it back and apply that`}`;
}

function still(rollout: Rollout, note: string): NextRollout {
  return { rollout: { ...rollout, note }, verdict: undefined, rule: "" };
}
