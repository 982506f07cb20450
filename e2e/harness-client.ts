/** How a story reaches the harness, which runs in the process that vitest's global setup started. */
export interface HarnessAddress {
  readonly url: string;
  readonly adminKubeconfig: string;
  readonly gitUrl: string;
  readonly databaseUrl: string;
  readonly argosyUrls: readonly string[];
  readonly token: string;
}

export interface HarnessCalls {
  readonly commit: { readonly repository: string; readonly files: Readonly<Record<string, string | undefined>> };
  readonly killArgosy: { readonly index: number };
  readonly startArgosy: { readonly index: number };
  /** Resets every connection of the control planes to the API server until it is restored. */
  readonly cutApiServer: Record<string, never>;
  readonly restoreApiServer: Record<string, never>;
  /** PostgreSQL ends, and starts again on the same data and port. */
  readonly stopDatabase: Record<string, never>;
  readonly startDatabase: Record<string, never>;
  /** Kills a container's process; returns how many there were. */
  readonly killContainer: { readonly namespace: string; readonly container: string };
}

/** Asks the harness to do something that only the process owning the parts can do. */
export async function callHarness<Name extends keyof HarnessCalls>(
  harness: Pick<HarnessAddress, "url">,
  name: Name,
  args: HarnessCalls[Name],
): Promise<unknown> {
  // JSON has no `undefined`; null says that a file is to be removed.
  const body = JSON.stringify(args, (_key, value: unknown) => (value === undefined ? null : value));
  const response = await fetch(`${harness.url}/${name}`, { method: "POST", body });
  const answer = (await response.json()) as { readonly result?: unknown; readonly error?: string };
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer.result;
}

declare module "vitest" {
  interface ProvidedContext {
    harness: HarnessAddress;
  }
}
