import type { Millis } from "../../domain/clock.ts";
import { asArray, asObject, asString, asTime } from "../../domain/json.ts";
import type { InstanceObservation, ObservationRequest, Release } from "../../domain/rollout.ts";

/**
 * When the release was assigned to the instance: older events of pods say nothing about it. Absent: it was not
 * assigned, or that is not known.
 */
export interface AskedAt {
  readonly askedAt?: Millis;
}

interface SeenPod {
  readonly name: string;
  readonly component: string;
  readonly image: string;
  readonly createdAt: Millis | undefined;
  readonly isReady: boolean;
  readonly restarts: number;
  readonly isCrashing: boolean;
  readonly isOutOfMemory: boolean;
}

const COMPONENT = "app.kubernetes.io/component";
/** Phases of a pod that runs no more and will not again. */
const ENDED = ["Failed", "Succeeded"];
const PARTS = ["application-controller", "redis", "repo-server"];
/** How many restarts count as a crash. A single one may be due to the node, or to another component that was not there yet. */
const MANY_RESTARTS = 2;

/** How far clocks of clusters may differ, in ms. */
const CLOCKS_MS = 60_000;

/**
 * What an instance's pods, as the API server gives them, show about the release they run. Pods that are being deleted
 * are left out, and so are those that have ended for good, which their Deployment leaves lying there: evicted ones.
 */
export function judgePods(
  raw: readonly unknown[],
  { releases, version, askedAt }: Pick<ObservationRequest, "releases" | "version"> & AskedAt,
): Pick<InstanceObservation, "runs" | "crashes" | "outOfMemory"> {
  const pods = raw.flatMap((pod) => parsePod(pod) ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const release = releases.find((one) => one.version === version);
  // A component whose image stays the same keeps its pod, and that pod's restarts from before.
  const isNew = ({ createdAt }: SeenPod): boolean => askedAt === undefined || createdAt === undefined || createdAt >= askedAt - CLOCKS_MS;
  const own = pods.filter((pod) => release !== undefined && pod.image === imageOf(release, pod.component) && isNew(pod));
  const isRunning = (one: Release): boolean =>
    PARTS.every((part) => pods.some(({ component }) => component === part)) &&
    pods.every((pod) => pod.isReady && pod.image === imageOf(one, pod.component));
  return {
    runs: releases.find(isRunning)?.version,
    crashes: own.filter(({ isCrashing }) => isCrashing).map(({ name, restarts }) => `${name} ends again and again (${restarts} times)`),
    outOfMemory: own.filter(({ isOutOfMemory }) => isOutOfMemory).map(({ name }) => `${name} used more memory than it may`),
  };
}

function imageOf({ image, redisImage }: Release, component: string): string {
  return component === "redis" ? redisImage : image;
}

function parsePod(raw: unknown): SeenPod | undefined {
  const metadata = asObject(asObject(raw)["metadata"]);
  const component = asObject(metadata["labels"])[COMPONENT];
  if (typeof component !== "string" || !PARTS.includes(component) || metadata["deletionTimestamp"] !== undefined) return undefined;
  const status = asObject(asObject(raw)["status"]);
  if (ENDED.includes(asString(status["phase"]))) return undefined;
  const [container] = asArray(asObject(asObject(raw)["spec"])["containers"]).map(asObject);
  const [state] = asArray(status["containerStatuses"]).map(asObject);
  const restarts = Number(state?.["restartCount"] ?? 0);
  const waiting = asObject(asObject(state?.["state"])["waiting"])["reason"];
  const ends = [asObject(state?.["state"]), asObject(state?.["lastState"])].map((one) => asObject(one["terminated"])["reason"]);
  return {
    name: asString(metadata["name"]),
    component,
    image: asString(container?.["image"]),
    restarts,
    createdAt: asTime(metadata["creationTimestamp"]),
    isReady: asArray(status["conditions"])
      .map(asObject)
      .some((one) => one["type"] === "Ready" && one["status"] === "True"),
    isCrashing: waiting === "CrashLoopBackOff" || restarts >= MANY_RESTARTS,
    isOutOfMemory: ends.includes("OOMKilled"),
  };
}
