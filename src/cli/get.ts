import type { PlanSummary, PlanView } from "../api/routes/plans.ts";
import type { ApplicationView, InstanceView, OperationView, WorkspaceView } from "../api/schema.ts";
import { InputError } from "../domain/errors.ts";
import { applications, instances, operations, plans, workspaces } from "./columns.ts";
import { showFleet } from "./fleet.ts";
import { isForPrograms, type OutputFormat, render } from "./output.ts";
import type { Resource } from "./resource.ts";
import { isAbsent, type RestClient } from "./rest-client.ts";
import { cellText } from "./table.ts";

export interface GetOptions {
  readonly resource: Resource;
  readonly output: OutputFormat;
  /** An application's name, a workspace's namespace, an instance's name; an operation's id or its application's namespace/name; nothing for the fleet. */
  readonly name?: string;
  readonly namespace?: string;
  readonly state?: string;
}

/** `argosy get <resource> [name]`: the list as text, and what to tell a person when it is empty. */
export async function getResources(
  client: RestClient,
  options: GetOptions,
): Promise<{ readonly text: string; readonly note: string | undefined }> {
  refuseIdleOptions(options);
  const { rows, text, remark } = await list(client, options);
  if (rows > 0 || isForPrograms(options.output)) return { text, note: remark };
  const { resource, name, namespace, state } = options;
  const which = [name, namespace && `of workspace ${namespace}`, state && `in state ${state}`].filter(Boolean);
  return { text, note: ["there are no", resource, ...which].join(" ") };
}

/** An option that would be ignored is refused: a list that looks filtered and is not would mislead. */
function refuseIdleOptions({ resource, namespace, state }: GetOptions): void {
  const idle = namespace !== undefined && ["instances", "plans", "fleet"].includes(resource) ? "--namespace" : undefined;
  const other = state !== undefined && resource !== "operations" ? "--op-state" : undefined;
  const path = idle ?? other;
  if (path === undefined) return;
  throw new InputError(`says nothing about ${resource}`, { code: "cli.option", path, remedy: "Leave it out" });
}

interface Listed {
  readonly rows: number;
  readonly text: string;
  /** What a table leaves out that a person should know. */
  readonly remark?: string | undefined;
}

async function list(client: RestClient, options: GetOptions): Promise<Listed> {
  const { resource, output, name, namespace, state } = options;
  switch (resource) {
    case "instances": {
      const all = await client.all<InstanceView>("/v1/instances", { usage: output !== "table" });
      const rows = all.filter((row) => name === undefined || row.name === name);
      return { rows: rows.length, text: render(rows, instances, output), remark: output === "table" ? reasonsOf(rows) : undefined };
    }
    case "workspaces": {
      const both = name !== undefined && namespace !== undefined && name !== namespace;
      const rows = both ? [] : await client.all<WorkspaceView>("/v1/workspaces", { namespace: name ?? namespace });
      return { rows: rows.length, text: render(rows, workspaces, output) };
    }
    case "applications": {
      const rows = await client.all<ApplicationView>("/v1/applications", { namespace, name });
      return { rows: rows.length, text: render(rows, applications, output) };
    }
    case "operations": {
      const found = await client.all<OperationView>("/v1/operations", { state, namespace });
      const rows = found.filter((row) => name === undefined || row.id === name || row.subjectName === name);
      return { rows: rows.length, text: render(rows, operations, output) };
    }
    case "plans": {
      const rows =
        name === undefined ? (await client.get<{ readonly items: readonly PlanSummary[] }>("/v1/plans")).items : await planOf(client, name);
      return { rows: rows.length, text: render(rows, plans, output) };
    }
    case "fleet":
      if (name !== undefined)
        throw new InputError("there is one fleet, and it has no name", { code: "cli.option", path: "name", remedy: "Leave it out" });
      return showFleet(client, output);
    default:
      return resource satisfies never;
  }
}

/** The list has the newest; a plan of any age is there under its id. */
async function planOf(client: RestClient, id: string): Promise<readonly PlanSummary[]> {
  try {
    const plan = await client.get<PlanView>(`/v1/plans/${encodeURIComponent(id)}`);
    const { class: className, goal, subject, actor, createdAt, expiresAt, appliedAt, approval, moves } = plan;
    return [{ id: plan.id, class: className, goal, subject, actor, createdAt, expiresAt, appliedAt, approval, moves }];
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

/** Why instances are not ACTIVE, one per line; the narrow table has no room for it. */
function reasonsOf(rows: readonly InstanceView[]): string | undefined {
  const lines = rows.filter(({ state }) => state !== "ACTIVE").map(({ name, state, reason }) => `${name} is ${state}: ${cellText(reason)}`);
  return lines.length === 0 ? undefined : lines.join("\n");
}
