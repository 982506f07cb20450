import { type OwnershipFinding, openFindings } from "../domain/ownership.ts";
import type { Store } from "../store/port.ts";

/** Entries about ownership that are searched, newest first. */
const READ = 10_000;

/** What the watchdog has reported and not cleared, sorted by key: whoever tells of it tells of the same. */
export async function readOpenFindings({ decisions }: Pick<Store, "decisions">, signal: AbortSignal): Promise<readonly OwnershipFinding[]> {
  return openFindings(await decisions.list({ kind: "ownership" }, READ, signal));
}
