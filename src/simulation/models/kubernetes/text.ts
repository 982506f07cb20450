import type { JsonMap } from "../../../runtime/kube/testing/json.ts";

/** The text at a key; empty where there is none. */
export function textAt(map: JsonMap, key: string): string {
  const value = map[key];
  return typeof value === "string" ? value : "";
}
