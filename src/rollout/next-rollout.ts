import { type Millis, millis, rfc3339 } from "../domain/clock.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { InstanceSight, Rollout, SyncCounts, Wave, WaveInstance } from "../domain/rollout.ts";
import { shutGate, type Upgraded } from "./judge/gates.ts";
import { readGates } from "./judge/readings.ts";
import { evidenceAgainst, judgeSyncs } from "./judge/sequential.ts";

export interface RolloutFacts {
  readonly now: Millis;
  readonly rollout: Rollout;
  /** Rows of the fleet. */
  readonly instances: ReadonlyMap<InstanceId, Pick<Instance, "state">>;
  /** Of instances of the present wave; absent: their cluster gave no answer. */
  readonly sights: ReadonlyMap<InstanceId, InstanceSight>;
  /** Why a freeze holds; `undefined`: none does. */
  readonly freeze: string | undefined;
  readonly resyncMs: number;
}

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
 * the outcome by {@link versionOf}, so that a look that comes to nothing half-way is made good by the next.
 */
export function nextRollout(facts: RolloutFacts): NextRollout {
  const seen = { ...facts, rollout: remember(facts) };
  const next = decide(seen);
  const isSame = JSON.stringify(next.rollout) === JSON.stringify(facts.rollout);
  return isSame ? { rollout: facts.rollout, verdict: undefined, rule: "" } : next;
}

/** The release an instance of a rollout should have now; `undefined`: the rollout has nothing to say about it. */
export function versionOf(rollout: Rollout, { askedAt, from }: WaveInstance, wave: number): string | undefined {
  if (askedAt === undefined || wave > rollout.wave) return undefined;
  return rollout.ending !== undefined && wave === rollout.wave ? from : rollout.version;
}

