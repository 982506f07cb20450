import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import type { KubeClient, ListPage } from "../../src/runtime/kube/client.ts";
import type { KubeObject, ResourceType } from "../../src/runtime/kube/resource.ts";
import type { Product } from "./secrets.ts";

/** Where a run has left text. */
export interface Traces {
  readonly kube: KubeClient;
  readonly databaseUrl: string;
  /** The folder with the logs of the control planes. */
  readonly directory: string;
  readonly argosyUrls: readonly string[];
  readonly token: string;
}

/** Everything that Argosy produced and that people, other programs or backups can read, except Secrets. */
export async function readProducts(traces: Traces, signal: AbortSignal): Promise<readonly Product[]> {
  return [
    ...readLogs(traces.directory),
    ...(await readPages(traces, signal)),
    ...(await readObjects(traces.kube, signal)),
    ...(await dumpTables(traces.databaseUrl)),
  ];
}

function readLogs(directory: string): readonly Product[] {
  const logs = readdirSync(directory).filter((name) => name.endsWith(".log"));
  return logs.map((name) => ({ where: `the log ${name}`, text: readFileSync(join(directory, name), "utf8") }));
}

/** A control plane that a story killed for good has none. */
async function readPages({ argosyUrls, token }: Traces, signal: AbortSignal): Promise<readonly Product[]> {
  const pages = argosyUrls.flatMap((url) => ["/metrics", "/readyz"].map((path) => url + path));
  return Promise.all(
    pages.map(async (page) => {
      const text = await fetch(page, { signal, headers: { authorization: `Bearer ${token}` } }).then(
        (response) => response.text(),
        () => "",
      );
      return { where: `the page ${new URL(page).pathname}`, text };
    }),
  );
}

const GITOPS = { group: "managed-gitops.redhat.com", version: "v1alpha1", namespaced: true } as const;
const ARGO_CD = { group: "argoproj.io", version: "v1alpha1", namespaced: true } as const;
const RBAC = { group: "rbac.authorization.k8s.io", version: "v1" } as const;

const SHOWN: readonly ResourceType[] = [
  { group: "", version: "v1", plural: "events", kind: "Event", namespaced: true },
  { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false },
  { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true },
  { group: "", version: "v1", plural: "serviceaccounts", kind: "ServiceAccount", namespaced: true },
  { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true },
  { group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true },
  { group: "apps", version: "v1", plural: "statefulsets", kind: "StatefulSet", namespaced: true },
  { ...GITOPS, plural: "gitopsdeployments", kind: "GitOpsDeployment" },
  { ...GITOPS, plural: "gitopsdeploymentsyncruns", kind: "GitOpsDeploymentSyncRun" },
  { ...GITOPS, plural: "gitopsdeploymentmanagedenvironments", kind: "GitOpsDeploymentManagedEnvironment" },
  { ...GITOPS, plural: "gitopsdeploymentrepositorycredentials", kind: "GitOpsDeploymentRepositoryCredential" },
  { ...ARGO_CD, plural: "applications", kind: "Application" },
  { ...ARGO_CD, plural: "appprojects", kind: "AppProject" },
  { ...RBAC, plural: "roles", kind: "Role", namespaced: true },
  { ...RBAC, plural: "rolebindings", kind: "RoleBinding", namespaced: true },
];
const PAGE = 500;

/** One kind after the other: speed does not matter here, and many connections would have to be closed at the end. */
async function readObjects(kube: KubeClient, signal: AbortSignal): Promise<readonly Product[]> {
  const found: Product[] = [];
  for (const type of SHOWN)
    for (let next: string | undefined = ""; next !== undefined; ) {
      const page: ListPage<KubeObject> = await kube.listPage<KubeObject>(
        type,
        { limit: PAGE, ...(next === "" ? {} : { continueToken: next }) },
        signal,
      );
      for (const object of page.items)
        found.push({ where: `${type.kind} ${object.metadata.namespace ?? ""}/${object.metadata.name}`, text: JSON.stringify(object) });
      next = page.continueToken === "" ? undefined : page.continueToken;
    }
  return found;
}

/** Every table as text, each row as PostgreSQL prints it: bytes in hexadecimal. */
async function dumpTables(url: string): Promise<readonly Product[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ readonly name: string }>(
      "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
    );
    const products: Product[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ readonly text: string }>(`select t::text as text from ${name} t`);
      products.push({ where: `the table ${name}`, text: rows.map(({ text }) => text).join("\n") });
    }
    return products;
  } finally {
    await client.end();
  }
}
