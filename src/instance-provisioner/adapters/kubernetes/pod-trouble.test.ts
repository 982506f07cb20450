import { describe, expect, it } from "vitest";
import { podTroubles, type SeenPod } from "./pod-trouble.ts";

function aPod(status: SeenPod["status"], metadata: Partial<SeenPod["metadata"]> = {}): SeenPod {
  const pod = {
    metadata: { name: "pod-1", labels: { "app.kubernetes.io/name": "argocd-redis" }, ...metadata },
    spec: { containers: [{ image: "images.example/redis:9" }] },
    ...(status === undefined ? {} : { status }),
  };
  return pod;
}

const waiting = (reason: string, terminated?: { readonly reason?: string; readonly exitCode?: number }) => ({
  containerStatuses: [{ state: { waiting: { reason } }, ...(terminated === undefined ? {} : { lastState: { terminated } }) }],
});
const scheduled = (reason: string, message?: string) => ({
  conditions: [{ type: "PodScheduled", status: "False", reason, ...(message === undefined ? {} : { message }) }],
});

describe("what keeps pods from starting", () => {
  it.each([
    ["an image that cannot be pulled", waiting("ErrImagePull"), "image images.example/redis:9 cannot be pulled"],
    ["the same while the kubelet waits to try again", waiting("ImagePullBackOff"), "image images.example/redis:9 cannot be pulled"],
    [
      "too little memory",
      waiting("CrashLoopBackOff", { reason: "OOMKilled" }),
      "its container does not start: it used more memory than it may",
    ],
    ["a program that exits", waiting("CrashLoopBackOff", { exitCode: 2 }), "its container does not start: it ended with code 2"],
    ["a missing Secret", waiting("CreateContainerConfigError"), "its container does not start: CreateContainerConfigError"],
    ["full nodes", scheduled("Unschedulable", "0/3 nodes are available"), "no node has room for it: 0/3 nodes are available"],
  ])("is %s, in the same words with every observation", (_what, status, trouble) => {
    expect([...podTroubles([aPod(status)])]).toEqual([["argocd-redis", trouble]]);
  });

  it("is nothing while a pod is only slow, is being deleted, or belongs to no known component", () => {
    const trouble = waiting("ErrImagePull");
    const quiet = [
      aPod(undefined),
      aPod(waiting("ContainerCreating")),
      aPod(scheduled("SchedulingGated")),
      aPod(trouble, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
      aPod(trouble, { labels: {} }),
    ];
    expect(podTroubles(quiet).size).toBe(0);
  });
});
