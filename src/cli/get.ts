import { findByPrefix } from "../api/find.ts";
import type { RolloutView } from "../api/rollout-views.ts";
import type { MoveView } from "../api/routes/moves.ts";
import type { PlanSummary, PlanView } from "../api/routes/plans.ts";
import type { ApplicationView, InstanceView, OperationView } from "../api/schema.ts";
import { InputError } from "../domain/errors.ts";
import { applications, instanceColumns, operations, plans, workspaceColumns } from "./columns.ts";
import { showFleet } from "./fleet.ts";
import { listWorkspaces } from "./list-workspaces.ts";
import { moves } from "./moves.ts";
import { isForPrograms, type OutputFormat, render } from "./output.ts";
import type { Resource } from "./resource.ts";
import { isAbsent, type RestClient } from "./rest-client.ts";
import { rollouts } from "./rollouts.ts";
import { cellText } from "./table.ts";
import { type Listed, listed, type Watched } from "./watch.ts";

export interface GetOptions {
  readonly resource: Resource;
  readonly output: OutputFormat;
  /** An application's name, a workspace's namespace, an instance's name; an operation's application's namespace/name; a unique beginning of an id; nothing for the fleet. */
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
  const { resource, output } = options;
  if (resource === "fleet") {
    const { text, remark } = await fleetOf(client, options);
    return { text, note: remark };
  }
  const { rows, columns, remarkOf } = await list(client, { ...options, resource });
  const note = isForPrograms(output) ? undefined : rows.length === 0 ? emptyText(options) : output === "table" ? remarkOf(rows) : undefined;
  return { text: render(rows, columns, output), note };
}

/** `argosy get <resource> [name] --watch`: how the list is read, again and again. */
export function watchedResources(client: RestClient, options: GetOptions): Watched {
  refuseIdleOptions(options);
  const { resource } = options;
  if (resource === "fleet")
    throw new InputError("changes only when somebody declares it", {
      code: "cli.option",
      path: "--watch",
      remedy: "`argosy journal --kind fleet` tells each change of it",
    });
  // To ask every instance what it costs takes a call to each: too much for what is asked again and again.
  return { read: () => list(client, { ...options, resource, asksUsage: false }), emptyText: emptyText(options) };
}

function emptyText({ resource, name, namespace, state }: GetOptions): string {
  const which = [name && `named ${name}`, namespace && `of workspace ${namespace}`, state && `in state ${state}`].filter(Boolean);
  return ["there are no", resource, ...which].join(" ");
}

/** An option that would be ignored is refused: a list that looks filtered and is not would mislead. */
function refuseIdleOptions({ resource, namespace, state }: GetOptions): void {
  const idle =
    namespace !== undefined && ["instances", "plans", "moves", "rollouts", "fleet"].includes(resource) ? "--namespace" : undefined;
  const other = state !== undefined && resource !== "operations" ? "--op-state" : undefined;
  const path = idle ?? other;
  if (path === undefined) return;
  throw new InputError(`says nothing about ${resource}`, { code: "cli.option", path, remedy: "Leave it out" });
}

interface ListOptions extends GetOptions {
  readonly resource: Exclude<Resource, "fleet">;
  readonly asksUsage?: boolean;
}

async function list(client: RestClient, options: ListOptions): Promise<Listed> {
  const { resource, output, name, namespace, state, asksUsage = output !== "table" } = options;
  switch (resource) {
    case "instances": {
      const all = await client.all<InstanceView>("/v1/instances", { usage: asksUsage });
      return listed(namedOf("instance", name, all, nameOf), instanceColumns, { remarkOf: reasonsOf });
    }
    case "workspaces": {
      const both = name !== undefined && namespace !== undefined && name !== namespace;
      return listed(both ? [] : await listWorkspaces(client, name ?? namespace), workspaceColumns);
    }
    case "applications":
      return listed(await client.all<ApplicationView>("/v1/applications", { namespace, name }), applications);
    case "operations": {
      const all = await client.all<OperationView>("/v1/operations", { state, namespace });
      return listed(
        namedOf("operation", name, all, ({ subjectName }) => subjectName),
        operations,
      );
    }
    case "plans":
      return listed(name === undefined ? await itemsOf<PlanSummary>(client, "/v1/plans") : await planOf(client, name), plans, NEWEST);
    case "moves":
      return listed(
        name === undefined ? await client.all<MoveView>("/v1/moves") : await oneOf<MoveView>(client, "/v1/moves", name),
        moves,
        {
          ...NEWEST,
          clocks: ["tookMs", "gapMs"],
        },
      );
    case "rollouts": {
      const path = "/v1/rollouts";
      return listed(
        name === undefined ? await itemsOf<RolloutView>(client, path) : await oneOf<RolloutView>(client, path, name),
        rollouts,
        NEWEST,
      );
    }
    default:
      return resource satisfies never;
  }
}

/** A list that ends somewhere: what leaves it is there still. */
const NEWEST = { isNewest: true } as const;

/** All of them where nobody names one, else those of that name, else the one whose id begins like this. */
function namedOf<T extends { readonly id: string }>(
  kind: string,
  name: string | undefined,
  all: readonly T[],
  nameOfRow: (row: T) => string | null,
): readonly T[] {
  if (name === undefined) return all;
  const named = all.filter((row) => nameOfRow(row) === name);
  const one = named.length > 0 ? undefined : findByPrefix(kind, name, all);
  return one === undefined ? named : [one];
}

const nameOf = ({ name }: { readonly name: string }): string => name;

async function itemsOf<T>(client: RestClient, path: string): Promise<readonly T[]> {
  return (await client.get<{ readonly items: readonly T[] }>(path)).items;
}

/** A list has the newest; one of any age is there under its id, or a beginning of it. */
async function oneOf<T>(client: RestClient, path: string, id: string): Promise<readonly T[]> {
  try {
    return [await client.get<T>(`${path}/${encodeURIComponent(id)}`)];
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

async function planOf(client: RestClient, name: string): Promise<readonly PlanSummary[]> {
  const found = await oneOf<PlanView>(client, "/v1/plans", name);
  return found.map(({ id, class: className, goal, subject, actor, createdAt, expiresAt, appliedAt, approval, moves: steps }) => ({
    ...{ id, class: className, goal, subject, actor, createdAt, expiresAt, appliedAt, approval, moves: steps },
  }));
}

function fleetOf(client: RestClient, { name, output }: GetOptions): ReturnType<typeof showFleet> {
  if (name === undefined) return showFleet(client, output);
  throw new InputError("there is one fleet, and it has no name", { code: "cli.option", path: "name", remedy: "Leave it out" });
}

/** Why instances are not ACTIVE, one per line; the narrow table has no room for it. */
function reasonsOf(rows: readonly InstanceView[]): string | undefined {
  const lines = rows.filter(({ state }) => state !== "ACTIVE").map(({ name, state, reason }) => `${name} is ${state}: ${cellText(reason)}`);
  return lines.length === 0 ? undefined : lines.join("\n");
}
