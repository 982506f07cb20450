import type { InstanceId, WorkspaceId } from "../domain/ids.ts";
import type { Store } from "../store/port.ts";
import { isWithin, type Scopes, workspaceSubject } from "./identity/scope.ts";
import type { FailingSyncView } from "./schema.ts";
import { applicationView, type InstanceNames } from "./views.ts";

const deadline = () => AbortSignal.timeout(30_000);
/** Applications that are read; of those that are found to sync now, most do not fail. */
const READ = 1_000;

/** Applications whose sync fails, of a workspace, of an instance or of all, as many as a person reads; sorted by name. */
export async function failingSyncs(
  { operations }: Pick<Store, "operations">,
  { scopes, ...filter }: { readonly workspaceId?: WorkspaceId; readonly owner?: InstanceId; readonly scopes?: Scopes },
  names: InstanceNames,
): Promise<FailingSyncView[]> {
  const found = await operations.listSyncs(filter, { limit: READ, after: "" }, deadline());
  return found
    .filter(({ workspace, unit }) => isWithin(scopes, workspaceSubject({ workspace, units: [unit] })))
    .map((row) => applicationView(row, names))
    .flatMap(({ namespace, name, instance, failure, operation, deleting }) => {
      if (failure === null || deleting) return [];
      const since = failure.since === null ? "" : ` since ${failure.since}`;
      const phase = operation === null ? "" : `, the operation is ${operation.phase}`;
      const text = `cannot sync${since}, attempt ${failure.attempt}${phase}: ${failure.message}`;
      return { application: `${namespace}/${name}`, instance, ...failure, phase: operation?.phase ?? null, text };
    })
    .toSorted((a, b) => (a.application < b.application ? -1 : 1));
}
