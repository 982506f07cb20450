import type { UnitId } from "../../../domain/ids.ts";
import type { PlacementUnit } from "../../../domain/workspace.ts";
import { WAITING_FOR_INSTANCE } from "../../operation/messages.ts";
import { applicationsOf, objectKey, putUnit } from "./applications.ts";
import { changeViews } from "./placements.ts";
import type { Transaction } from "./tables.ts";

/** Gives a unit its owner and epoch; what was acknowledged of it, wherever, says nothing any more. */
export function seat(
  transaction: Transaction,
  unitId: UnitId,
  change: Pick<PlacementUnit, "owner" | "epoch"> & Partial<PlacementUnit>,
): PlacementUnit | undefined {
  const { tables, notify } = transaction;
  const row = tables.units.get(unitId);
  if (row === undefined) return undefined;
  const subjects = [unitId, ...applicationsOf(tables, unitId).map(({ application }) => application.id)];
  for (const subject of subjects) for (const object of tables.objects.where("subject", subject)) tables.objects.drop(objectKey(object));
  putUnit(tables, { ...row, unit: { ...row.unit, ...change, rowVersion: row.unit.rowVersion + 1 } });
  notify("unit", unitId);
  const { owner } = change;
  changeViews(transaction, unitId, { ...(owner === undefined ? {} : { instanceId: owner }), message: WAITING_FOR_INSTANCE });
  return row.unit;
}
