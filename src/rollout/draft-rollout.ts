import type { Millis } from "../domain/clock.ts";
import { cohortOf, type FleetSpec } from "../domain/fleet.ts";
import type { InstanceId, RolloutId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import { LOAD_DIMENSIONS, type LoadVector, ZERO_LOAD } from "../domain/load.ts";
import type { FrozenVersion, Rollout, RolloutOrder } from "../domain/rollout.ts";
import { compareVersions } from "../domain/version.ts";
import { planWaves, type WaveCandidate } from "./plan-waves.ts";
import { rolloutResyncOf } from "./waves.ts";
import { whyNotRelease, whyNotUpgrade } from "./why-not-release.ts";

export interface DraftFacts {
  readonly spec: FleetSpec | undefined;
  readonly instances: readonly Instance[];
  readonly frozen: readonly FrozenVersion[];
  /** Load and units of the instances. Absent: the instance holds nothing. */
  readonly held: ReadonlyMap<InstanceId, { readonly load: LoadVector; readonly units: number }>;
}

export interface DraftedRollout {
  readonly kind: "drafted";
  readonly rollout: Rollout;
  /** Instances that the rollout leaves out, and why. */
  readonly refused: readonly { readonly instance: string; readonly reason: string }[];
}

interface Refused {
  readonly kind: "refused";
  readonly path: string;
  readonly message: string;
  readonly remedy: string;
}

/** Plans a rollout of a release to the instances that may get it, or says what is wrong with the order. */
export function draftRollout(
  facts: DraftFacts,
  order: RolloutOrder,
  { id, now }: { readonly id: RolloutId; readonly now: Millis },
): DraftedRollout | Refused {
  const { spec, instances, frozen } = facts;
  if (spec === undefined)
    return { kind: "refused", path: "fleet", message: "no fleet is declared", remedy: "Declare one with argosy apply -f" };
  const { version, pool, mode, isEmergency, isUnattended, actor, reason } = order;
  const pools = spec.pools.map(({ name }) => name);
  if (pool !== undefined && !pools.includes(pool))
    return { kind: "refused", path: "pool", message: `${pool} is no pool of this fleet`, remedy: `Use one of ${pools.join(", ")}` };
  const whyNot = whyNotRelease(spec.versions, version, frozen);
  if (whyNot !== undefined) return { kind: "refused", path: "version", ...whyNot };
  const inScope = instances.filter((one) => (one.state === "ACTIVE" || one.state === "CORDONED") && (pool ?? one.pool) === one.pool);
  const outdated = inScope.filter((one) => one.version !== version || one.desiredVersion !== version);
  const refused = outdated.flatMap((one) => {
    const why = whyNotUpgrade(spec.versions, one, version);
    return why === undefined ? [] : [{ instance: one.name, reason: why, id: one.id }];
  });
  const isRefused = ({ id: own }: Pick<Instance, "id">): boolean => refused.some((each) => each.id === own);
  const allowed = outdated.filter((one) => !isRefused(one)).map((one) => candidateOf(one, { held: facts.held, spec }));
  if (mode === "drain") refused.push(...withoutHost(allowed, inScope, version));
  const hosted = allowed.filter(({ instance }) => !isRefused(instance));
  if (!isEmergency) refused.push(...beforeCohort(hosted, { spec, instances, refused }, version));
  const candidates = hosted.filter(({ instance }) => !isRefused(instance));
  const options = {
    mode,
    isEmergency,
    bakeMs: order.bakeMs,
    resyncMs: rolloutResyncOf(spec, [...new Set(inScope.map((one) => one.pool))]),
  };
  const rollout: Rollout = {
    id,
    version,
    pool,
    mode,
    state: "RUNNING",
    ending: undefined,
    isEmergency,
    isUnattended,
    actor,
    reason,
    createdAt: now,
    waves: planWaves(candidates, options),
    wave: 0,
    note: "planned",
    revision: 1,
  };
  return { kind: "drafted", rollout, refused: refused.map(({ instance, reason: why }) => ({ instance, reason: why })) };
}

/**
 * Instances that cannot be emptied, because there is no instance of their class that could take their units: none that
 * has the release already, and none that is empty and gets it first.
 */
function withoutHost(candidates: readonly WaveCandidate[], inScope: readonly Instance[], version: string) {
  const classOf = ({ instance }: WaveCandidate): string | undefined => inScope.find(({ id }) => id === instance.id)?.class;
  const hosts = new Set<string | undefined>([
    ...inScope.filter((one) => one.version === version && one.state === "ACTIVE").map((one) => one.class),
    ...candidates.filter(({ units }) => units === 0).map(classOf),
  ]);
  return candidates.flatMap((one) => {
    const { id, name } = one.instance;
    const reason = `no instance of its class runs ${version} or holds nothing: \`argosy instance create\` makes one`;
    return hosts.has(classOf(one)) ? [] : [{ instance: name, reason, id }];
  });
}

/**
 * Instances that would meet the release before the cohort does, because an instance of a channel that is first has an older one and is not among the
 * candidates. One that has a newer release is past this one.
 */
function beforeCohort(
  candidates: readonly WaveCandidate[],
  {
    spec,
    instances,
    refused,
  }: {
    readonly spec: FleetSpec;
    readonly instances: readonly Instance[];
    readonly refused: readonly { readonly id: InstanceId; readonly reason: string }[];
  },
  version: string,
) {
  const behind = instances.find(
    (one) =>
      (one.state === "ACTIVE" || one.state === "CORDONED") &&
      cohortOf(one, spec.versions) !== undefined &&
      compareVersions(one.version, version) < 0 &&
      !candidates.some(({ instance }) => instance.id === one.id),
  );
  if (behind === undefined) return [];
  const why = refused.find(({ id }) => id === behind.id)?.reason ?? `this rollout is not of its pool ${behind.pool}`;
  const channel = cohortOf(behind, spec.versions);
  const reason = `instances of channel ${channel} get a release first, and ${behind.name} would stay at ${behind.version}: ${why}`;
  return candidates.filter(({ isFirst }) => !isFirst).map(({ instance: { id, name } }) => ({ instance: name, reason, id }));
}

function candidateOf(instance: Instance, { held, spec }: Pick<DraftFacts, "held"> & { readonly spec: FleetSpec }): WaveCandidate {
  const { load, units } = held.get(instance.id) ?? { load: ZERO_LOAD, units: 0 };
  const utilisation = Math.max(...LOAD_DIMENSIONS.map((dimension) => load[dimension] / instance.capacity[dimension]));
  const isFirst = cohortOf(instance, spec.versions) !== undefined;
  return { instance, units, utilisation, capacity: instance.capacity.applications, isFirst };
}
