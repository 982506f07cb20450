import type { Instance } from "../domain/instance.ts";

const WAITING = "it takes no new units and is retired when it holds none";

const because = (reason: string) => ({ reason, waiting: `${reason}: ${WAITING}` });

/** Why an instance leaves that its pool does not ask for, and what it says of itself while it still holds units. */
export const LEAVING = {
  surplus: because("its pool asks for fewer instances"),
  otherClass: because("its pool asks for instances of another class"),
  removed: because("its pool was removed from fleet.yaml"),
} as const;

const REASONS: readonly string[] = Object.values(LEAVING).map(({ waiting }) => waiting);

/** Whether it was cordoned for one of these reasons, and not by somebody: only such a cordon is called off by its pool. */
export function isWaitingToLeave({ state, reason }: Pick<Instance, "state" | "reason">): boolean {
  return state === "CORDONED" && REASONS.includes(reason);
}
