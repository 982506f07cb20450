import type { ArgosyError } from "../../domain/errors.ts";
import { UnavailableError } from "../../domain/errors.ts";
import type { KubeObject } from "./resource.ts";
import { errorForStatus, readStatus } from "./status.ts";

/** One line of a watch, understood. `resourceVersion` is where to resume after it. */
export type WatchEvent = StreamEvent | { readonly kind: "error"; readonly error: ArgosyError };

export type StreamEvent =
  | { readonly kind: "upsert" | "delete"; readonly object: KubeObject; readonly resourceVersion: string }
  | { readonly kind: "bookmark"; readonly resourceVersion: string };

/**
 * Parses one line of a watch. A line that makes no sense is an error event too: whatever wrote it, nothing after it can be trusted,
 * and resuming from the last version is always right.
 */
export function parseWatchLine(line: string): WatchEvent {
  const event = decode(line);
  const object = event?.object;
  if (event?.type === "ERROR") return { kind: "error", error: errorForStatus("Watching", readStatus(object) ?? {}, { inStream: true }) };
  const resourceVersion = object?.metadata?.resourceVersion;
  if (typeof resourceVersion !== "string" || resourceVersion === "") return malformed(line);
  if (event?.type === "BOOKMARK") return { kind: "bookmark", resourceVersion };
  const isNamed = typeof object?.metadata?.name === "string";
  if (!isNamed || object === undefined) return malformed(line);
  switch (event?.type) {
    case "ADDED":
    case "MODIFIED":
      return { kind: "upsert", object, resourceVersion };
    case "DELETED":
      return { kind: "delete", object, resourceVersion };
    default:
      return malformed(line);
  }
}

function decode(line: string): { readonly type?: unknown; readonly object?: KubeObject } | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Does not quote the line: it may be a Secret. */
function malformed(line: string): WatchEvent {
  return {
    kind: "error",
    error: new UnavailableError("Reading a line of a watch", { code: "kube.undecodable", context: { length: line.length } }),
  };
}
