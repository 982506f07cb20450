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
 * Renders all objects of an instance, in the order in which they have to be applied: policies and what pods read,
 * then the pods. Equal parameters give the same objects, byte for byte.
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
 * For each workload, a hash of everything its processes read only at their start: variables, and files that are read
 * once. A change replaces the pods it concerns and no others, because a new redis has an empty cache, and a new
 * controller lists all objects again.
 */
function startHashes(parameters: ManifestParameters): StartHashes {
  const { redisPassword, certificates } = parameters.secrets;
  const times = Object.entries(engineSettings(parameters)).filter(([key]) => key.startsWith("timeout."));
  const { authorities: authority, server, client } = certificates;
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
  certificates: { authorities: "", server: { certificate: "", key: "" }, client: { certificate: "", key: "" } },
};

/**
 * Hash that tells whether an instance is written as it should be. It changes with the pool's settings, the release
 * and this code, but not with the instance's secrets.
 */
export function manifestHash(parameters: Omit<ManifestParameters, "secrets">): string {
  return contentHash(renderManifests({ ...parameters, secrets: NO_SECRETS }));
}
