import { WHOLE } from "./policy.ts";

/** A share in parts per million, for people. */
export function percent(share: number): string {
  return share >= Number.MAX_SAFE_INTEGER ? "more than any capacity" : `${Math.round((share * 1000) / WHOLE) / 10} %`;
}
