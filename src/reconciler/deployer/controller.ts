import type { WorkResult } from "../../runtime/keyed-queue.ts";
import { deployerRules, sameRules } from "../../shard/deployer-rules.ts";
import type { Log } from "../../telemetry/log.ts";
import type { DeployerRole } from "../port.ts";

/** Keeps the role that registers bind in step with the kinds the API cluster serves. */
export interface DeployerController {
  reconcile(signal: AbortSignal): Promise<WorkResult | void>;
}

/** Kinds come and go with the definitions users and administrators install; a new one may be deployed this much later at most. */
const EVERY_MS = 60_000;

export function createDeployerController(deps: { readonly deployer: DeployerRole; readonly log: Log }): DeployerController {
  const { deployer, log } = deps;
  return {
    async reconcile(signal) {
      const role = await deployer.read(signal);
      if (role === undefined) {
        log.error({}, "Missing the role that deployments are made under; installing Argosy's roles again brings it back");
        return { requeueAfterMs: EVERY_MS };
      }
      const rules = deployerRules(await deployer.discover(signal), role.rules);
      if (!sameRules(rules, role.rules)) {
        log.info({ groups: rules.length }, "Updating the role that deployments are made under");
        await deployer.replaceRules(role, rules, signal);
      }
      return { requeueAfterMs: EVERY_MS };
    },
  };
}
