import { GoneError, RefusedError } from "../../domain/errors.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import { deployerRules, OWNER_MARK, sameRules } from "../../shard/deployer-rules.ts";
import { withoutAwaited } from "../../shard/reader-rules.ts";
import type { FleetStore } from "../../store/fleet/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { DeployerRole } from "../port.ts";
import type { ReaderKinds } from "./keep-reader-role.ts";

/**
 * Kinds come and go with the definitions that administrators install. A new one is readable this much later at most, and may be deployed once
 * instances watch it (`keep-reader-role.ts`).
 */
const EVERY_MS = 30_000;

export interface DeployerDeps {
  readonly deployer: DeployerRole;
  readonly readerKinds: Pick<ReaderKinds, "keep">;
  readonly fleet: Pick<FleetStore, "readFleet">;
  readonly log: Log;
}

/** Keeps the roles that instances read and owners deploy by in step with the kinds the API cluster serves. */
export async function keepDeployerRole(deps: DeployerDeps, signal: AbortSignal): Promise<WorkResult> {
  try {
    await updateRole(deps, signal);
  } catch (error) {
    // No event asks for this key again: an API server that has just been started forbids everything for a moment, and the role may be deleted meanwhile.
    if (!(error instanceof RefusedError || error instanceof GoneError)) throw error;
    deps.log.error({ error }, "Failing to keep the role that deployments are made under");
  }
  return { requeueAfterMs: EVERY_MS };
}

async function updateRole({ deployer, readerKinds, fleet, log }: DeployerDeps, signal: AbortSignal): Promise<void> {
  const role = await deployer.read(signal);
  if (role === undefined)
    return log.error({}, "Missing the role that deployments are made under; installing Argosy's roles again brings it back");
  const declared = (await fleet.readFleet(signal))?.spec.deployments ?? {};
  const discovery = await deployer.discover(signal);
  const awaited = await readerKinds.keep(discovery, { present: role.rules, declared }, signal);
  const kinds = withoutAwaited(deployerRules(discovery, { present: role.rules, declared }), { present: role.rules, awaited });
  const rules = [...kinds, OWNER_MARK];
  if (sameRules(rules, role.rules)) return;
  log.info({ groups: rules.length }, "Updating the role that deployments are made under");
  await deployer.replaceRules(role, rules, signal);
}
