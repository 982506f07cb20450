import type { ApplicationId, UnitId } from "../../domain/ids.ts";
import type { ApplicationController } from "../application/controller.ts";
import type { Rows } from "../rows/controller.ts";

/** Reads rows in common before their keys take turns, so that a burst costs few statements and turns go round by unit. */
export interface Intake {
  take(ids: readonly ApplicationId[]): void;
}

export interface IntakeDeps {
  readonly rows: Rows;
  readonly applications: Pick<ApplicationController, "prime">;
  readonly request: (id: ApplicationId, unit: UnitId | undefined) => void;
  readonly signal: AbortSignal;
}

export function createIntake({ rows, applications, request, signal }: IntakeDeps): Intake {
  const takeOne = async (id: ApplicationId): Promise<void> => {
    try {
      const row = await rows.readApplication(id, signal);
      if (row !== undefined) applications.prime(row);
      request(id, row?.unit.id);
    } catch {
      // The key's own run reads again, and says what is wrong, and backs off.
      if (!signal.aborted) request(id, undefined);
    }
  };
  return { take: (ids) => ids.forEach((id) => void takeOne(id)) };
}
