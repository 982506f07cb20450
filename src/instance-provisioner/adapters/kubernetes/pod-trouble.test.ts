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
    ["an image that cannot be had", waiting("ErrImagePull"), "image images.example/redis:9 cannot be pulled"],
    ["the same while it waits to try again", waiting("ImagePullBackOff"), "image images.example/redis:9 cannot be pulled"],
    ["memory", waiting("CrashLoopBackOff", { reason: "OOMKilled" }), "its container does not start: it used more memory than it may"],
    ["a program that ends", waiting("CrashLoopBackOff", { exitCode: 2 }), "its container does not start: it ended with code 2"],
    ["a missing Secret", waiting("CreateContainerConfigError"), "its container does not start: CreateContainerConfigError"],
    ["full nodes", scheduled("Unschedulable", "0/3 nodes are available"), "no node has room for it: 0/3 nodes are available"],
  ])("is %s, told in the same words at every look", (_what, status, trouble) => {
    expect([...podTroubles([aPod(status)])]).toEqual([["argocd-redis", trouble]]);
  });

  it("is not that it takes its time, nor anything of a pod that is leaving or whose component nobody knows", () => {
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
