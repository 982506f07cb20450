import type { ApplicationView, InstanceView, OperationView, WorkspaceView } from "../api/schema.ts";
import { type Column, type OutputFormat, render, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";

const instances: readonly Column<InstanceView>[] = [
  { title: "NAME", value: (row) => row.name },
  { title: "STATE", value: (row) => row.state },
  { title: "VERSION", value: (row) => (row.version === row.desiredVersion ? row.version : `${row.version} → ${row.desiredVersion}`) },
  { title: "UNITS", value: (row) => row.units },
  { title: "APPS", value: (row) => row.load.applications },
  { title: "USED", value: (row) => `${Math.round(row.utilisation * 100)} %` },
  { title: "SINCE", value: (row) => row.since },
  { title: "POOL", value: (row) => row.pool, isWide: true },
  { title: "CLASS", value: (row) => row.class, isWide: true },
  { title: "CLUSTER", value: (row) => row.engineCluster, isWide: true },
  { title: "NAMESPACE", value: (row) => row.namespace, isWide: true },
  { title: "ENTRIES", value: (row) => `${row.load.clusterEntries}/${row.capacity.clusterEntries}`, isWide: true },
  { title: "REASON", value: (row) => row.reason, isWide: true },
];

const workspaces: readonly Column<WorkspaceView>[] = [
  { title: "NAMESPACE", value: (row) => row.namespace },
  { title: "APPS", value: (row) => row.applications },
  { title: "INSTANCE", value: (row) => row.units.map((unit) => unit.instance ?? "waiting for capacity").join(", ") },
  { title: "STATE", value: (row) => row.state },
  { title: "EPOCH", value: (row) => row.units.map((unit) => unit.epoch).join(", "), isWide: true },
  { title: "CLASS", value: (row) => row.units.map((unit) => unit.class).join(", "), isWide: true },
  { title: "CLUSTER", value: (row) => row.apiCluster, isWide: true },
  { title: "ID", value: (row) => row.id, isWide: true },
];

const applications: readonly Column<ApplicationView>[] = [
  { title: "NAMESPACE", value: (row) => row.namespace },
  { title: "NAME", value: (row) => row.name },
  { title: "INSTANCE", value: (row) => row.instance },
  { title: "SYNC", value: (row) => (row.deleting ? `${row.sync} (deleting)` : row.sync) },
  { title: "HEALTH", value: (row) => row.health },
  { title: "REVISION", value: (row) => row.revision.slice(0, 12) },
  { title: "TYPE", value: (row) => row.type, isWide: true },
  { title: "REPOSITORY", value: (row) => row.repoUrl, isWide: true },
  { title: "PATH", value: (row) => row.path, isWide: true },
  { title: "TARGET", value: (row) => (row.targetRevision === "" ? "HEAD" : row.targetRevision), isWide: true },
  { title: "RECONCILED", value: (row) => row.reconciledAt, isWide: true },
  { title: "ARGO CD NAME", value: (row) => row.argoName, isWide: true },
];

const operations: readonly Column<OperationView>[] = [
  { title: "KIND", value: (row) => row.kind },
  { title: "STATE", value: (row) => row.state },
  { title: "INSTANCE", value: (row) => row.instance },
  { title: "UPDATED", value: (row) => row.updatedAt },
  { title: "MESSAGE", value: (row) => row.message },
  { title: "SUBJECT", value: (row) => row.subject, isWide: true },
  { title: "ATTEMPTS", value: (row) => row.attempts, isWide: true },
  { title: "CREATED", value: (row) => row.createdAt, isWide: true },
];

export const RESOURCES = ["instances", "workspaces", "applications", "operations"] as const;
export type Resource = (typeof RESOURCES)[number];

export interface GetOptions {
  readonly output: OutputFormat;
  readonly namespace?: string;
  readonly state?: string;
}

/** `argosy get <resource>`: the list as text. */
export async function getResources(client: RestClient, resource: Resource, options: GetOptions): Promise<string> {
  switch (resource) {
    case "instances":
      return render(await client.all<InstanceView>("/v1/instances"), instances, options.output);
    case "workspaces":
      return render(await client.all<WorkspaceView>("/v1/workspaces", { namespace: options.namespace }), workspaces, options.output);
    case "applications":
      return render(await client.all<ApplicationView>("/v1/applications", { namespace: options.namespace }), applications, options.output);
    case "operations":
      return render(await client.all<OperationView>("/v1/operations", { state: options.state }), operations, options.output);
    default:
      return resource satisfies never;
  }
}

/** `argosy describe <resource> <name>`: everything known of one; `undefined` when there is none of that name. */
export async function describeResource(
  client: RestClient,
  resource: Resource,
  name: string,
  output: OutputFormat,
): Promise<string | undefined> {
  const found = await findOne(client, resource, name);
  return found === undefined ? undefined : renderOne(found, output);
}

async function findOne(client: RestClient, resource: Resource, name: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  switch (resource) {
    case "instances":
      return (await client.all<InstanceView>("/v1/instances")).find((row) => row.name === name || row.id === name);
    case "workspaces":
      return (await client.all<WorkspaceView>("/v1/workspaces", { namespace: name }))[0];
    case "applications": {
      const [namespace = "", application = ""] = name.split("/");
      return (await client.all<ApplicationView>("/v1/applications", { namespace, name: application }))[0];
    }
    case "operations":
      return (await client.all<OperationView>("/v1/operations")).find((row) => row.id === name);
    default:
      return resource satisfies never;
  }
}
