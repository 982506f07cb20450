import { mayWait } from "../../shard/may-wait.ts";
import type { ObservedApplication } from "../../shard/parse-application.ts";
import type { ApplicationAction } from "../../shard/plan-application.ts";
import type { DesiredApplication } from "../../store/shard/port.ts";
import type { Pacing } from "../pacing/controller.ts";
import type { Host } from "../seats/controller.ts";

export type ApplicationPlan = (observed: ObservedApplication | undefined) => ApplicationAction;

/** Whether the next step of a wanted application may be taken now. If it may not, it is in line. */
export function hasTurn(
  pacing: Pick<Pacing, "admits">,
  { row, host, plan }: { readonly row: DesiredApplication; readonly host: Host; readonly plan: ApplicationPlan },
): boolean {
  const { application, unit } = row;
  const at = { namespace: host.instance.namespace, name: application.argoName };
  const seen = host.engine.applications.get(at);
  return !mayWait(plan(seen), seen) || pacing.admits({ kind: "application", id: application.id, unit: unit.id, at }, host);
}
