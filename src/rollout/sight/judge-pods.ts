import type { InstanceSight, Release, SightRequest } from "../../domain/rollout.ts";
import { listOf, objectOf } from "./json.ts";

interface SeenPod {
  readonly name: string;
  readonly component: string;
  readonly image: string;
  readonly isReady: boolean;
  readonly restarts: number;
  readonly isCrashing: boolean;
  readonly isOutOfMemory: boolean;
}

const COMPONENT = "app.kubernetes.io/component";
const PARTS = ["application-controller", "redis", "repo-server"];
/** One end may be a node's doing, or a component's that could not do without another; this many are the release's. */
const MANY_RESTARTS = 2;

/** What an instance's pods, as the API server gives them, say of the release they run. Pods on their way out say nothing. */
export function judgePods(
  raw: readonly unknown[],
  { releases, version }: Pick<SightRequest, "releases" | "version">,
): Pick<InstanceSight, "runs" | "crashes" | "outOfMemory"> {
  const pods = raw.flatMap((pod) => parsePod(pod) ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const release = releases.find((one) => one.version === version);
  const own = pods.filter((pod) => release !== undefined && pod.image === imageOf(release, pod.component));
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
  const metadata = objectOf(objectOf(raw)["metadata"]);
  const component = objectOf(metadata["labels"])[COMPONENT];
  if (typeof component !== "string" || !PARTS.includes(component) || metadata["deletionTimestamp"] !== undefined) return undefined;
  const status = objectOf(objectOf(raw)["status"]);
  const [container] = listOf(objectOf(objectOf(raw)["spec"])["containers"]).map(objectOf);
  const [state] = listOf(status["containerStatuses"]).map(objectOf);
  const restarts = Number(state?.["restartCount"] ?? 0);
  const waiting = objectOf(objectOf(state?.["state"])["waiting"])["reason"];
  const ends = [objectOf(state?.["state"]), objectOf(state?.["lastState"])].map((one) => objectOf(one["terminated"])["reason"]);
  return {
    ...{ name: textOf(metadata["name"]), component, image: textOf(container?.["image"]), restarts },
    isReady: listOf(status["conditions"])
      .map(objectOf)
      .some((one) => one["type"] === "Ready" && one["status"] === "True"),
    isCrashing: waiting === "CrashLoopBackOff" || restarts >= MANY_RESTARTS,
    isOutOfMemory: ends.includes("OOMKilled"),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
