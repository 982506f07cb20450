import type { Instance } from "../domain/instance.ts";
import type { RolloutMode, Wave, WaveInstance } from "../domain/rollout.ts";

/** An instance that a rollout may upgrade. */
export interface WaveCandidate {
  readonly instance: Pick<Instance, "id" | "name" | "engineCluster" | "version">;
  readonly units: number;
  /** Its load as a share of its capacity. */
  readonly utilisation: number;
  /** Its capacity, in a unit that all candidates share. */
  readonly capacity: number;
  /** Whether what lives there is to meet a release before what lives elsewhere. */
  readonly isFirst: boolean;
}

const CANARY = "canary";
const MOST_CANARIES = 3;
/** Instances of the fleet for each canary, at least. With fewer, losing the canaries would be losing much of the fleet. */
const FLEET_PER_CANARY = 4;
/** Units that the canaries should have between them. Of 30, at least one notices a release that fails one in ten, with 96 %. */
export const CANARY_UNITS = 30;
/** Shares of the capacity that have the release at the end of each wave after the canary. */
const SHARES = [0.05, 0.2, 0.5, 1];

const HOUR_MS = 3_600_000;
/**
 * How long waves bake, in ms. Later waves are larger but do not bake longer: faults that depend on the number of units
 * show early, and faults that take time have had the earlier waves.
 */
const BAKES_MS = { canary: HOUR_MS, wave: HOUR_MS / 2 };

export interface WaveOptions {
  readonly mode: RolloutMode;
  readonly isEmergency: boolean;
  /** How long each wave bakes instead, in ms. */
  readonly bakeMs?: number | undefined;
  /** How long after a comparison Argo CD compares an application again at the latest, in ms: a shorter bake shows nothing. */
  readonly resyncMs: number;
}

/**
 * Plans in which order instances get a release. First up to three canaries, one from each third by load, so that idle
 * and busy instances are among them, and with 30 units between them where that is possible. Then waves up to 5, 20,
 * 50 and 100 % of the capacity, the least loaded instances first. An emergency has a canary, half, and the rest.
 * Where instances are emptied, empty ones come first, so that they can take the units of the others.
 *
 * Where some instances are to be first, all of that is planned for them alone, as waves of the cohort, and the others follow when all of
 * them have the release. Shares of the others count what has it by then. They begin with canaries only where the cohort's held nothing, and so
 * showed nothing.
 */
export function planWaves(candidates: readonly WaveCandidate[], options: WaveOptions): readonly Wave[] {
  const [cohort, others] = [candidates.filter(({ isFirst }) => isFirst), candidates.filter(({ isFirst }) => !isFirst)];
  if (cohort.length === 0) return planStage(others, { options, before: 0, hasCanaries: true });
  const first = planStage(cohort, { options, before: 0, hasCanaries: true });
  const hasCanaries = !first.some(({ name, instances }) => name === CANARY && instances.some(({ units }) => units > 0));
  const named = first.map((wave) => ({ ...wave, name: `cohort ${wave.name}` }));
  return [...named, ...planStage(others, { options, before: sum(cohort), hasCanaries })];
}

interface Stage {
  readonly options: WaveOptions;
  /** Capacity that has the release when the stage begins. */
  readonly before: number;
  readonly hasCanaries: boolean;
}

function planStage(candidates: readonly WaveCandidate[], stage: Stage): readonly Wave[] {
  const { options } = stage;
  const spare = options.mode === "drain" ? candidates.filter(({ units }) => units === 0) : [];
  const rest = planShares(
    candidates.filter((one) => !spare.includes(one)),
    stage,
  );
  return spare.length === 0 ? rest : [makeWave("spare", spare, options), ...rest];
}

function planShares(candidates: readonly WaveCandidate[], { options, before, hasCanaries }: Stage): readonly Wave[] {
  const inOrder = candidates.toSorted((a, b) => a.utilisation - b.utilisation || (a.instance.id < b.instance.id ? -1 : 1));
  if (inOrder.length === 0) return [];
  const canaries = hasCanaries ? chooseCanaries(inOrder) : [];
  const waves = hasCanaries ? [makeWave(CANARY, canaries, options)] : [];
  const left = inOrder.filter((one) => !canaries.includes(one));
  const all = before + sum(inOrder);
  for (const share of options.isEmergency ? SHARES.filter((one) => one >= 0.5) : SHARES) {
    const next: WaveCandidate[] = [];
    let reached = all - sum(left);
    // A tolerance for sums of shares, so that rounding does not add one more instance to a wave.
    while (left[0] !== undefined && reached < share * all * (1 - 1e-9)) {
      reached += left[0].capacity;
      next.push(...left.splice(0, 1));
    }
    if (next.length > 0) waves.push(makeWave(`${share * 100} %`, next, options));
  }
  return waves;
}

function chooseCanaries(inOrder: readonly WaveCandidate[]): readonly WaveCandidate[] {
  const count = Math.min(MOST_CANARIES, Math.max(1, Math.floor(inOrder.length / FLEET_PER_CANARY)));
  const strata = Array.from({ length: count }, (_, index) =>
    inOrder.slice(Math.floor((index * inOrder.length) / count), Math.floor(((index + 1) * inOrder.length) / count)),
  );
  const chosen = strata.flatMap((stratum) => stratum[Math.floor((stratum.length - 1) / 2)] ?? []);
  for (const [index, stratum] of strata.entries()) {
    if (chosen.reduce((total, { units }) => total + units, 0) >= CANARY_UNITS) break;
    const fullest = stratum.reduce((most, one) => (one.units > most.units ? one : most));
    chosen[index] = fullest;
  }
  return chosen;
}

function makeWave(name: string, candidates: readonly WaveCandidate[], options: WaveOptions): Wave {
  const usual = options.isEmergency ? 0 : name === CANARY ? BAKES_MS.canary : BAKES_MS.wave;
  const bakeMs = Math.max(options.bakeMs ?? usual, options.resyncMs);
  return { name, instances: candidates.map(waveInstanceOf), bakeMs, isExtended: false, isApproved: false };
}

function waveInstanceOf({ instance: { id, name, engineCluster, version }, units }: WaveCandidate): WaveInstance {
  return { id, name, engineCluster, from: version, units };
}

function sum(candidates: readonly WaveCandidate[]): number {
  return candidates.reduce((total, { capacity }) => total + capacity, 0);
}
