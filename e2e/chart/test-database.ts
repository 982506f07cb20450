import { connect, createServer, type Socket } from "node:net";
import pg from "pg";
import { until } from "../world.ts";
import type { ChartCluster } from "./chart-cluster.ts";
import { isReady, podsOf } from "./pods.ts";

const NAMESPACE = "somebodys-database";
/** With what no pattern of a connection string expects. */
const PASSWORD = "correct-horse";

/** A PostgreSQL of somebody else, in a namespace of its own: without TLS, and without anything of Argosy. */
export interface SomebodysDatabase {
  /** Address of its pod. */
  readonly host: string;
  /** Connection string of its administrator for one of its databases. */
  url(database: string): string;
  query(statement: string, database?: string): Promise<readonly unknown[]>;
}

const CREATE = `set -eu
printf %s "$PASSWORD" >/tmp/password
initdb --pgdata=/data/own --username=argosy --pwfile=/tmp/password --auth=scram-sha-256 --encoding=UTF8 --locale=C --no-sync
echo "host all all all scram-sha-256" >>/data/own/pg_hba.conf
exec postgres -D /data/own -c listen_addresses=* -c unix_socket_directories=/tmp -c fsync=off`;

/** Starts it on the cluster, and returns when it answers. */
export async function startDatabase(cluster: ChartCluster, signal: AbortSignal): Promise<SomebodysDatabase> {
  await cluster.kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: [namespace(), pod()] }));
  const [ready] = await until(
    "the database's pod ready",
    () => podsOf(cluster, { namespace: NAMESPACE }, signal),
    ([first]) => first !== undefined && isReady(first),
    120_000,
  );
  const host = ready?.status?.podIP ?? "";
  const url = (database: string): string => `postgres://argosy:${PASSWORD}@${host}:5432/${database}?sslmode=disable`;
  return {
    ...{ host, url },
    async query(statement, database = "postgres") {
      const client = new pg.Client({ connectionString: url(database) });
      await client.connect();
      try {
        return (await client.query(statement)).rows;
      } finally {
        await client.end();
      }
    },
  };
}

function namespace() {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
}

function pod() {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "postgres", namespace: NAMESPACE },
    spec: {
      securityContext: { runAsUser: 999, runAsGroup: 999, fsGroup: 999 },
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          ...{ name: "postgres", image: "argosy.dev/postgres:18", imagePullPolicy: "Never", command: ["sh", "-c", CREATE] },
          env: [{ name: "PASSWORD", value: PASSWORD }],
          readinessProbe: { tcpSocket: { port: 5432 }, periodSeconds: 1 },
          volumeMounts: [
            { name: "data", mountPath: "/data" },
            { name: "tmp", mountPath: "/tmp" },
          ],
        },
      ],
      volumes: [
        { name: "data", emptyDir: {} },
        { name: "tmp", emptyDir: {} },
      ],
    },
  };
}

export interface Impostor {
  readonly stop: () => Promise<void>;
}

/**
 * The same server as one of an older version: hands everything on, and changes the number of the version in what the server answers. An older
 * PostgreSQL cannot be had here.
 */
export async function startOlder(
  { host, query }: SomebodysDatabase,
  { address, version }: { readonly address: string; readonly version: string },
): Promise<Impostor> {
  const [row] = (await query("show server_version_num")) as readonly { readonly server_version_num: string }[];
  const real = row?.server_version_num ?? "";
  if (real.length !== version.length) throw new Error(`${version} is not as long as ${real}`);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(5432, host);
    for (const socket of [client, upstream]) sockets.add(socket.on("error", () => socket.destroy()));
    client.pipe(upstream);
    upstream.on("data", (chunk: Buffer) => client.write(replaced(chunk, real, version)));
    upstream.on("end", () => client.end());
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(5432, address, resolve));
  return {
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function replaced(chunk: Buffer, text: string, other: string): Buffer {
  return Buffer.from(chunk.toString("latin1").replaceAll(text, other), "latin1");
}
