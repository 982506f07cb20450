import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../../runtime/clock.ts";
import { NAMESPACES } from "../../../runtime/kube/namespaces.ts";
import type { KubeObject } from "../../../runtime/kube/resource.ts";
import { describeOnApiServers, type Subject } from "../../../runtime/kube/testing/api-servers.ts";
import { systemRng } from "../../../runtime/rng.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import type { ResourceAt, UserSecrets } from "../../port.ts";
import { eventually } from "../../testing/world.ts";
import { createUserSecrets, SECRETS } from "./user-secrets.ts";

const common = { clock: systemClock, rng: systemRng, log: silentLog, metrics: noMetrics };
const never = new AbortController().signal;

type SecretObject = KubeObject & { readonly type: string; readonly data: Readonly<Record<string, string>> };

describeOnApiServers("users' Secrets on %s", (_, start) => {
  const namespace = `secrets-contract-${process.pid}`;
  const at = (name: string): ResourceAt => ({ namespace, name });
  const changed: string[] = [];
  const named = new Set<string>();
  let subject: Subject;
  let secrets: UserSecrets;
  let abort: AbortController;

  beforeAll(async () => {
    subject = await start();
    abort = new AbortController();
    await subject.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }, never);
    secrets = createUserSecrets({ ...common, client: subject.client, unwatchedEveryMs: 50 });
    secrets.subscribe(
      (where) => changed.push(where.name),
      ({ name }) => named.has(name),
    );
    secrets.start(abort.signal);
    await secrets.synced(never);
  });
  afterAll(async () => {
    abort.abort(new Error("done"));
    await secrets.stopped();
    await subject.client.delete(NAMESPACES, { namespace: "", name: namespace }, {}, never);
    await subject.close();
  });

  const secret = (name: string, type: string, data: Readonly<Record<string, string>>): SecretObject => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: at(name),
    type,
    data,
  });
  const create = (name: string, type: string, data: Readonly<Record<string, string>>) =>
    subject.client.create(SECRETS, secret(name, type, data), never);

  it("sees those of the types users bring come, change and go, and no other", async () => {
    await create("opaque", "Opaque", {});
    await create("cluster", "managed-gitops.redhat.com/managed-environment", { kubeconfig: "YQ==" });
    await eventually("it is seen", () => secrets.version(at("cluster")) !== undefined);
    const first = secrets.version(at("cluster"));
    await subject.client.mergePatch(SECRETS, at("cluster"), { data: { kubeconfig: "Yg==" } }, never);
    await eventually("its change is seen", () => secrets.version(at("cluster")) !== first);
    await subject.client.delete(SECRETS, at("cluster"), {}, never);
    await eventually("its end is seen", () => secrets.version(at("cluster")) === undefined);
    expect(changed.filter((name) => name === "cluster").length).toBeGreaterThanOrEqual(3);
    expect(secrets.version(at("opaque"))).toBeUndefined();
    expect(changed).not.toContain("opaque");
  });

  it("reads one of any type with its bytes, and tells that there is none", async () => {
    await create("plain", "Opaque", { password: Buffer.from([0, 255, 10]).toString("base64") });
    expect(await secrets.read(at("plain"), never)).toEqual({ type: "Opaque", data: { password: Buffer.from([0, 255, 10]) } });
    expect(await secrets.read(at("nobody"), never)).toBeUndefined();
  });

  it("tells that one came, went or was replaced of a type nobody watches, once it was read and while it is named", async () => {
    const reported = () => changed.filter((name) => name === "late").length;
    named.add("late");
    expect(await secrets.read(at("late"), never)).toBeUndefined();
    await create("late", "Opaque", { password: "YQ==" });
    await eventually("it is reported", () => reported() === 1);
    expect(await secrets.read(at("late"), never)).toMatchObject({ type: "Opaque" });
    // Its content is nobody's business before it has the right type.
    await subject.client.mergePatch(SECRETS, at("late"), { data: { password: "Yg==" } }, never);
    await subject.client.delete(SECRETS, at("late"), {}, never);
    await create("late", "kubernetes.io/tls", { "tls.crt": "YQ==", "tls.key": "YQ==" });
    await eventually("another one is reported", () => reported() >= 2);
    const before = reported();
    // Reported may be that there was none for a moment, and the new one not seen yet.
    expect(await secrets.read(at("late"), never)).toMatchObject({ type: "kubernetes.io/tls" });
    await subject.client.delete(SECRETS, at("late"), {}, never);
    await eventually("its end is reported", () => reported() > before);
    named.delete("late");
  });
});
