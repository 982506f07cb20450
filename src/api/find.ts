import { GoneError, InputError } from "../domain/errors.ts";
import type { Instance } from "../domain/instance.ts";
import type { WorkspaceSummary } from "../store/operation/port.ts";
import type { ApiDeps } from "./port.ts";

/** The workspace of a namespace; where one was deleted and made again, the one that is not on its way out. */
export async function findWorkspace({ store }: Pick<ApiDeps, "store">, namespace: string, signal: AbortSignal): Promise<WorkspaceSummary> {
  const found = await store.operations.listWorkspaces({ namespace }, { limit: 100, after: "" }, signal);
  const summary = found.find(({ workspace }) => workspace.state === "active") ?? found[0];
  if (summary !== undefined) return summary;
  throw new GoneError(`there is no workspace ${namespace}; \`argosy get workspaces\` lists them`, {
    code: "api.no-workspace",
    context: { namespace },
  });
}

/** An instance by its name or its id. */
export async function findInstance({ store }: Pick<ApiDeps, "store">, name: string, signal: AbortSignal): Promise<Instance> {
  const found = (await store.fleet.listInstances(signal)).find((one) => one.name === name || one.id === name);
  if (found !== undefined) return found;
  throw new GoneError(`there is no instance ${name}; \`argosy get instances\` lists them`, { code: "api.no-instance", context: { name } });
}

/** What a beginning of an id has to have before anybody is looked for by it. */
const LEAST_PREFIX = 4;
const CANDIDATES_NAMED = 5;

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
