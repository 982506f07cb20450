import { z } from "zod";
import { rfc3339 } from "../domain/clock.ts";
import { ROLLOUT_MODES, ROLLOUT_STATES, type Rollout, type Wave, type WaveInstance } from "../domain/rollout.ts";

const time = z.iso.datetime();
const instance = z.object({
  name: z.string(),
  from: z.string().describe("the release it had before"),
  units: z.number().int().describe("it held when the rollout was planned"),
  emptyingSince: time.nullable().describe("since when what it holds is handed over"),
  askedAt: time.nullable().describe("when it was asked to run the release"),
  readyAt: time.nullable().describe("when all of its pods were first seen ready in it"),
  syncs: z.number().int().describe("that have ended under it"),
  failedSyncs: z.number().int(),
});
const wave = z.object({
  name: z.string(),
  state: z.enum(["waiting", "upgrading", "baking", "done"]),
  bakeSeconds: z.number().int(),
  bakingSince: time.nullable(),
  passedAt: time.nullable(),
  passedBy: z.string().nullable().describe("the rule that let it through"),
  gates: z.array(z.object({ gate: z.string(), text: z.string() })).describe("what was read at each gate when it was let through"),
  instances: z.array(instance),
});
export const rolloutView = z
  .object({
    id: z.string(),
    version: z.string(),
    pool: z.string().nullable(),
    mode: z.enum(ROLLOUT_MODES),
    state: z.enum(ROLLOUT_STATES),
    note: z.string().describe("what it does or waits for, or how it ended"),
    emergency: z.boolean(),
    unattended: z.boolean(),
    actor: z.string(),
    reason: z.string(),
    createdAt: time,
    wave: z.number().int().describe("index of the present one"),
    waves: z.array(wave),
  })
  .meta({ id: "Rollout" });
export const rolloutDraftView = z
  .object({
    version: z.string(),
    waves: z.array(wave),
    refused: z.array(z.object({ instance: z.string(), reason: z.string() })).describe("instances that keep what they have, and why"),
  })
  .meta({ id: "RolloutDryRun" });
export type RolloutView = z.infer<typeof rolloutView>;
export type RolloutDraftView = z.infer<typeof rolloutDraftView>;

export function viewOfRollout(rollout: Rollout): RolloutView {
  const { id, version, pool = null, mode, state, note, isEmergency, isUnattended, actor, reason, createdAt } = rollout;
  return {
    ...{
      id,
      version,
      pool,
      mode,
      state,
      note,
      emergency: isEmergency,
      unattended: isUnattended,
      actor,
      reason,
      createdAt: rfc3339(createdAt),
    },
    ...{ wave: rollout.wave, waves: wavesOf(rollout) },
  };
}

export function viewOfDraft({
  rollout,
  refused,
}: {
  readonly rollout: Rollout;
  readonly refused: readonly RolloutDraftView["refused"][number][];
}): RolloutDraftView {
  return { version: rollout.version, waves: wavesOf(rollout), refused: [...refused] };
}

function wavesOf({ state, waves, wave: present }: Rollout): RolloutView["waves"] {
  return waves.map((one, index) => ({
    name: one.name,
    state: index < present || state === "DONE" ? ("done" as const) : stateOf(one),
    bakeSeconds: Math.round((one.bakeMs * (one.isExtended ? 2 : 1)) / 1000),
    bakingSince: one.bakingSince === undefined ? null : rfc3339(one.bakingSince),
    passedAt: one.passed === undefined ? null : rfc3339(one.passed.at),
    passedBy: one.passed?.rule ?? null,
    gates: [...(one.passed?.readings ?? [])],
    instances: one.instances.map(instanceOf),
  }));
}

function stateOf({ bakingSince, instances }: Wave): RolloutView["waves"][number]["state"] {
  if (bakingSince !== undefined) return "baking";
  return instances.some(({ askedAt, emptyingSince }) => (askedAt ?? emptyingSince) !== undefined) ? "upgrading" : "waiting";
}

function instanceOf({
  name,
  from,
  units,
  emptyingSince,
  askedAt,
  readyAt,
  syncs,
}: WaveInstance): RolloutView["waves"][number]["instances"][number] {
  return {
    ...{ name, from, units, syncs: syncs?.done ?? 0, failedSyncs: syncs?.failed ?? 0 },
    emptyingSince: emptyingSince === undefined ? null : rfc3339(emptyingSince),
    askedAt: askedAt === undefined ? null : rfc3339(askedAt),
    readyAt: readyAt === undefined ? null : rfc3339(readyAt),
  };
}
