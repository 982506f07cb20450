import type { FleetInput, ShapeIssue } from "./schema.ts";

type Sound<T> = T extends readonly (infer Element)[]
  ? readonly (Sound<Element> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Sound<T[Key]> | undefined }
    : T;

/** A Fleet document as people write it, from which any field may be missing. */
export type SoundFleet = Sound<FleetInput>;

interface Fault {
  isHere: boolean;
  readonly below: Map<string | number, Fault>;
}

/**
 * The document without its malformed fields. Each of them has the value `undefined`, so that list elements keep their
 * index, and a malformed field differs from a missing one. Takes time linear in the size of the document.
 */
export function soundPart(document: unknown, issues: readonly Pick<ShapeIssue, "path">[]): SoundFleet {
  const root: Fault = { isHere: false, below: new Map() };
  for (const { path } of issues) faultAt(root, path).isHere = true;
  return (keepSound(document, root) ?? {}) as SoundFleet;
}

function faultAt(root: Fault, path: ShapeIssue["path"]): Fault {
  return path.reduce<Fault>((fault, key) => {
    const next = fault.below.get(key) ?? { isHere: false, below: new Map() };
    fault.below.set(key, next);
    return next;
  }, root);
}

function keepSound(value: unknown, fault: Fault | undefined): unknown {
  if (fault === undefined) return value;
  if (fault.isHere) return undefined;
  if (Array.isArray(value)) return value.map((element, index) => keepSound(element, fault.below.get(index)));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, keepSound(child, fault.below.get(key))]));
}
