import type { InstanceId, UnitId } from "../domain/ids.ts";

/** An application as its row has it. */
export interface Owned {
  readonly argoName: string;
  readonly unitId: UnitId;
  readonly owner: InstanceId;
  readonly isMoving: boolean;
  /** Its user deletes it. */
  readonly isLeaving: boolean;
  /** An Application of it has stood, and has to. */
  readonly hasStood: boolean;
}
