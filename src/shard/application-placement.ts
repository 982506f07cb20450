import type { InstanceId } from "../domain/ids.ts";
import { type Instance, sharesEntry } from "../domain/instance.ts";
import { LABEL_APPLICATION, LABEL_INSTANCE, LABEL_MANAGED_BY, LABEL_UNIT, MANAGED_BY } from "../domain/names.ts";
import type { Application, PlacementUnit, Workspace } from "../domain/workspace.ts";
import type { Fence } from "./managed-object.ts";
import { workspaceServer } from "./names.ts";

/** A unit on the instance that owns it. */
export interface ApplicationPlacement {
  readonly unit: PlacementUnit;
  readonly workspace: Workspace;
  readonly instance: Pick<Instance, "id" | "namespace" | "engineCluster" | "entries">;
}

/** The API cluster as instances address it: `server` is part of every Application and project and never changes. */
export interface Destination {
  readonly server: string;
  /** The certificates as PEM, in Base64; empty where the system's certificate authorities do. */
  readonly caData: string;
}

/**
 * The unit's own namespace's cluster as its instance addresses it. Argo CD tells clusters apart by URL, so each unit has one of its own on an
 * instance with an entry for each workspace.
 */
export function ownServer(
  { unit, instance }: { readonly unit: Pick<PlacementUnit, "id">; readonly instance: Pick<Instance, "entries"> },
  { server }: Pick<Destination, "server">,
): string {
  return sharesEntry(instance) ? server : workspaceServer(server, unit.id);
}

/** Namespaces of Argosy's own. */
export interface OwnNamespaces {
  readonly accounts: string;
}

export function unitFence(unit: Pick<PlacementUnit, "epoch" | "desiredRevision">): Fence {
  return { epoch: unit.epoch, revision: unit.desiredRevision };
}

export function applicationFence(unit: Pick<PlacementUnit, "epoch">, application: Pick<Application, "desiredRevision">): Fence {
  return { epoch: unit.epoch, revision: application.desiredRevision };
}

export function instanceLabels(instanceId: InstanceId): Readonly<Record<string, string>> {
  return { [LABEL_MANAGED_BY]: MANAGED_BY, [LABEL_INSTANCE]: instanceId };
}

export function unitLabels(placement: ApplicationPlacement): Readonly<Record<string, string>> {
  return { ...instanceLabels(placement.instance.id), [LABEL_UNIT]: placement.unit.id };
}

export function applicationLabels(placement: ApplicationPlacement, application: Application): Readonly<Record<string, string>> {
  return { ...unitLabels(placement), [LABEL_APPLICATION]: application.id };
}
