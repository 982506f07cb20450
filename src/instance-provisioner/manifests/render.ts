import type { EngineObject } from "../../domain/engine.ts";
import { contentHash } from "../../domain/hash.ts";
import { renderAccess, renderNamespace } from "./access.ts";
import { renderLimits } from "./limits.ts";
import { renderNetworkPolicies } from "./network.ts";
import type { InstanceSecrets, ManifestParameters } from "./parameters.ts";
import { controllerSettings, processSettings, repoServerSettings } from "./process-settings.ts";
import { renderServices } from "./services.ts";
import { engineSettings, renderSecrets, renderSettings } from "./settings.ts";
import { renderWorkloads, type StartHashes } from "./workloads.ts";

/**
 * All objects of an instance in the order in which they must be applied: what confines pods and what they read before the
 * pods themselves. Equal parameters give equal objects, byte for byte.
 */
export function renderManifests(parameters: ManifestParameters): readonly EngineObject[] {
  const { instance } = parameters;
  const settings = processSettings(parameters);
  return [
    renderNamespace(instance),
    ...renderLimits(parameters),
    ...renderNetworkPolicies(parameters),
    ...renderAccess(instance),
    ...renderSettings(parameters, settings),
    ...renderSecrets(parameters),
    ...renderServices(instance),
    ...renderWorkloads(parameters, startHashes(parameters)),
  ];
}

/**
 * Cover, for each workload, all that reaches its processes through variables and through files they read only once: a change
 * replaces the pods of those it concerns, and no others. A new redis would be an empty cache, a new controller a relist of all.
 */
function startHashes(parameters: ManifestParameters): StartHashes {
  const { redisPassword, certificates } = parameters.secrets;
  const times = Object.entries(engineSettings(parameters)).filter(([key]) => key.startsWith("timeout."));
  const { authority, server, client } = certificates;
  return {
    redis: contentHash({ redisPassword }),
    repoServer: contentHash({
      settings: repoServerSettings(parameters),
      times: times.filter(([key]) => key === "timeout.reconciliation"),
      redisPassword,
      authority,
      server,
    }),
    controller: contentHash({ settings: controllerSettings(parameters), times, redisPassword, authority, client, server }),
  };
}

const NO_SECRETS: InstanceSecrets = {
  serverSecretKey: "",
  redisPassword: "",
  certificates: { authority: "", server: { certificate: "", key: "" }, client: { certificate: "", key: "" }, notAfter: 0 },
};

/**
 * Says whether an instance is written as it should be now: changes with the pool's settings, the release and with the
 * generator itself, but not with the instance's secrets.
 */
export function manifestHash(parameters: Omit<ManifestParameters, "secrets">): string {
  return contentHash(renderManifests({ ...parameters, secrets: NO_SECRETS }));
}
