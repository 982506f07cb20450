import type { IViolation } from "dependency-cruiser";
import type { Cruise } from "./cruise.ts";
import { LAYERS } from "./rules.ts";

/**
 * What is wrong with a tree in which `filesThere` source files lie. Reading fewer is a failure too: without a TypeScript it can
 * use, dependency-cruiser reads nothing and finds everything in order.
 */
export function complaints({ files, violations }: Cruise, filesThere: number): readonly string[] {
  const unread = files < filesThere ? [`only ${files} of ${filesThere} files below src/ were read`] : [];
  return [...unread, ...violations.map(({ rule, from, to }) => `${from} → ${to}: ${rule.name} (${commentOf(rule.name)})`)];
}

/** The rules that found nothing in a tree which breaks every one of them. */
export function silentRules(violations: readonly Pick<IViolation, "rule">[]): readonly string[] {
  const fired = new Set(violations.map(({ rule }) => rule.name));
  return LAYERS.map(({ name = "" }) => name).filter((name) => !fired.has(name));
}

function commentOf(name: string): string {
  return LAYERS.find((layer) => layer.name === name)?.comment ?? "";
}
