import type { GateReading, InstanceObservation, ObservationCounts, SyncCounts } from "../../domain/rollout.ts";
import { GATES, type Gate, type GateFacts, type Upgraded } from "./gates.ts";
import { judgeSyncs } from "./sequential.ts";

/** The numbers at each gate, and those of syncs: why a wave has passed, for people. */
export function readGates({ upgraded, syncs }: Pick<GateFacts, "upgraded"> & { readonly syncs: SyncCounts }): readonly GateReading[] {
  const verdict = { pass: "as good releases' do", fail: "more than good releases' do", open: "too few to tell" }[judgeSyncs(syncs)];
  return [
    ...GATES.map((gate) => ({ gate, text: READERS[gate](upgraded) })),
    { gate: "SYNCS", text: `${syncs.failed} of ${syncs.done} syncs failed: ${verdict}` },
  ];
}

type Reader = (upgraded: readonly Upgraded[]) => string;

const READERS: Readonly<Record<Gate, Reader>> = {
  CRASHING: (all) => `${total(all, ({ crashes }) => crashes.length)} pods`,
  OUT_OF_MEMORY: (all) => `${total(all, ({ outOfMemory }) => outOfMemory.length)} pods`,
  NOT_READY: (all) =>
    secondsOf(most(all, ({ askedMsAgo, readyMsAgo }) => (readyMsAgo === undefined ? undefined : askedMsAgo - readyMsAgo))),
  CANARY_SLOW: (all) => secondsOf(most(all, ({ observation }) => observation?.canaryLatencyMs)),
  FROZEN: (all) =>
    secondsOf(
      most(all, ({ observation }) => ageOf(observation)),
      " since a comparison",
    ),
  PRUNED: (all) => `${total(all, ({ pruned }) => pruned)} applications`,
  CANNOT_COMPARE: (all) => shares(all, ({ faulty }) => faulty),
  STRAYED: (all) =>
    shares(
      all,
      ({ strayed }) => strayed,
      ({ resynced }) => resynced,
    ),
  FEWER_COMPARISONS: (all) => `${shares(all, ({ fresh }) => fresh)} in time`,
};

function shares(
  all: readonly Upgraded[],
  of: (counts: ObservationCounts) => number,
  further: (observation: InstanceObservation) => number = () => 0,
): string {
  const now = `${total(all, (observation) => of(observation) + further(observation))} of ${total(all, ({ applications }) => applications)}`;
  const sum = (pick: (counts: ObservationCounts) => number): number => all.reduce((before, { baseline }) => before + pick(baseline), 0);
  return `${now}, before ${sum(of)} of ${sum(({ applications }) => applications)}`;
}

function total(all: readonly Upgraded[], of: (observation: InstanceObservation) => number): number {
  return all.reduce((sum, { observation }) => sum + (observation === undefined ? 0 : of(observation)), 0);
}

function most(all: readonly Upgraded[], of: (one: Upgraded) => number | undefined): number | undefined {
  const known = all.flatMap((one) => of(one) ?? []);
  return known.length === 0 ? undefined : Math.max(...known);
}

function ageOf(observation: InstanceObservation | undefined): number | undefined {
  return observation?.newestReconciledAt === undefined ? undefined : observation.at - observation.newestReconciledAt;
}

function secondsOf(ms: number | undefined, what = ""): string {
  return ms === undefined ? "not measured" : `${(ms / 1000).toFixed(1)} s${what}`;
}
