import type { ApplicationId, UnitId } from "../../domain/ids.ts";
import { acknowledgementOf, type Standing } from "../../shard/acknowledge.ts";
import type { Seat } from "../../shard/seat.ts";
import type { DesiredApplication } from "../../store/shard/port.ts";
import type { Rows } from "../rows/controller.ts";

export interface AcknowledgementDeps {
  readonly rows: Pick<Rows, "acknowledge">;
  /** A manual application stands as its row wants it: syncs that waited for that may begin. */
  readonly onApplied: (id: ApplicationId, unit: UnitId) => void;
}

/** Records that an Application stands as its row wants it, unless that is recorded already. */
export async function acknowledgeApplication(
  { rows, onApplied }: AcknowledgementDeps,
  { application, unit, acknowledged }: DesiredApplication,
  { seat, ...standing }: Pick<Standing, "desired" | "observed"> & { readonly seat: Seat },
  signal: AbortSignal,
): Promise<void> {
  const what = { kind: "application", subject: application.id, ...standing } as const;
  const news = acknowledgementOf(seat, what, acknowledged === undefined ? [] : [acknowledged]);
  if (news === undefined) return;
  await rows.acknowledge(news, signal);
  if (application.spec.type === "manual") onApplied(application.id, unit.id);
}
