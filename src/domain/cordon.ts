import type { Instance, InstanceCause } from "./instance.ts";

/** Why an instance is as it is: a text for people, and what is decided by. */
export type Because = Pick<Instance, "reason" | "cause">;

/** What an instance says of itself that a person cordoned, or health or a rollout in a person's place: who, and why. */
export function cordonedBy(actor: string, reason: string, cause: InstanceCause = { code: "PERSON" }): Because {
  return { reason: `cordoned by ${actor}: ${reason}`, cause };
}

const BY_HAND: readonly (InstanceCause["code"] | undefined)[] = ["PERSON", "QUARANTINE", "ROLLOUT"];

/** Whether a person, or what acts in a person's place, cordoned it. Only a person calls that off; what a pool does with its surplus is the pool's own. */
export function isCordonedByHand({ state, cause }: Pick<Instance, "state" | "cause">): boolean {
  return state === "CORDONED" && BY_HAND.includes(cause?.code);
}
