import type { RepositoryAccess } from "../../../../domain/repository-access.ts";
import { spellingOf } from "../../../../domain/repository-spelling.ts";
import type { Application } from "../../../../domain/workspace.ts";
import type { DesiredApplication } from "../../../shard/port.ts";

const millisOf = (column: string): string => `(extract(epoch from ${column}) * 1000)::bigint`;

/** Expression: a row of `repository_access` as JSON, by its alias, as {@link accessOf} reads it. */
export const accessJson = (
  r: string,
): string => `json_build_object('state', ${r}.state, 'outcome', ${r}.outcome, 'credential', ${r}.credential,
         'probedAt', ${millisOf(`${r}.probed_at`)}, 'provenAt', ${millisOf(`${r}.proven_at`)}, 'refusedSince', ${millisOf(`${r}.refused_since`)},
         'refusals', ${r}.refusals, 'ordinal', ${r}.ordinal)`;

export type AccessRow = { readonly [Field in keyof RepositoryAccess]: RepositoryAccess[Field] | null };

export function accessOf(row: AccessRow): RepositoryAccess {
  const present = Object.fromEntries(Object.entries(row).map(([field, value]) => [field, value ?? undefined]));
  return present as unknown as RepositoryAccess;
}

/** The access to what an application `a` is of, left joined as `ra`. */
export const JOIN_ACCESS = `left join lateral (
    select ${accessJson("r")} as access from repository_access r where r.workspace = a.workspace and r.url = a.repo_url offset 0) as ra on true`;

/** As {@link DesiredApplication} has it: with the spelling that instances are given. */
export function spelled(application: Application, row: AccessRow | null): Pick<DesiredApplication, "application" | "access"> {
  if (row === null) return { application, access: undefined };
  const access = accessOf(row);
  const { source } = application.spec;
  const repoUrl = spellingOf(source.repoUrl, access.ordinal);
  return { access, application: { ...application, spec: { ...application.spec, source: { ...source, repoUrl } } } };
}
