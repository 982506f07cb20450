import type { ObservedComponent, ObservedQuota } from "../domain/engine.ts";
import { InputError } from "../domain/errors.ts";
import { contentHash } from "../domain/hash.ts";
import type { Instance } from "../domain/instance.ts";
import type { FleetStore } from "../store/fleet/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Declaration } from "./declaration.ts";
import type { SecretKeeper } from "./keep-secrets.ts";
import { renderManifests } from "./manifests/render.ts";
import type { CrdSource, EngineClusterPort } from "./port.ts";
import { isStageDone, stagesOf } from "./stages.ts";

export interface InstanceObjectWriterDeps {
  readonly crds: CrdSource;
  readonly store: { readonly fleet: Pick<FleetStore, "keepReleasePart"> };
  readonly secrets: SecretKeeper;
  readonly log: Log;
}

export interface Writing {
  readonly instance: Instance;
  readonly declaration: Declaration & { readonly kind: "renderable" };
  /** The observed workloads, to write in stages. `undefined`: everything is written at once. */
  readonly stages: readonly ObservedComponent[] | undefined;
  /** The observed quota of its namespace. */
  readonly quota?: ObservedQuota | undefined;
}

export interface Written {
  /** Whether all objects were written. */
  readonly isWhole: boolean;
  /** How the objects were left, once all were written. */
  readonly left?: string | undefined;
}

export interface InstanceObjectWriter {
  /**
   * Writes the objects that are not as declared: first the release's CRDs, where this declaration is new to the
   * instance, then its objects. In stages, a workload is written only once the one before it runs as written. Nothing is written where the
   * objects are as another process left them (`Instance.leftHash`).
   */
  write(writing: Writing, cluster: EngineClusterPort, signal: AbortSignal): Promise<Written>;
}

export function createInstanceObjectWriter({ crds, store, secrets, log }: InstanceObjectWriterDeps): InstanceObjectWriter {
  const define = async ({ instance, declaration }: Writing, cluster: EngineClusterPort, signal: AbortSignal): Promise<void> => {
    // While the instance is CREATING the hash only says what was tried: that attempt may have ended before the CRDs were there.
    if (instance.appliedHash === declaration.hash && instance.state !== "CREATING") return;
    const { version } = declaration.parameters.release;
    const objects = await crds.read(declaration.crds, signal);
    // The files are on a disk that no declaration guards: what a release holds is what was read first.
    const content = contentHash(objects);
    if ((await store.fleet.keepReleasePart({ version, part: "crds", content }, signal)) !== content) throw otherDefinitions(version);
    const written = await cluster.ensureCrds({ version, objects }, signal);
    if (written.length > 0) log.info({ engineCluster: cluster.name, version, definitions: written }, "Wrote definitions");
  };
  return {
    async write(writing, cluster, signal) {
      const { instance, declaration, stages, quota } = writing;
      await define(writing, cluster, signal);
      const objects = renderManifests({
        ...declaration.parameters,
        ...(quota && { quota }),
        secrets: await secrets.read(instance, signal),
      });
      if (instance.leftHash !== undefined) await cluster.adoptObjects(objects, instance.leftHash, signal);
      for (const stage of stages === undefined ? [objects] : stagesOf(objects)) {
        const written = await cluster.applyObjects(stage, signal);
        if (written.length > 0) log.info({ instance: instance.name, objects: written }, "Wrote objects of an instance");
        if (stages !== undefined && !isStageDone(stage, written, stages)) return { isWhole: false };
      }
      return { isWhole: true, left: await cluster.leftOf(objects) };
    },
  };
}

function otherDefinitions(version: string): InputError {
  return new InputError(`holds other definitions than those that release ${version} was first used with, and a release never changes`, {
    code: "fleet.crds-changed",
    path: "versions.catalogue[].crds",
    context: { version },
    remedy: "Put the former files back, or declare what is there as a build of the release, and roll that out",
  });
}
