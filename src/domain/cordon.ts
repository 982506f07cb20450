import type { Instance } from "./instance.ts";

const BY_HAND = "cordoned by ";

/** What an instance says of itself that a person cordoned: whoever else cordons says why, and not who. */
export function cordonReason(actor: string, reason: string): string {
  return `${BY_HAND}${actor}: ${reason}`;
}

/** Whether a person cordoned it. Only a person calls that off; what a pool does with its surplus is the pool's own. */
export function isCordonedByHand({ state, reason }: Pick<Instance, "state" | "reason">): boolean {
  return state === "CORDONED" && reason.startsWith(BY_HAND);
}
