import type { EngineObject, ObservedComponent } from "../domain/engine.ts";
import { COMPONENT_NAMES } from "./manifests/names.ts";

/**
 * Splits an instance's objects into the stages in which an upgrade writes them: everything pods read, and redis; then
 * repo-server; then the controller. The controller of a release is made for the repo-server of the same release,
 * which runs by then.
 */
export function stagesOf(objects: readonly EngineObject[]): readonly (readonly EngineObject[])[] {
  const stages: EngineObject[][] = [[]];
  for (const object of objects) {
    stages.at(-1)?.push(object);
    if (workloadOf([object]) !== undefined) stages.push([]);
  }
  return stages.filter((stage) => stage.length > 0);
}

/**
 * Whether a stage is done: its workload was not just written, and it is ready. A workload that was just written has
 * not been seen to run yet.
 */
export function isStageDone(stage: readonly EngineObject[], written: readonly string[], seen: readonly ObservedComponent[]): boolean {
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
