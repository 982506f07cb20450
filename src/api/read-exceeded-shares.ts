import { type Millis, millis } from "../domain/clock.ts";
import { exceededShares, SHARE_SPAN_MS, type ShareExceeded } from "../domain/cpu-share.ts";
import type { FleetSpec } from "../domain/fleet.ts";
import type { Instance } from "../domain/instance.ts";
import type { Store } from "../store/port.ts";

export interface SharesAsked {
  readonly spec: Pick<FleetSpec, "workspaces"> | undefined;
  readonly instances: readonly Instance[];
  readonly now: Millis;
}

const HOUR_MS = 60 * 60_000;

/** Who has taken more of an instance's CPU lately than the class allows; nobody where no share is declared. Hours are counted whole, and the present one as far as it is. */
export async function readExceededShares(
  { usages }: Pick<Store, "usages">,
  { spec, instances, now }: SharesAsked,
  signal: AbortSignal,
): Promise<readonly ShareExceeded[]> {
  const shares = spec?.workspaces.cpuShares ?? [];
  if (shares.length === 0) return [];
  const span = { since: millis(Math.floor((now - SHARE_SPAN_MS) / HOUR_MS) * HOUR_MS), until: now };
  return exceededShares({ ...span, used: await usages.list(span, signal), instances, shares });
}