/** Instances that have left the fleet since it was planned hold nothing up. */
export function presentOf({ instances }: Pick<RolloutFacts, "instances">, wave: Pick<Wave, "instances">): readonly WaveInstance[] {
  return wave.instances.filter(({ id }) => ["ACTIVE", "CORDONED"].includes(instances.get(id)?.state ?? ""));
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

/** Tells as many instances as may start at once, each with what it was like before. */
function ask(facts: RolloutFacts, rollout: Rollout, present: readonly WaveInstance[]): NextRollout {
  const wave = waveOf(rollout) as Wave;
  if (rollout.state !== "RUNNING") return still(rollout, rollout.note);
  if (facts.freeze !== undefined && !rollout.isEmergency) return still(rollout, `${wave.name}: a freeze holds: ${facts.freeze}`);
  const underWay = new Map<string, number>();
  for (const { askedAt, readyAt, engineCluster } of present)
    if (askedAt !== undefined && readyAt === undefined) underWay.set(engineCluster, (underWay.get(engineCluster) ?? 0) + 1);
  const most = rollout.isEmergency ? AT_ONCE_EMERGENCY : AT_ONCE;
  const told = new Map<InstanceId, WaveInstance>();
  for (const one of present) {
    const sight = facts.sights.get(one.id);
    const busy = underWay.get(one.engineCluster) ?? 0;
    if (one.askedAt !== undefined || sight === undefined || busy >= most) continue;
    underWay.set(one.engineCluster, busy + 1);
    const { applications, faulty, strayed, fresh } = sight;
    told.set(one.id, { ...one, askedAt: facts.now, baseline: { applications, faulty, strayed, fresh } });
  }
  if (told.size === 0) return still(rollout, `${wave.name}: waiting for instances to be seen, or for those before them`);
  const note = `${wave.name}: upgrading ${[...told.values()].map(({ name }) => name).join(", ")}`;
  const instances = wave.instances.map((one) => told.get(one.id) ?? one);
  return { rollout: { ...withWave(rollout, { ...wave, instances }), note }, verdict: "WAVE", rule: "BUDGET" };
}

function bake(facts: RolloutFacts, rollout: Rollout): NextRollout {
  const wave = waveOf(rollout) as Wave;
  const endsAt = (wave.bakingSince ?? facts.now) + wave.bakeMs * (wave.isExtended ? 2 : 1);
  if (wave.isApproved) return pass(facts, rollout, "APPROVED");
  if (facts.now < endsAt) return still(rollout, `${wave.name}: baking until ${rfc3339(millis(endsAt))}`);
  const unproven = presentOf(facts, wave).filter((one) => !hasLooked(facts, one));
  if (unproven.length > 0)
    return still(rollout, `${wave.name}: waiting for ${unproven.map(({ name }) => name).join(", ")} to look at an application`);
  const syncs = syncsOf(rollout);
  if (judgeSyncs(syncs) === "pass") return pass(facts, rollout, "SYNCS");
  const told = `${syncs.failed} of ${syncs.done} syncs failed, which leaves it open`;
  const speaksFor = evidenceAgainst(syncs) <= 0;
  if (speaksFor && rollout.isEmergency) return pass(facts, rollout, "EMERGENCY");
  if (!wave.isExtended)
    return {
      rollout: { ...withWave(rollout, { ...wave, isExtended: true }), note: `${wave.name}: baking twice as long: ${told}` },
      verdict: "EXTENDED",
      rule: "SYNCS",
    };
  if (speaksFor && rollout.isUnattended) return pass(facts, rollout, "UNATTENDED");
  if (rollout.state !== "RUNNING") return still(rollout, rollout.note);
  const note = `${wave.name}: ${told}: \`argosy rollout approve ${rollout.id}\` or abort`;
  return { rollout: { ...rollout, state: "ASKING", note }, verdict: "ASKED", rule: "SYNCS" };
}

/** The wave is good: the next begins with the next look, or it was the last. */
function pass(facts: RolloutFacts, rollout: Rollout, rule: string): NextRollout {
  if (rollout.state === "PAUSED") return still(rollout, rollout.note);
  const wave = waveOf(rollout) as Wave;
  const readings = readGates({ upgraded: upgradedOf(facts, wave), syncs: syncsOf(rollout) });
  const passed = withWave(rollout, { ...wave, passed: { at: facts.now, rule, readings } });
  const isLast = rollout.wave === rollout.waves.length - 1;
  if (isLast) return { rollout: { ...passed, state: "DONE", note: `all of it runs ${rollout.version}` }, verdict: "DONE", rule };
  return { rollout: { ...passed, wave: rollout.wave + 1, note: `${wave.name}: passed` }, verdict: "BAKED", rule };
}

function giveUp(rollout: Rollout, rule: string, reason: string): NextRollout {
  const note = `rolling ${waveOf(rollout)?.name ?? ""} back: ${reason}`;
  return { rollout: { ...rollout, state: "ROLLING_BACK", ending: { as: "FAILED", reason }, note }, verdict: "ROLLING_BACK", rule };
}

/** Ends once each instance of the wave runs again what it ran before. One that gives no answer is waited for: its row says what it should run. */
function rollBack(facts: RolloutFacts): NextRollout {
  const { rollout } = facts;
  const wave = waveOf(rollout);
  const as = rollout.ending?.as ?? "ABORTED";
  const asked = wave === undefined ? [] : presentOf(facts, wave).filter(({ askedAt }) => askedAt !== undefined);
  const missing = asked.filter(({ id, from }) => facts.sights.get(id)?.runs !== from);
  if (missing.length > 0)
    return still(rollout, `${wave?.name}: waiting for ${missing.map(({ name, from }) => `${name} to run ${from}`).join(", ")}`);
  return { rollout: { ...rollout, state: as, note: rollout.ending?.reason ?? "" }, verdict: as, rule: "ROLLED_BACK" };
}

interface Failure {
  readonly gate: string;
  readonly text: string;
  readonly since: Millis;
  /** Whether it stands by itself, or has for as long as it has to. */
  readonly isCertain: boolean;
}

function failureOf(facts: RolloutFacts, wave: Wave): Failure | undefined {
  const { now, rollout, resyncMs } = facts;
  const shut = shutGate({ version: rollout.version, upgraded: upgradedOf(facts, wave), resyncMs });
  if (shut !== undefined) {
    const since = wave.suspect?.gate === shut.gate ? wave.suspect.since : now;
    return { gate: shut.gate, text: shut.text, since, isCertain: now - since >= shut.persistenceMs };
  }
  const syncs = syncsOf(rollout);
  if (judgeSyncs(syncs) !== "fail") return undefined;
  return { gate: "SYNCS", text: `${syncs.failed} of ${syncs.done} syncs failed`, since: now, isCertain: true };
}

function upgradedOf(facts: RolloutFacts, wave: Wave): readonly Upgraded[] {
  const { now, sights } = facts;
  return presentOf(facts, wave).flatMap(({ id, name, askedAt, readyAt, baseline }) => {
    if (askedAt === undefined || baseline === undefined) return [];
    const readyMsAgo = readyAt === undefined ? undefined : now - readyAt;
    return [{ name, askedMsAgo: now - askedAt, readyMsAgo, baseline, sight: sights.get(id) }];
  });
}

/** Whether its controller has looked at anything in the new release. One without applications has nothing to look at. */
function hasLooked({ sights }: RolloutFacts, { id, readyAt }: WaveInstance): boolean {
  const sight = sights.get(id);
  if (sight === undefined || readyAt === undefined) return false;
  return sight.applications === 0 || (sight.newestReconciledAt !== undefined && sight.newestReconciledAt > readyAt);
}

/** Syncs of all instances that were given the release, as seen last. */
function syncsOf({ waves }: Pick<Rollout, "waves">): SyncCounts {
  const all = waves.flatMap(({ instances }) => instances.flatMap(({ syncs }) => syncs ?? []));
  return { done: all.reduce((total, { done }) => total + done, 0), failed: all.reduce((total, { failed }) => total + failed, 0) };
}

/** Takes over what was seen: since when instances are ready, and how their syncs went. */
function remember({ rollout, sights, now }: RolloutFacts): Rollout {
  const wave = waveOf(rollout);
  if (wave === undefined || rollout.ending !== undefined) return rollout;
  const instances = wave.instances.map((one) => {
    const sight = sights.get(one.id);
    if (sight === undefined || one.askedAt === undefined) return one;
    const isReady = one.readyAt === undefined && sight.runs === rollout.version;
    const { lastOf: _last, countedBy: _by, ...syncs } = sight.syncs;
    return { ...one, syncs, ...(isReady ? { readyAt: now } : {}) };
  });
  return withWave(rollout, { ...wave, instances });
}

function still(rollout: Rollout, note: string): NextRollout {
  return { rollout: { ...rollout, note }, verdict: undefined, rule: "" };
}

function waveOf({ waves, wave }: Rollout): Wave | undefined {
  return waves[wave];
}

function withWave(rollout: Rollout, wave: Wave): Rollout {
  return { ...rollout, waves: rollout.waves.map((one, index) => (index === rollout.wave ? wave : one)) };
}
