import type { CostPrices } from "../domain/fleet.ts";
import { addUsage, NO_USAGE, type Usage, type User } from "../domain/usage.ts";
import type { UsedOnInstance } from "../store/usage/port.ts";

/** What lines of a report are about. */
export const COST_BY = ["workspace", "class", "label", "instance"] as const;
export type CostBy = (typeof COST_BY)[number];

/** What was taken on an instance, with what is known of that. */
export interface KnownUse extends UsedOnInstance {
  readonly instance: string;
  readonly class: string;
}

export interface CostLine {
  /** The workspace (namespace), class, instance, or value of the label; `undefined`: of none. */
  readonly name: string | undefined;
  readonly of: User;
  readonly usage: Usage;
}

const MS_PER_HOUR = 3_600_000;
const KIB_S_PER_GIB_HOUR = 2 ** 20 * 3_600;

/**
 * Sums up what was taken by one thing, sorted by it. What is no workspace's has lines of its own: of each class and instance where these are
 * asked for, of the whole otherwise.
 */
export function costLines(used: readonly KnownUse[], by: CostBy, label = ""): readonly CostLine[] {
  const sums = new Map<string, CostLine>();
  for (const one of used) {
    const name = nameOf(one, by, label);
    const key = JSON.stringify([name, one.of]);
    sums.set(key, { name, of: one.of, usage: addUsage(sums.get(key)?.usage ?? NO_USAGE, one.usage) });
  }
  return [...sums.values()].sort(compareLines);
}

function nameOf({ of, namespace, instance, class: className, labels }: KnownUse, by: CostBy, label: string): string | undefined {
  if (by === "class") return className;
  if (by === "instance") return instance;
  if (of !== "workspace") return undefined;
  return by === "workspace" ? namespace : Object.hasOwn(labels, label) ? labels[label] : undefined;
}

/** The order of lines: by name, those without one first. */
export function compareLines(a: Pick<CostLine, "name" | "of">, b: Pick<CostLine, "name" | "of">): number {
  if (a.name !== b.name) return a.name === undefined ? -1 : b.name === undefined || a.name > b.name ? 1 : -1;
  return a.of === b.of ? 0 : a.of < b.of ? -1 : 1;
}

export function coreHours({ controllerCpuMs, repoServerCpuMs }: Pick<Usage, "controllerCpuMs" | "repoServerCpuMs">): number {
  return (controllerCpuMs + repoServerCpuMs) / MS_PER_HOUR;
}

export function gibHours({ memoryKibS }: Pick<Usage, "memoryKibS">): number {
  return memoryKibS / KIB_S_PER_GIB_HOUR;
}

/** In the unit of the prices, whatever that is. */
export function costOf(usage: Usage, { cpuCoreHour, memoryGibHour }: CostPrices): number {
  return coreHours(usage) * cpuCoreHour + gibHours(usage) * memoryGibHour;
}
