import type { KubeObject } from "../../../runtime/kube/resource.ts";

/** The part of a pod that is read here. */
export interface SeenPod extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly {
      readonly type?: string;
      readonly status?: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
    readonly containerStatuses?: readonly {
      readonly image?: string;
      readonly state?: { readonly waiting?: { readonly reason?: string } };
      readonly lastState?: { readonly terminated?: { readonly reason?: string; readonly exitCode?: number } };
    }[];
  };
}

const COMPONENT = "app.kubernetes.io/name";
const PULLING: readonly string[] = ["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"];
const STARTING: readonly string[] = ["CrashLoopBackOff", "RunContainerError", "CreateContainerError", "CreateContainerConfigError"];

/**
 * What keeps pods from starting, by component. The words stay the same from one observation to the next. A pod that
 * is only slow has no trouble.
 */
export function podTroubles(pods: readonly SeenPod[]): ReadonlyMap<string, string> {
  const reported = pods.flatMap((pod) => {
    const component = pod.metadata.labels?.[COMPONENT];
    const trouble = pod.metadata.deletionTimestamp === undefined ? troubleOf(pod) : undefined;
    return component === undefined || trouble === undefined ? [] : [[component, trouble] as const];
  });
  return new Map(reported);
}

function troubleOf({ status, spec }: SeenPod & { readonly spec?: PodSpec }): string | undefined {
  const unscheduled = status?.conditions?.find(({ type, status: is }) => type === "PodScheduled" && is === "False");
  if (unscheduled?.reason === "Unschedulable") return `no node has room for it: ${unscheduled.message ?? ""}`;
  for (const container of status?.containerStatuses ?? []) {
    const reason = container.state?.waiting?.reason ?? "";
    if (PULLING.includes(reason)) return `image ${spec?.containers?.[0]?.image ?? container.image ?? ""} cannot be pulled`;
    if (STARTING.includes(reason)) return `its container does not start: ${endOf(container.lastState?.terminated) ?? reason}`;
  }
  return undefined;
}

interface PodSpec {
  readonly containers?: readonly { readonly image?: string }[];
}

function endOf(last: { readonly reason?: string; readonly exitCode?: number } | undefined): string | undefined {
  if (last === undefined) return undefined;
  return last.reason === "OOMKilled" ? "it used more memory than it may" : `it ended with code ${last.exitCode ?? "?"}`;
}
