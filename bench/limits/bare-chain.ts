import process from "node:process";
import pg from "pg";
import { openKube } from "../../hack/fleet/connect.ts";
import { type KubeObject, resourcePath } from "../../src/runtime/kube/resource.ts";
import { APPLICATIONS, BARE_DEPLOYMENTS } from "../world/kinds.ts";
import { bareApplication } from "./bare-client.ts";

/**
 * The least that a manager with a database between users and engine has to do, as a program. It sees a resource in a
 * watch and records it in one transaction with a notification. On the notification it reads the row and creates the
 * Application. It validates nothing, places nothing, acknowledges nothing and survives nothing.
 */
interface BareResource extends KubeObject {
  readonly spec: { readonly source: { readonly repoURL: string; readonly path: string; readonly targetRevision: string } };
}

const CREATE = "create table if not exists bare (id text primary key, spec json not null)";
const RECORD = { name: "record", text: "insert into bare (id, spec) values ($1, $2) on conflict (id) do nothing" };
const NOTIFY = { name: "notify", text: "select pg_notify('bare', $1)" };
const READ = { name: "read", text: "select spec from bare where id = $1" };

async function runChain(kubeconfig: string, databaseUrl: string, namespace: string): Promise<void> {
  const kube = openKube(kubeconfig);
  const ending = new AbortController();
  process.once("SIGTERM", () => process.exit(0));
  const [writer, reader, listener] = await Promise.all([connect(databaseUrl), connect(databaseUrl), connect(databaseUrl)]);
  await writer.query(CREATE);

  const createApplication = async (id: string): Promise<void> => {
    const { rows } = await reader.query<{ readonly spec: BareResource["spec"] }>({ ...READ, values: [id] });
    const source = rows[0]?.spec.source;
    if (source === undefined) throw new Error(`there is no row ${id}`);
    const [from = "", name = ""] = id.split("/");
    const application = bareApplication({ namespace: from, name, path: source.path }, { repoUrl: source.repoURL, namespace });
    await kube.create(APPLICATIONS, application, ending.signal);
  };
  listener.on("notification", ({ payload = "" }) => void createApplication(payload).catch(fail));
  await listener.query("listen bare");

  const record = async ({ metadata, spec }: BareResource): Promise<void> => {
    const id = `${metadata.namespace ?? ""}/${metadata.name}`;
    await writer.query("begin");
    await writer.query({ ...RECORD, values: [id, JSON.stringify(spec)] });
    await writer.query({ ...NOTIFY, values: [id] });
    await writer.query("commit");
  };
  const { resourceVersion } = await kube.listPage(BARE_DEPLOYMENTS, { limit: 1 }, ending.signal);
  const lines = kube.watchLines(resourcePath(BARE_DEPLOYMENTS), { watch: true, resourceVersion, timeoutSeconds: 36_000 }, ending.signal);
  process.stdout.write("ready\n");
  for await (const line of lines) {
    const event = JSON.parse(line) as { readonly type: string; readonly object: BareResource };
    if (event.type === "ADDED") await record(event.object);
  }
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
}

function fail(error: unknown): void {
  process.stderr.write(`bare chain: ${String(error)}\n`);
  process.exit(1);
}

const [kubeconfig = "", databaseUrl = "", namespace = ""] = process.argv.slice(2);
runChain(kubeconfig, databaseUrl, namespace).catch(fail);
