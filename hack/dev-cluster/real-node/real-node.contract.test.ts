import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { loadKubeconfig } from "../../../src/runtime/kube/auth.ts";
import type { KubeClient } from "../../../src/runtime/kube/client.ts";
import { createKubeClient } from "../../../src/runtime/kube/http.ts";
import type { KubeObject } from "../../../src/runtime/kube/resource.ts";
import { systemRng } from "../../../src/runtime/rng.ts";
import { noMetrics } from "../../../src/telemetry/metrics.ts";
import { applyAll, typeOf } from "../apply.ts";
import { podType } from "../process-node/pod.ts";
import { networkOf } from "../testing/pod-network.ts";
import { until } from "../testing/until.ts";
import { PAUSE_IMAGE } from "./images.ts";
import { networksOf } from "./network.ts";
import { API_SERVICE, type ClusterNetwork, planNode } from "./network-plan.ts";
import { missingForRealNode } from "./requirements.ts";

const run = promisify(execFile);
const main = fileURLToPath(new URL("../main.ts", import.meta.url));
const missing = missingForRealNode();
if (missing !== undefined) process.stdout.write(`contract: tests on a real node are skipped: ${missing.why}. ${missing.remedy}\n`);

interface PodStatus extends KubeObject {
  readonly status?: { readonly phase?: string; readonly podIP?: string };
}

interface Claim extends KubeObject {
  readonly status?: { readonly phase?: string };
}

const RESTRICTED = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
  runAsUser: 65_532,
  seccompProfile: { type: "RuntimeDefault" },
};

/** A namespace that enforces the standard `restricted`, and in it a pod with a volume. */
const SCENE = [
  {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "shop", labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
  },
  {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data", namespace: "shop" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } },
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "till", namespace: "shop" },
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: "till",
          image: PAUSE_IMAGE,
          imagePullPolicy: "Never",
          securityContext: RESTRICTED,
          volumeMounts: [{ name: "data", mountPath: "/data" }],
        },
      ],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
    },
  },
];

const NOBODY = "nobody answers";
/** Asks the name server of the cluster for the API server's Service, once. */
const ASK = `const { Resolver } = require("node:dns/promises"); const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers(["10.96.0.10"]);
  resolver.resolve4("kubernetes.default.svc.cluster.local").then((found) => console.log(found.join()), () => console.log("${NOBODY}"));`;

/** Nobody outside kube-system may ask the name server. */
const POLICY = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: "only-here", namespace: "kube-system" },
  spec: { podSelector: { matchLabels: { "k8s-app": "kube-dns" } }, policyTypes: ["Ingress"], ingress: [{ from: [{ podSelector: {} }] }] },
};

