import type { Millis } from "./clock.ts";
import type { CpuShare } from "./fleet.ts";
import type { InstanceId } from "./ids.ts";
import type { Instance } from "./instance.ts";
import type { Usage, User } from "./usage.ts";

/** A workspace that takes more of its instance than its class allows. Shares are of what the instance's controller bears, 1: all of it. */
export interface ShareExceeded {
  readonly namespace: string;
  readonly instance: string;
  readonly class: string;
  readonly share: number;
  readonly limit: number;
}

export interface ShareFacts {
  readonly used: readonly { readonly of: User; readonly namespace: string; readonly instanceId: InstanceId; readonly usage: Usage }[];
  readonly instances: readonly Pick<Instance, "id" | "name" | "class" | "capacity">[];
  readonly shares: readonly CpuShare[];
  /** The time in which it was used. */
  readonly since: Millis;
  readonly until: Millis;
}

/** So far back it is counted: long enough that a launch is none of it, short enough to be acted upon. In ms. */
export const SHARE_SPAN_MS = 6 * 60 * 60_000;

/**
 * Which workspaces took more CPU of their instance's controller than their class allows, on average over the time: the largest excess first, by
 * how many times. The controller alone counts, because capacity says what that bears.
 */
export function exceededShares({ used, instances, shares, since, until }: ShareFacts): readonly ShareExceeded[] {
  const limits = new Map(shares.map((one) => [one.class, one.share]));
  const known = new Map(instances.map((instance) => [instance.id, instance]));
  const spanS = (until - since) / 1_000;
  const taken = new Map<string, { readonly namespace: string; readonly instanceId: InstanceId; readonly ms: number }>();
  for (const { of, namespace, instanceId, usage } of used) {
    if (of !== "workspace") continue;
    const key = JSON.stringify([namespace, instanceId]);
    taken.set(key, { namespace, instanceId, ms: (taken.get(key)?.ms ?? 0) + usage.controllerCpuMs });
  }
  const exceeded = [...taken.values()].flatMap(({ namespace, instanceId, ms }): readonly ShareExceeded[] => {
    const instance = known.get(instanceId);
    const limit = instance === undefined ? undefined : limits.get(instance.class);
    if (instance === undefined || limit === undefined || instance.capacity.milliCpu <= 0 || spanS <= 0) return [];
    const share = ms / spanS / instance.capacity.milliCpu;
    return share > limit ? [{ namespace, instance: instance.name, class: instance.class, share, limit }] : [];
  });
  return exceeded.sort((a, b) => b.share / b.limit - a.share / a.limit || (a.namespace < b.namespace ? -1 : 1));
}

/** One of them in words. */
export function shareText({ namespace, instance, share, limit }: ShareExceeded): string {
  const percent = (part: number): string => `${Math.round(part * 100)} %`;
  return `${namespace} takes ${percent(share)} of the CPU that ${instance} bears, where its class allows ${percent(limit)}`;
}
