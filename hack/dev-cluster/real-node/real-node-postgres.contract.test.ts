import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/runtime/kube/resource.ts";
import { applyAll, typeOf } from "../apply.ts";
import { type DevCluster, startDevCluster } from "../dev-cluster.ts";
import { podType } from "../process-node/pod.ts";
import { until } from "../testing/until.ts";
import { type LocalImage, postgresImage } from "./images.ts";
import { missingForRealNode } from "./requirements.ts";

const missing = missingForRealNode();
if (missing !== undefined) process.stdout.write(`contract: PostgreSQL on a real node is not tried: ${missing.why}. ${missing.remedy}\n`);

const NAMESPACE = "db";
const PASSWORD = "correct horse";

const RESTRICTED = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  readOnlyRootFilesystem: true,
};

/**
 * Makes the database once: in a folder that gets its name at the end, so that a start that is cut off begins anew, and one that finds data
 * leaves it. A kubelet opens what is on a volume to the fsGroup each time it mounts it, and PostgreSQL refuses a folder that is open. The image
 * that Docker publishes has the same programs; it cannot be pulled here.
 */
const INITIALIZE = `set -eu
data=/var/lib/postgresql/data
if [ -e "$data" ]; then
  chmod 0700 "$data"
  exit 0
fi
rm -rf "$data.new"
initdb --pgdata="$data.new" --username=argosy --pwfile=/etc/postgresql/secret/password --auth=scram-sha-256 \\
  --encoding=UTF8 --locale-provider=builtin --builtin-locale=C.UTF-8 --locale=C --no-instructions
echo "CREATE DATABASE argosy" | postgres --single -D "$data.new" postgres
mv "$data.new" "$data"
sync`;

const SERVER = [
  "postgres",
  ...["-D", "/var/lib/postgresql/data"],
  ...["-c", "hba_file=/etc/postgresql/config/pg_hba.conf"],
  ...["-c", "listen_addresses=*"],
  ...["-c", "unix_socket_directories="],
];

const metadata = (name: string) => ({ name, namespace: NAMESPACE });

const SCENE = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE, labels: { "pod-security.kubernetes.io/enforce": "restricted" } } },
  { apiVersion: "v1", kind: "Secret", metadata: metadata("password"), stringData: { password: PASSWORD } },
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadata("config"),
    data: { "pg_hba.conf": "host all all all scram-sha-256\n" },
  },
  {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: metadata("data"),
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: "folders", resources: { requests: { storage: "1Gi" } } },
  },
];

function podOf({ name: image }: LocalImage) {
  const mount = (name: string, mountPath: string, readOnly = true) => ({ name, mountPath, readOnly });
  const container = { image, imagePullPolicy: "Never", securityContext: RESTRICTED };
  const data = mount("data", "/var/lib/postgresql", false);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: metadata("postgres-0"),
    spec: {
      securityContext: {
        ...{ runAsNonRoot: true, runAsUser: 999, runAsGroup: 999, fsGroup: 999 },
        seccompProfile: { type: "RuntimeDefault" },
      },
      initContainers: [
        {
          ...{ name: "initdb", ...container, command: ["sh", "-c", INITIALIZE] },
          volumeMounts: [data, mount("password", "/etc/postgresql/secret")],
        },
      ],
      containers: [
        {
          ...{ name: "postgres", ...container, command: SERVER },
          ports: [{ name: "postgres", containerPort: 5432 }],
          readinessProbe: { tcpSocket: { port: "postgres" }, periodSeconds: 1 },
          volumeMounts: [data, mount("config", "/etc/postgresql/config")],
        },
      ],
      volumes: [
        { name: "data", persistentVolumeClaim: { claimName: "data" } },
        { name: "password", secret: { secretName: "password", defaultMode: 0o440 } },
        { name: "config", configMap: { name: "config" } },
      ],
    },
  };
}

interface PodStatus {
  readonly podIP?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

interface Pod extends KubeObject {
  readonly status?: PodStatus;
}

describe.skipIf(missing !== undefined)("PostgreSQL on a real node", () => {
  const { signal } = new AbortController();
  const stateDir = missing === undefined ? mkdtempSync(join(tmpdir(), "pg-")) : "";
  const volumes = join(stateDir, "main", "volumes");
  const at = { namespace: NAMESPACE, name: "postgres-0" };
  let cluster: DevCluster;
  let image: LocalImage;

  beforeAll(async () => {
    cluster = await startDevCluster({ stateDir, clusters: [{ name: "main", realNodes: 1 }] }, signal);
    const { realNodes } = cluster.main;
    if (realNodes === undefined) throw new Error("the cluster has no real nodes");
    image = await postgresImage(realNodes.images, signal);
    await realNodes.addImage(image, signal);
    await applyAll(cluster.main.client, SCENE, signal);
  });

  afterAll(async () => {
    await cluster?.stop();
    rmSync(stateDir, { recursive: true, force: true });
  });

  /** What a failure shows of the pod. */
  const readStatus = async () => (await cluster.main.client.get<Pod>(podType, at, signal))?.status;

  /** Starts the pod, and asks its database as a client at the pod's address does. */
  async function startAndAsk(...statements: readonly string[]): Promise<readonly unknown[]> {
    await applyAll(cluster.main.client, [podOf(image)], signal);
    const isReady = (found: PodStatus | undefined) => found?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
    const host = (await until("a ready pod", readStatus, (found) => isReady(found) === true))?.podIP;
    const client = new pg.Client({ host, user: "argosy", password: PASSWORD, database: "argosy" });
    await client.connect();
    try {
      let rows: readonly unknown[] = [];
      for (const statement of statements) rows = (await client.query(statement)).rows;
      return rows;
    } finally {
      await client.end();
    }
  }

  async function deletePod(): Promise<void> {
    await cluster.main.client.delete(podType, at, {}, signal);
    await until("no pod", readStatus, (found) => found === undefined);
  }

  it("runs restricted with a root that it cannot write to, and keeps what was written when its pod is replaced", async () => {
    const settings = "SELECT current_setting('server_encoding') AS encoding";
    expect(await startAndAsk("CREATE TABLE till (coins integer)", "INSERT INTO till VALUES (7)", settings)).toEqual([{ encoding: "UTF8" }]);
    await deletePod();
    expect(await startAndAsk("SELECT coins FROM till")).toEqual([{ coins: 7 }]);
  });

  it("lets nobody in without the password", async () => {
    await startAndAsk();
    const host = (await readStatus())?.podIP;
    const stranger = new pg.Client({ host, user: "argosy", password: "wrong", database: "argosy" });
    await expect(stranger.connect()).rejects.toThrow("password authentication failed");
  });

  it("has its volume for as long as the claim is there", async () => {
    await startAndAsk();
    expect(readdirSync(volumes)).toHaveLength(1);
    await deletePod();
    const claim = SCENE[3] as unknown as KubeObject;
    await cluster.main.client.delete(typeOf(claim), { namespace: NAMESPACE, name: claim.metadata.name }, {}, signal);
    await until(
      "no folder",
      () => (existsSync(volumes) ? readdirSync(volumes) : []),
      (names) => names.length === 0,
    );
  });
});
