import type { EngineObject, ObservedComponent } from "../domain/engine.ts";
import { COMPONENT_NAMES } from "./manifests/names.ts";

/**
 * An instance's objects in the parts in which an upgrade writes them: all that pods read, and redis; repo-server; the controller. Each
 * release's controller is made for its own repo-server, and finds it there.
 */
export function stagesOf(objects: readonly EngineObject[]): readonly (readonly EngineObject[])[] {
  const stages: EngineObject[][] = [[]];
  for (const object of objects) {
    stages.at(-1)?.push(object);
    if (workloadOf([object]) !== undefined) stages.push([]);
  }
  return stages.filter((stage) => stage.length > 0);
}

/** Whether a stage needs nothing more: its workload was as it should be before this look, and ran so. What was just written has not been seen to run. */
export function isBehind(stage: readonly EngineObject[], written: readonly string[], seen: readonly ObservedComponent[]): boolean {
  const workload = workloadOf(stage);
  if (workload === undefined) return true;
  const isOld = !written.includes(`${workload.kind}/${workload.metadata.name}`);
  return isOld && seen.some(({ name, isReady }) => name === workload.metadata.name && isReady);
}

function workloadOf(stage: readonly EngineObject[]): EngineObject | undefined {
  return stage.find(({ kind, metadata }) => isWorkload(kind) && COMPONENT_NAMES.some((name) => name === metadata.name));
}

function isWorkload(kind: string): boolean {
  return kind === "Deployment" || kind === "StatefulSet";
}
