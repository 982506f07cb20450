import type { WorkResult } from "../../runtime/keyed-queue.ts";
import type { ObservedApplication } from "../../shard/parse-application.ts";
import { deletionOf, planAbsence } from "../../shard/plan-application.ts";
import { applicationFence } from "../../shard/seat.ts";
import type { DesiredApplication } from "../../store/shard/port.ts";
import type { Carrier } from "../object/controller.ts";
import { UNSURE_AGAIN_MS } from "../object/unanswered.ts";
import type { Progress } from "../progress/controller.ts";
import { waits } from "../progress/reasons.ts";
import type { Rows } from "../rows/controller.ts";
import type { Host, Hosts } from "../seats/controller.ts";

export interface AbsenceDeps {
  readonly rows: Rows;
  readonly carrier: Carrier;
  readonly progress: Progress;
  readonly hosts: Pick<Hosts, "whyNot">;
}

/** There is nowhere an application could deploy to: its Application goes, and what it deployed stays. */
export async function takeOff(
  { rows, carrier, progress }: Omit<AbsenceDeps, "hosts">,
  { row, host }: { readonly row: DesiredApplication; readonly host: Host },
  signal: AbortSignal,
): Promise<WorkResult | void> {
  const { application, unit } = row;
  const at = { namespace: host.instance.namespace, name: application.argoName };
  const fence = applicationFence(unit, application);
  const deletion = deletionOf(application);
  const plan = (observed: ObservedApplication | undefined) => planAbsence(fence, deletion, observed);
  const end = await carrier.carryOut({ objects: host.engine.applications, at, plan, name: "application" }, signal);
  if (end.kind === "await-end") return progress.ends(row, end.observed, signal);
  if (end.kind === "unsure") return { ...(await progress.waits(application, waits.unanswered, signal)), requeueAfterMs: UNSURE_AGAIN_MS };
  const environment = application.spec.destination.environment ?? "";
  if (deletion === "none") return progress.waits(application, waits.environment(environment), signal);
  progress.done(application.id);
  if (end.kind === "gone") await rows.forget(application.id, signal);
}

/** The instance that owns it cannot be filled, or is not ours to fill. */
export async function awaitHost(
  { hosts, progress }: Pick<AbsenceDeps, "hosts" | "progress">,
  { application, unit }: DesiredApplication,
  signal: AbortSignal,
): Promise<WorkResult | void> {
  const what = unit.owner === undefined ? undefined : hosts.whyNot(unit.owner);
  return what === undefined ? progress.done(application.id) : progress.waits(application, what, signal);
}
