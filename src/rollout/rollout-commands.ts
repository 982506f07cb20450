import type { Rollout, RolloutState } from "../domain/rollout.ts";

export const ROLLOUT_COMMANDS = ["pause", "resume", "approve", "abort"] as const;
export type RolloutCommand = (typeof ROLLOUT_COMMANDS)[number];

export interface Ordered {
  readonly rollout: Rollout;
  /** For the journal. */
  readonly verdict: "PAUSED" | "RESUMED" | "APPROVED" | "ABORTING";
}

const ALLOWED: Readonly<Record<RolloutCommand, readonly RolloutState[]>> = {
  pause: ["RUNNING", "ASKING"],
  resume: ["PAUSED"],
  approve: ["ASKING"],
  abort: ["RUNNING", "PAUSED", "ASKING"],
};

/** The rollout after a person's command. A text: why the command is not possible, to be put after the rollout's name. */
export function whatIsOrdered(
  rollout: Rollout,
  command: RolloutCommand,
  { actor, reason }: { readonly actor: string; readonly reason: string },
): Ordered | string {
  if (!ALLOWED[command].includes(rollout.state))
    return `is ${rollout.state}: ${command} is for one that is ${ALLOWED[command].join(" or ")}`;
  const by = `by ${actor}: ${reason}`;
  switch (command) {
    case "pause":
      return { rollout: { ...rollout, state: "PAUSED", note: `paused ${by}` }, verdict: "PAUSED" };
    case "resume":
      return { rollout: { ...rollout, state: "RUNNING", note: `resumed ${by}` }, verdict: "RESUMED" };
    case "approve": {
      const waves = rollout.waves.map((wave, index) => (index === rollout.wave ? { ...wave, isApproved: true } : wave));
      return { rollout: { ...rollout, state: "RUNNING", waves, note: `approved ${by}` }, verdict: "APPROVED" };
    }
    case "abort": {
      const ending = { as: "ABORTED", reason: `aborted ${by}` } as const;
      return { rollout: { ...rollout, state: "ROLLING_BACK", ending, note: ending.reason }, verdict: "ABORTING" };
    }
    default:
      return command satisfies never;
  }
}
