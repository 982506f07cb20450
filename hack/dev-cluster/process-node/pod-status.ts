import type { Pod, PodCondition } from "./pod.ts";

/** How a container ended. Times are RFC 3339. */
export interface Termination {
  readonly exitCode: number;
  readonly reason: string;
  readonly startedAt: string;
  readonly finishedAt: string;
}

export type ContainerState =
  | { readonly kind: "waiting"; readonly reason: string; readonly message?: string }
  | { readonly kind: "running"; readonly startedAt: string }
  | { readonly kind: "terminated"; readonly termination: Termination };

/** What is known about one container. */
export interface ContainerView {
  readonly name: string;
  readonly image: string;
  readonly state: ContainerState;
  readonly last: Termination | undefined;
  readonly isReady: boolean;
  readonly restartCount: number;
  readonly id: string | undefined;
}

/** Times are RFC 3339. */
export interface StatusFacts {
  readonly podIP: string;
  readonly now: string;
  readonly startTime: string;
}

/** Phase of a pod from its containers, by the kubelet's rules. */
export function phaseOf(containers: readonly ContainerView[], restartPolicy: string): "Pending" | "Running" | "Succeeded" | "Failed" {
  if (containers.some(({ state, last }) => state.kind === "waiting" && last === undefined)) return "Pending";
  if (restartPolicy === "Always" || containers.some(({ state }) => state.kind !== "terminated")) return "Running";
  return containers.every(({ state }) => state.kind === "terminated" && state.termination.exitCode === 0) ? "Succeeded" : "Failed";
}

/**
 * The status that a node reports for a pod. Conditions of others (PodScheduled) are kept. A condition's time changes
 * only with its status, so equal facts give an equal status.
 */
export function renderStatus(pod: Pod, facts: StatusFacts, containers: readonly ContainerView[]): object {
  const phase = phaseOf(containers, pod.spec.restartPolicy ?? "Always");
  const over = phase === "Succeeded" || phase === "Failed";
  const unready = containers.filter((container) => !container.isReady).map((container) => container.name);
  const readiness = over
    ? { status: "False", reason: phase === "Succeeded" ? "PodCompleted" : "PodFailed" }
    : unready.length === 0
      ? { status: "True" }
      : { status: "False", reason: "ContainersNotReady", message: `containers with unready status: [${unready.join(" ")}]` };
  const own: readonly PodCondition[] = [
    { type: "PodReadyToStartContainers", status: over ? "False" : "True" },
    { type: "Initialized", status: "True", ...(phase === "Succeeded" ? { reason: "PodCompleted" } : {}) },
    { type: "Ready", ...readiness },
    { type: "ContainersReady", ...readiness },
  ];
  return {
    phase,
    conditions: mergeConditions(pod.status?.conditions ?? [], own, facts.now),
    hostIP: "127.0.0.1",
    hostIPs: [{ ip: "127.0.0.1" }],
    podIP: facts.podIP,
    podIPs: [{ ip: facts.podIP }],
    startTime: facts.startTime,
    containerStatuses: containers.map((container) => containerStatus(container)),
    ...((pod.spec.initContainers ?? []).length > 0
      ? { initContainerStatuses: (pod.spec.initContainers ?? []).map((container) => initStatus(container, facts.startTime)) }
      : {}),
  };
}

function mergeConditions(before: readonly PodCondition[], own: readonly PodCondition[], now: string): readonly PodCondition[] {
  const foreign = before.filter((condition) => !own.some(({ type }) => type === condition.type));
  const merged = own.map((condition) => {
    const old = before.find(({ type }) => type === condition.type);
    const since = old?.status === condition.status ? (old.lastTransitionTime ?? now) : now;
    return { ...condition, lastTransitionTime: since };
  });
  return [...foreign, ...merged];
}

function containerStatus(container: ContainerView): object {
  const running = container.state.kind === "running";
  return {
    name: container.name,
    image: container.image,
    imageID: container.id === undefined ? "" : container.image,
    ...(container.id === undefined ? {} : { containerID: container.id }),
    ready: container.isReady,
    started: running,
    restartCount: container.restartCount,
    state: renderState(container.state, container.id),
    lastState: container.last === undefined ? {} : { terminated: container.last },
  };
}

function renderState(state: ContainerState, id: string | undefined): object {
  switch (state.kind) {
    case "waiting":
      return { waiting: { reason: state.reason, ...(state.message === undefined ? {} : { message: state.message }) } };
    case "running":
      return { running: { startedAt: state.startedAt } };
    case "terminated":
      return { terminated: { ...state.termination, ...(id === undefined ? {} : { containerID: id }) } };
  }
}

/**
 * Init containers are not run here. What they prepare (binaries for plugins, a generated password) is not needed by
 * any known program.
 */
function initStatus(container: { readonly name: string; readonly image: string }, at: string): object {
  const terminated = { exitCode: 0, reason: "Completed", startedAt: at, finishedAt: at };
  return {
    name: container.name,
    image: container.image,
    imageID: container.image,
    ready: true,
    started: false,
    restartCount: 0,
    state: { terminated },
    lastState: {},
  };
}
