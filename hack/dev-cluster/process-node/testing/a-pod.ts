import type { Container, Pod, PodSpec } from "../pod.ts";

export function aContainer(changes: Partial<Container> = {}): Container {
  return { name: "main", image: "example/web:1", ...changes };
}

export function aPod(
  changes: { readonly spec?: Partial<PodSpec>; readonly metadata?: Partial<Pod["metadata"]>; readonly status?: Pod["status"] } = {},
): Pod {
  return {
    metadata: { name: "web-0", namespace: "shop", uid: "uid-1", labels: { app: "web" }, ...changes.metadata },
    spec: { nodeName: "node", serviceAccountName: "web", containers: [aContainer()], ...changes.spec },
    ...(changes.status === undefined ? {} : { status: changes.status }),
  };
}
