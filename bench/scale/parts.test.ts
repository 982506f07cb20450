import { expect, it } from "vitest";
import { partOf } from "./parts.ts";

it.each([
  [["/cache/kubernetes/kube-apiserver", "--cert-dir=/tmp/run-1/cluster/main"], "API server"],
  [["/cache/kubernetes/etcd", "--data-dir", "/tmp/run-1/cluster/main/etcd"], "etcd"],
  [["/cache/postgres/bin/postgres", "-D", "/tmp/run-1/postgres/data"], "database"],
  [["/usr/bin/node", "/src/bench/engine/main.ts", "/tmp/run-1/kubeconfig"], "engine"],
  [["/bin/sh", "-c", "x", "guardian", "/tmp/run-1/a", "/tmp/run-1/log", "/usr/bin/node", "/src/bench/engine/main.ts"], undefined],
  [["/cache/kubernetes/etcd", "--data-dir", "/tmp/run-2/cluster/main/etcd"], undefined],
  [["/usr/bin/node", "/src/cli/argosy.ts", "serve", "--config", "/tmp/run-1/argosy/argosy-1.yaml"], undefined],
  [[], undefined],
])("a process started as %j belongs to %s", (command, part) => {
  expect(partOf(command, "/tmp/run-1")).toBe(part);
});
