import type { MoveStep, MoveWorld } from "../../mover/next-step.ts";
import type { SidedWrite } from "../../mover/phases/object-step.ts";
import type { Pair } from "../../mover/phases/pair.ts";
import type { Observations } from "../../mover/port.ts";
import { escapePointer } from "../../shard/diff-object.ts";
import { ANNOTATION_PAUSE } from "../../shard/names.ts";
import type { ApplicationObservation } from "../../shard/parse-observation.ts";
import { CASCADE_FINALIZER } from "../../shard/plan-application.ts";
import type { Breaker, Ports } from "../fleet/argosy.ts";
import { withPorts } from "./bug.ts";

type Decide = Ports["decide"];
type Move = Parameters<Decide>[0];

/** Shows another world in this one phase only. */
export const inPhase =
  (phase: Move["phase"], blur: (world: MoveWorld, move: Move) => MoveWorld) =>
  (world: MoveWorld, move: Move): MoveWorld =>
    move.phase === phase ? blur(world, move) : world;

/** Changes how the mover sees every Application on the source. */
export const mapSource = (world: MoveWorld, change: (observation: ApplicationObservation) => ApplicationObservation): MoveWorld => ({
  ...world,
  onSource: world.onSource.map(change),
  pairs: world.pairs.map((pair) => (pair.source === undefined ? pair : { ...pair, source: change(pair.source) })),
});

/** Changes how the mover sees every Application on the target. */
export const mapTarget = (world: MoveWorld, change: (observation: ApplicationObservation) => ApplicationObservation): MoveWorld => ({
  ...world,
  onTarget: world.onTarget.map(change),
  pairs: world.pairs.map((pair) => (pair.target === undefined ? pair : { ...pair, target: change(pair.target) })),
});

/** Changes the writes that are decided. */
export const writing = (spoil: (write: SidedWrite, pairs: readonly Pair[]) => SidedWrite): Breaker =>
  withPorts(({ decide }) => ({
    decide(move, world): MoveStep {
      const step = decide(move, world);
      return step.kind === "write" ? { ...step, writes: step.writes.map((each) => spoil(each, world.pairs)) } : step;
    },
  }));

/** Replaces methods of the port through which a move reads and writes Applications. */
export const ofObservations = (change: (observations: Observations) => Partial<Observations>): Breaker =>
  withPorts(({ observations }) => ({
    observations: {
      async of(cluster) {
        const found = await observations.of(cluster);
        return found && { ...found, ...change(found) };
      },
    },
  }));

/** The sync policy of an application that syncs by itself. */
export const AUTOMATED = { prune: true, selfHeal: true, allowEmpty: true };

/** Gives a copy the last operation of its source, however that ended. */
export function withFailure(each: SidedWrite, pairs: readonly Pair[]): SidedWrite {
  const { write } = each;
  const name = write.kind === "create" ? write.manifest.metadata.name : write.at.name;
  const operationState = pairs.find((pair) => pair.name === name)?.source?.status["operationState"];
  if (each.side !== "target" || operationState === undefined || write.kind === "delete") return each;
  const spoiled = (status: unknown): object => ({ ...(status as object), operationState });
  if (write.kind === "create")
    return { ...each, write: { ...write, manifest: { ...write.manifest, status: spoiled(write.manifest["status"]) } } };
  const patch = write.patch.map((step) => (step.path === "/status" ? { ...step, value: spoiled(step.value) } : step));
  return { ...each, write: { ...write, patch } };
}

/** Unpauses a source before it is deleted, and has what it deployed deleted with it. */
export function byCascade(each: SidedWrite, pairs: readonly Pair[]): SidedWrite {
  const { side, write } = each;
  const source = side === "source" && write.kind === "delete" ? pairs.find(({ name }) => name === write.at.name)?.source : undefined;
  if (source?.isPaused !== true) return each;
  const patch = [
    { op: "remove", path: `/metadata/annotations/${escapePointer(ANNOTATION_PAUSE)}` },
    { op: "add", path: "/metadata/finalizers", value: [CASCADE_FINALIZER] },
  ] as const;
  return { side, write: { kind: "change", at: source.at, patch } };
}

/** Shows the mover what was desired of each application when its move began. */
export function createMemory() {
  const first = new Map<string, Pair["desired"]>();
  return (world: MoveWorld, move: Move): MoveWorld => ({
    ...world,
    pairs: world.pairs.map((pair) => {
      const key = `${move.id} ${pair.name}`;
      if (!first.has(key)) first.set(key, pair.desired);
      return { ...pair, desired: first.get(key) };
    }),
  });
}
