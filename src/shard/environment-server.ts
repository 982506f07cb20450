import type { Environment } from "../domain/environment.ts";
import type { EnvironmentId } from "../domain/ids.ts";

const PARAMETER = "managedEnvironment";

/**
 * An environment's cluster as an instance addresses it. Argo CD tells clusters apart by URL, so the id in the query gives each
 * environment a cluster of its own, also where several are on one API server; the server does not mind the parameter.
 */
export function environmentServer({ id, apiUrl }: Pick<Environment, "id" | "apiUrl">): string {
  return `${apiUrl}?${PARAMETER}=${id}`;
}

/** The environment that a server addressed like this belongs to; `undefined` for any other server. */
export function environmentOfServer(server: string): EnvironmentId | undefined {
  const [, id] = server.split(`?${PARAMETER}=`);
  return id === undefined || id === "" ? undefined : (id as EnvironmentId);
}

/** A server as a pattern that matches nothing else: projects' destinations are globs. */
export function serverPattern(server: string): string {
  return server.replaceAll(/[*?{}[\]\\!]/g, (character) => `\\${character}`);
}
