import { afterAll, beforeAll, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import { NAMESPACES } from "../../../runtime/kube/namespaces.ts";
import type { KubeObject } from "../../../runtime/kube/resource.ts";
import { describeOnApiServers, type Subject } from "../../../runtime/kube/testing/api-servers.ts";
import { createEventRecorder, EVENTS } from "./user-events.ts";

const NAMESPACE = `events-contract-${process.pid}`;
const never = new AbortController().signal;
const T0 = Date.UTC(2026, 0, 1);

describeOnApiServers("Events for users, on %s", (_name, start) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await start();
    await subject.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }, never);
  });
  afterAll(async () => {
    await subject.client.delete(NAMESPACES, { namespace: "", name: NAMESPACE }, {}, never);
    await subject.close();
  });

  const about = { kind: "GitOpsDeployment", namespace: NAMESPACE, name: `${"a".repeat(198)}.-b${"c".repeat(50)}`, uid: "uid-1" };
  const times = (count: number) => ({ count, firstAt: millis(T0), lastAt: millis(T0 + count * 1000) });
  const list = async () => (await subject.client.listPage<KubeObject>(EVENTS, { namespace: NAMESPACE }, never)).items;

  it("are made, and counted when they happen again, whatever the resource is called", async () => {
    const recorder = createEventRecorder(subject.client);
    const event = { about, type: "Warning", reason: "InvalidSpec", message: "x".repeat(5000), digest: "0123456789abcdef" } as const;
    await recorder.record({ ...event, ...times(1) }, never);
    await recorder.record({ ...event, ...times(2) }, never);
    await recorder.record({ ...event, digest: "fedcba9876543210", ...times(1) }, never);
    const found = await list();
    expect(found.map(({ metadata }) => metadata.name.slice(-16)).sort()).toEqual(["0123456789abcdef", "fedcba9876543210"]);
    expect(found.find(({ metadata }) => metadata.name.endsWith(event.digest))).toMatchObject({
      ...{ type: "Warning", reason: "InvalidSpec", count: 2, message: "x".repeat(1024) },
      ...{ firstTimestamp: "2026-01-01T00:00:00Z", lastTimestamp: "2026-01-01T00:00:02Z" },
      involvedObject: { kind: "GitOpsDeployment", namespace: NAMESPACE, name: about.name, uid: "uid-1" },
      source: { component: "argosy" },
    });
  });
});
