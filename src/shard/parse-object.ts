import { contentHash } from "../domain/hash.ts";
import { asObject, asString } from "../domain/json.ts";
import { ANNOTATION_EPOCH, LABEL_MANAGED_BY } from "../domain/names.ts";
import { MANAGED_KINDS, type ManagedKind, NOTHING_FIXED, type ObservedObject, pick } from "./managed-object.ts";
import { ANNOTATION_PAUSE, ANNOTATION_REVISION } from "./names.ts";

/** Labels and annotations that mean something to us; the rest is other people's and would only take memory. */
const OUR_PREFIX = "argosy.dev/";
const OUR_NAMES: ReadonlySet<string> = new Set([LABEL_MANAGED_BY, "argocd.argoproj.io/secret-type", ANNOTATION_PAUSE]);

/**
 * Reduces a raw object of a kind to what is compared. `undefined` for one without name, uid or resourceVersion, which no
 * API server sends.
 */
export function parseObject(kind: ManagedKind, raw: unknown): ObservedObject | undefined {
  const object = asObject(raw);
  const meta = asObject(object["metadata"]);
  const name = asString(meta["name"]);
  const uid = asString(meta["uid"]);
  const resourceVersion = asString(meta["resourceVersion"]);
  if (name === "" || uid === "" || resourceVersion === "") return undefined;
  const annotations = ours(meta["annotations"]);
  const { fields, fixed } = MANAGED_KINDS[kind];
  return {
    at: { namespace: asString(meta["namespace"]), name },
    uid,
    resourceVersion,
    labels: ours(meta["labels"]),
    annotations,
    epoch: parseCount(annotations[ANNOTATION_EPOCH]),
    revision: parseCount(annotations[ANNOTATION_REVISION]),
    contentHash: contentHash(pick(object, [...fields, ...fixed])),
    fixedHash: fixed.length === 0 ? NOTHING_FIXED : contentHash(pick(object, fixed)),
    isDeleting: asString(meta["deletionTimestamp"]) !== "",
  };
}

function ours(raw: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(asObject(raw));
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => isOurs(entry[0]) && typeof entry[1] === "string"));
}

function isOurs(name: string): boolean {
  return name.startsWith(OUR_PREFIX) || OUR_NAMES.has(name);
}

/** Epochs and revisions are whole numbers; anything else was written by somebody else and counts as absent. */
function parseCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/**
 * Whether resourceVersion `a` is later than `b`. API servers promise since 1.35 that they are whole numbers that grow, and
 * have kept to it before; where they are not numbers, the one that arrived (`a`) counts as later.
 */
export function isNewerVersion(a: string, b: string): boolean {
  if (!/^\d+$/.test(a) || !/^\d+$/.test(b)) return a !== b;
  return BigInt(a) > BigInt(b);
}
