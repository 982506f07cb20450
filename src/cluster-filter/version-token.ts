/**
 * What a client of the filter is given in place of a resourceVersion, and resumes its watch by. The version alone does not say which namespaces
 * the client has the objects of: it may have listed before one was let in.
 */
export interface VersionToken {
  /** The API server's own. */
  readonly version: string;
  /** At which generation of the namespaces the client listed. */
  readonly listed: number;
  /** Up to which generation the client has the objects of all namespaces. */
  readonly held: number;
}

/** `run`: which run of the filter gave it. Another one does not know what its generations were. */
export function renderToken({ version, listed, held }: VersionToken, run: string): string {
  return `${version}.${listed}.${held}.${run}`;
}

/** What a resourceVersion says that a client sends; `undefined`: it was not given out by this run of the filter. */
export function parseToken(text: string, run: string): VersionToken | undefined {
  const [, version = "", listed, held] = new RegExp(`^(.+)\\.(\\d+)\\.(\\d+)\\.${run}$`).exec(text) ?? [];
  return version === "" ? undefined : { version, listed: Number(listed), held: Number(held) };
}

/**
 * Whether what happened at `version` is in a list of version `listed`. API servers promise since 1.35 that versions of one kind are whole numbers
 * that grow, and have kept to it before. `undefined`: these are no numbers, and nobody can tell.
 */
export function isWithin(version: string, listed: string): boolean | undefined {
  if (!NUMBER.test(version) || !NUMBER.test(listed)) return undefined;
  return BigInt(version) <= BigInt(listed);
}

const NUMBER = /^\d+$/;
