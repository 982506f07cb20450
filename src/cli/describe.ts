import { findByNameOrId, findByPrefix } from "../api/find.ts";
import type { RolloutView } from "../api/rollout-views.ts";
import type { MoveView } from "../api/routes/moves.ts";
import type { PlanView } from "../api/routes/plans.ts";
import type { ApplicationView, InstanceView, JournalEntry, OperationView } from "../api/schema.ts";
import { GoneError, InputError } from "../domain/errors.ts";
import { listWorkspaces } from "./list-workspaces.ts";
import { type OutputFormat, renderOne } from "./output.ts";
import { type Resource, singularOf } from "./resource.ts";
import type { RestClient } from "./rest-client.ts";

export interface DescribeOptions {
  readonly resource: Resource;
  readonly name: string;
  readonly output: OutputFormat;
  readonly namespace?: string;
}

/** `argosy describe <resource> <name>`: everything known of one. Throws `GoneError` when there is none of that name. */
export async function describeResource(client: RestClient, options: DescribeOptions): Promise<string> {
  const found = await findOne(client, options);
  if (found !== undefined) return renderOne({ ...found, ...(await lately(client, options, found)) }, options.output);
  throw new GoneError(`there is no ${singularOf(options.resource)} ${options.name}; \`argosy get ${options.resource}\` lists them all`, {
    code: "cli.not-found",
  });
}

const DECISIONS_SHOWN = 10;

/** What was decided about a workspace or an instance of late, newest first; of all else the journal says nothing. */
async function lately(
  client: RestClient,
  { resource }: DescribeOptions,
  found: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const about =
    resource === "workspaces" ? { workspace: found["namespace"] } : resource === "instances" ? { instance: found["name"] } : undefined;
  if (about === undefined) return {};
  const query = { ...about, limit: DECISIONS_SHOWN } as Readonly<Record<string, string | number>>;
  const { items } = await client.get<{ readonly items: readonly JournalEntry[] }>("/v1/decisions", query);
  return { decisions: items.map(({ at, verdict, text }) => ({ at, verdict, text })) };
}

async function findOne(
  client: RestClient,
  { resource, name, namespace }: DescribeOptions,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  switch (resource) {
    case "instances":
      return findByNameOrId("instance", name, await client.all<InstanceView>("/v1/instances", { usage: true }));
    case "workspaces":
      return presentOf(await listWorkspaces(client, name), ({ state }) => state === "deleting");
    case "applications":
      return presentOf(await client.all<ApplicationView>("/v1/applications", applicationName(name, namespace)), ({ deleting }) => deleting);
    case "operations":
      return findByPrefix("operation", name, await client.all<OperationView>("/v1/operations", { namespace }));
    case "plans":
      return client.get<PlanView>(`/v1/plans/${encodeURIComponent(name)}`);
    case "moves":
      return client.get<MoveView>(`/v1/moves/${encodeURIComponent(name)}`);
    case "rollouts":
      return client.get<RolloutView>(`/v1/rollouts/${encodeURIComponent(name)}`);
    case "fleet":
      throw new InputError("a fleet is one document", {
        code: "cli.option",
        path: "resource",
        remedy: "Use `argosy get fleet -o yaml`",
      });
    default:
      return resource satisfies never;
  }
}

/** Of those that had a name one after another, which are listed in that order, the one that has it. */
function presentOf<Row>(rows: readonly Row[], isLeaving: (row: Row) => boolean): Row | undefined {
  return rows.findLast((row) => !isLeaving(row)) ?? rows.at(-1);
}

function applicationName(text: string, namespace: string | undefined): { readonly namespace: string; readonly name: string } {
  const [first = "", second, ...more] = text.split("/");
  if (second !== undefined && more.length === 0 && first !== "" && second !== "") return { namespace: first, name: second };
  if (second === undefined && namespace !== undefined) return { namespace, name: first };
  throw new InputError(`${text} does not say of which workspace`, {
    code: "cli.option",
    path: "name",
    remedy: "Give namespace/name, or the namespace with -n",
  });
}
