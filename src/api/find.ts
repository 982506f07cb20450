import { GoneError, InputError } from "../domain/errors.ts";
import type { Instance } from "../domain/instance.ts";
import type { WorkspaceSummary } from "../store/operation/port.ts";
import type { ApiDeps } from "./port.ts";

/** A workspace by its namespace, its id or a unique beginning of that; where one was deleted and made again, the one that is not on its way out. */
export async function findWorkspace({ store }: Pick<ApiDeps, "store">, namespace: string, signal: AbortSignal): Promise<WorkspaceSummary> {
  const found = await store.operations.listWorkspaces({ namespace }, { limit: 100, after: "" }, signal);
  const summary = found.find(({ workspace }) => workspace.state === "active") ?? found[0];
  if (summary !== undefined) return summary;
  const page = pageFromId(namespace);
  const rows = page === undefined ? [] : await store.operations.listWorkspaces({}, page, signal);
  const byId = findByPrefix(
    "workspace",
    namespace,
    rows.map((row) => ({ id: row.workspace.id, row })),
  );
  if (byId !== undefined) return byId.row;
  throw new GoneError(`there is no workspace ${namespace}; \`argosy get workspaces\` lists them`, {
    code: "api.no-workspace",
    context: { namespace },
  });
}

/** An instance by its name, its id or a unique beginning of that. */
export async function findInstance({ store }: Pick<ApiDeps, "store">, name: string, signal: AbortSignal): Promise<Instance> {
  const found = findByNameOrId("instance", name, await store.fleet.listInstances(signal));
  if (found !== undefined) return found;
  throw new GoneError(`there is no instance ${name}; \`argosy get instances\` lists them`, { code: "api.no-instance", context: { name } });
}

/** More than there are ids that differ in their last character. */
const ID_CANDIDATES = 20;
/** What a beginning of an id has to have before anybody is looked for by it. */
const LEAST_PREFIX = 4;
const CANDIDATES_NAMED = 5;
/** Characters of an id. */
const ID_LENGTH = 36;
const ID_BEGINNING = /^[0-9a-f]{4}[0-9a-f-]*$/i;

/** The page of a list sorted by id that holds whatever `findByPrefix` looks for; `undefined`: no id begins like this. */
export function pageFromId(text: string): { readonly limit: number; readonly after: string } | undefined {
  if (text.length > ID_LENGTH || !ID_BEGINNING.test(text)) return undefined;
  const beginning = text.toLowerCase();
  // What a page begins after is not on it: a whole id is found from all but its last character on.
  return { limit: ID_CANDIDATES, after: beginning.length < ID_LENGTH ? beginning : beginning.slice(0, -1) };
}

/** The one of that name, or whose id begins like this, as `findByPrefix` has it. */
export function findByNameOrId<T extends { readonly id: string; readonly name: string }>(
  kind: string,
  text: string,
  all: readonly T[],
): T | undefined {
  return all.find(({ name }) => name === text) ?? findByPrefix(kind, text, all);
}

/**
 * The one whose id begins with `text`; `undefined`: none does. Throws `InputError` naming some where several do: an order given by a beginning
 * that means two things is given to neither.
 */
export function findByPrefix<T extends { readonly id: string }>(kind: string, text: string, all: readonly T[]): T | undefined {
  const exact = all.find(({ id }) => id === text);
  if (exact !== undefined) return exact;
  const found = text.length < LEAST_PREFIX ? [] : all.filter(({ id }) => id.startsWith(text.toLowerCase()));
  if (found.length < 2) return found[0];
  const named = found.slice(0, CANDIDATES_NAMED).map(({ id }) => id);
  throw new InputError(`${text} is the beginning of ${found.length} ids: ${named.join(", ")}`, {
    code: "api.ambiguous-id",
    path: kind,
    remedy: "Give more of it",
  });
}
