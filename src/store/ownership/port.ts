import type { ApplicationId, InstanceId, UnitId } from "../../domain/ids.ts";

/** An application of a placed unit, as far as it says who has to work for it. */
export interface OwnedApplication {
  readonly id: ApplicationId;
  readonly argoName: string;
  readonly unitId: UnitId;
  readonly owner: InstanceId;
  readonly isMoving: boolean;
  /** Its user deletes it. */
  readonly isLeaving: boolean;
  /**
   * An Application of it has stood: Argo CD has said something of it. And one has to stand now: nothing it needs, such as its
   * environment, is away.
   */
  readonly hasStood: boolean;
}

/** Who has to work for what. Read by the watchdog, which compares it with what stands. */
export interface OwnershipStore {
  /** The next so many applications of placed units after an id, sorted by it. */
  listOwned(page: { readonly after: string; readonly limit: number }, signal: AbortSignal): Promise<readonly OwnedApplication[]>;
}
