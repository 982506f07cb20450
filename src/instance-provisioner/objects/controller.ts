import type { ObservedComponent } from "../../domain/engine.ts";
import type { Instance } from "../../domain/instance.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Declaration } from "../declaration.ts";
import { renderManifests } from "../manifests/render.ts";
import type { CrdSource, EngineClusterPort } from "../port.ts";
import { isBehind, stagesOf } from "../stages.ts";
import type { SecretKeeper } from "../secrets/controller.ts";

export interface ObjectWriterDeps {
  readonly crds: CrdSource;
  readonly secrets: SecretKeeper;
  readonly log: Log;
}

export interface ObjectWriter {
  /**
   * Writes what is not as the declaration asks for: the release's definitions first, where this is new to the instance, then its objects.
   * Under `stages` a workload is written only once the one before it runs as it was written; returns whether all were written.
   */
  write(
    instance: Instance,
    declaration: Declaration & { readonly kind: "renderable" },
    cluster: EngineClusterPort,
    signal: AbortSignal,
    stages?: readonly ObservedComponent[],
  ): Promise<boolean>;
}

export function createObjectWriter({ crds, secrets, log }: ObjectWriterDeps): ObjectWriter {
  return {
    async write(instance, { parameters, crds: directory, hash }, cluster, signal, stages) {
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
      for (const stage of stages === undefined ? [objects] : stagesOf(objects)) {
        const written = await cluster.applyObjects(stage, signal);
        if (written.length > 0) log.info({ instance: instance.name, objects: written }, "Wrote objects of an instance");
        if (stages !== undefined && !isBehind(stage, written, stages)) return false;
      }
      return true;
    },
  };
}
