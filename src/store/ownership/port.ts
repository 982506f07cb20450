import type { ApplicationId } from "../../domain/ids.ts";
import type { Owned } from "../../domain/ownership.ts";

export interface OwnedApplication extends Owned {
  readonly id: ApplicationId;
}

/** Who has to work for what. Read by the watchdog, which compares it with what stands. */
export interface OwnershipStore {
  /** The next so many applications of placed units after an id, sorted by it. */
  listOwned(page: { readonly after: string; readonly limit: number }, signal: AbortSignal): Promise<readonly OwnedApplication[]>;
}
