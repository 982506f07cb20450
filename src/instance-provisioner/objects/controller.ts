import type { Instance } from "../../domain/instance.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Declaration } from "../declaration.ts";
import { renderManifests } from "../manifests/render.ts";
import type { CrdSource, EngineClusterPort } from "../port.ts";
import type { SecretKeeper } from "../secrets/controller.ts";

export interface ObjectWriterDeps {
  readonly crds: CrdSource;
  readonly secrets: SecretKeeper;
  readonly log: Log;
}

export interface ObjectWriter {
  /** Writes what is not as the declaration asks for: the release's definitions first, where this is new to the instance, then its objects. */
  write(
    instance: Instance,
    declaration: Declaration & { readonly kind: "renderable" },
    cluster: EngineClusterPort,
    signal: AbortSignal,
  ): Promise<void>;
}

export function createObjectWriter({ crds, secrets, log }: ObjectWriterDeps): ObjectWriter {
  return {
    async write(instance, { parameters, crds: directory, hash }, cluster, signal) {
      // While it is created the hash only says what was tried: an attempt may have ended before its definitions were there.
      if (instance.appliedHash !== hash || instance.state === "CREATING") {
        const written = await cluster.ensureCrds(
          { version: parameters.release.version, objects: await crds.read(directory, signal) },
          signal,
        );
        if (written.length > 0)
          log.info({ engineCluster: cluster.name, version: parameters.release.version, definitions: written }, "Wrote definitions");
      }
      const objects = renderManifests({ ...parameters, secrets: await secrets.read(instance, signal) });
      const written = await cluster.applyObjects(objects, signal);
      if (written.length > 0) log.info({ instance: instance.name, objects: written }, "Wrote objects of an instance");
    },
  };
}
