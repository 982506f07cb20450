import { RefusedError } from "../../domain/errors.ts";
import { REFUSED_GROUPS } from "../../domain/fleet.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import { deployerRules, sameRules } from "../../shard/deployer-rules.ts";
import type { FleetStore } from "../../store/fleet/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { DeployerRole } from "../port.ts";

/** Kinds come and go with the definitions users and administrators install; a new one may be deployed this much later at most. */
const EVERY_MS = 60_000;

export interface DeployerDeps {
  readonly deployer: DeployerRole;
  readonly fleet: Pick<FleetStore, "readFleet">;
  readonly log: Log;
}

/** Keeps the role that owner bindings bind in step with the kinds the API cluster serves. */
export async function keepDeployerRole(deps: DeployerDeps, signal: AbortSignal): Promise<WorkResult> {
  try {
    await updateRole(deps, signal);
  } catch (error) {
    // No event asks for this key again: an API server that has just been started forbids everything for a moment.
    if (!(error instanceof RefusedError)) throw error;
    deps.log.error({ error }, "Not allowed to keep the role that deployments are made under");
  }
  return { requeueAfterMs: EVERY_MS };
}

async function updateRole({ deployer, fleet, log }: DeployerDeps, signal: AbortSignal): Promise<void> {
  const role = await deployer.read(signal);
  if (role === undefined)
    return log.error({}, "Missing the role that deployments are made under; installing Argosy's roles again brings it back");
  const refusedGroups = (await fleet.readFleet(signal))?.spec.deployments?.refusedGroups ?? REFUSED_GROUPS;
  const rules = deployerRules(await deployer.discover(signal), { present: role.rules, refusedGroups });
  if (sameRules(rules, role.rules)) return;
  log.info({ groups: rules.length }, "Updating the role that deployments are made under");
  await deployer.replaceRules(role, rules, signal);
}