describe.skipIf(missing !== undefined)("a real node", () => {
  const stateDir = mkdtempSync(join(tmpdir(), "real-"));
  const directory = join(stateDir, "main");
  const signal = new AbortController().signal;
  let child: ChildProcess;
  let client: KubeClient;

  async function up(): Promise<void> {
    child = spawn(process.execPath, [main, "up", "--state", stateDir, "--real-nodes", "1"], { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    await until(
      "the cluster",
      () => (child.exitCode === null ? said : Promise.reject(new Error(`it ended: ${said}`))),
      (text) => text.includes("main: KUBECONFIG="),
    );
    const credentials = loadKubeconfig({ file: join(directory, "etc", "admin.kubeconfig") });
    client = createKubeClient({ cluster: "main", credentials, clock: systemClock, rng: systemRng, metrics: noMetrics });
  }

  async function end(how: NodeJS.Signals): Promise<void> {
    await client.close();
    const ended = once(child, "exit");
    child.kill(how);
    await ended;
  }

  const podIn = (namespace: string, start: string) => async () =>
    (await client.listPage<PodStatus>(podType, { namespace }, signal)).items.find(({ metadata }) => metadata.name.startsWith(start));
  const running = (namespace: string, start: string) =>
    until(
      `a running pod ${start}`,
      podIn(namespace, start),
      (pod) => pod?.status?.phase === "Running" && pod.metadata.deletionTimestamp === undefined,
    );
  const network = (): ClusterNetwork => networksOf(directory)[0] as ClusterNetwork;

  beforeAll(up);

  afterAll(async () => {
    await run(process.execPath, [main, "down", "--state", stateDir]);
    rmSync(stateDir, { recursive: true, force: true });
  });

  it("runs a pod of a namespace that enforces restricted pod security, with a volume", async () => {
    await applyAll(client, SCENE, signal);
    const pod = await running("shop", "till");
    expect(pod?.status?.podIP).toMatch(new RegExp(`^10\\.${128 + network().index}\\.1\\.`));
    const claim = { namespace: "shop", name: "data" };
    expect(await client.get<Claim>(typeOf(SCENE[1] as unknown as KubeObject), claim, signal)).toMatchObject({ status: { phase: "Bound" } });
  });

  it("leads its pods to Services by name and address", async () => {
    await running("kube-system", "coredns");
    const inNode = (...words: readonly string[]) => run("nsenter", [`--net=/run/netns/${planNode(network(), 1).namespace}`, ...words]);
    const answered = await until(
      "an answer of the name server",
      async () => (await inNode(process.execPath, "-e", ASK)).stdout.trim(),
      (text) => text !== NOBODY,
    );
    expect(answered).toBe(API_SERVICE);
    const connect = `require("node:net").connect(443, "${API_SERVICE}").on("connect", () => { console.log("connected"); process.exit() });`;
    expect((await inNode(process.execPath, "-e", connect)).stdout.trim()).toBe("connected");
  });

  it("holds NetworkPolicies for its pods, and for no longer than they are there", async () => {
    await running("kube-system", "coredns");
    const pod = await running("shop", "till");
    const network = await networkOf(pod?.status?.podIP ?? "");
    const ask = async () => (await run("nsenter", [`--net=${network}`, process.execPath, "-e", ASK])).stdout.trim();
    const answers = () => until("an answer", ask, (text) => text === API_SERVICE);
    await answers();
    await applyAll(client, [POLICY], signal);
    await until("no answer", ask, (text) => text === NOBODY);
    await client.delete(typeOf(POLICY as unknown as KubeObject), { namespace: "kube-system", name: POLICY.metadata.name }, {}, signal);
    await answers();
  });

  it("gives the API server the logs of its pods", async () => {
    const pod = await running("kube-system", "coredns");
    const kubectl = { env: { ...process.env, KUBECONFIG: join(directory, "etc", "admin.kubeconfig") } };
    const path = `/api/v1/namespaces/kube-system/pods/${pod?.metadata.name}/log`;
    const program = readFileSync(join(directory, "run", "kube-apiserver", "command.json"), "utf8").split('"')[1] as string;
    const { stdout } = await run(join(program, "..", "kubectl"), ["get", "--raw", path], kubectl);
    expect(stdout).toContain("CoreDNS-");
  });

  it("is gone without a trace when it is ended, and when it was killed and `down` ends what is left", async () => {
    const traces = async (): Promise<readonly string[]> => {
      const { stdout: namespaces } = await run("ip", ["netns", "list"]);
      const { stdout: links } = await run("ip", ["-o", "link", "show"]);
      const mounts = readFileSync("/proc/self/mountinfo", "utf8");
      const processes = (await run("ps", ["-eo", "args"])).stdout;
      const isOurs = (line: string) => line.includes(directory) || line.includes(`argosy${index}n`) || line.includes(`argosy${index}-`);
      return [namespaces, links, mounts, processes].flatMap((text) => text.split("\n").filter(isOurs));
    };
    const { index } = network();
    await end("SIGTERM");
    expect(networksOf(directory)).toEqual([]);
    expect(await traces()).toEqual([]);

    await up();
    await running("shop", "till");
    expect((await traces()).length).toBeGreaterThan(0);
    await end("SIGKILL");
    // The node's programs and pods go on, and a start with the same directory begins anew.
    expect((await traces()).length).toBeGreaterThan(0);
    await up();
    await running("shop", "till");
    await end("SIGKILL");
    expect((await traces()).length).toBeGreaterThan(0);
    await run(process.execPath, [main, "down", "--state", stateDir]);
    expect(await traces()).toEqual([]);
    expect(existsSync(`/sys/fs/cgroup/memory/argosy${index}-node-1`)).toBe(false);
  });
});
