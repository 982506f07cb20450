import type { OwnCheck } from "./own-check.ts";
import { fileAt } from "./project.ts";

interface LockedPackage {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly resolved?: string;
  /** What the package's archive has to hash to. */
  readonly integrity?: string;
  /** A folder of this checkout, which nobody fetches. */
  readonly link?: boolean;
}
type Packages = Readonly<Record<string, LockedPackage>>;

const LOCKFILES = ["package-lock.json", "tools/node/package-lock.json"];

/**
 * The lockfiles can be installed anywhere. npm leaves out optional packages its registry does not serve when it writes a
 * lockfile, and refuses to install from one without them; and an address in it would tie the project to one registry. What is fetched is
 * compared with the hash in the lockfile, and npm installs a package without one as it comes: so each has one.
 */
export const lockfile: OwnCheck = {
  name: "lockfile",
  mend: "write the lockfile with a registry that serves all platforms, or add what is missing by hand (version, integrity, os, cpu, optional)",
  find(project) {
    return { problems: LOCKFILES.flatMap((path) => problemsOf(path, fileAt(project, path)?.text).map((problem) => `${path}: ${problem}`)) };
  },
};

function problemsOf(path: string, text: string | undefined): readonly string[] {
  if (text === undefined) return ["is not there"];
  const { packages = {} } = JSON.parse(text) as { packages?: Packages };
  return Object.entries(packages).flatMap(([at, { optionalDependencies = {}, resolved, integrity, link }]) => [
    ...Object.keys(optionalDependencies)
      .filter((name) => !isLocked(packages, at, name))
      .map((name) => `${name} is missing, which ${at || path} may install`),
    ...(resolved?.startsWith("http") === true ? [`${at} names the address it was fetched from`] : []),
    ...(at === "" || link === true || isHash(integrity) ? [] : [`${at} has no integrity: whatever is fetched would be installed`]),
  ]);
}

/** SHA-1 is in old lockfiles: somebody who can make two archives with one hash gets past it. */
function isHash(integrity: string | undefined): boolean {
  return /^sha(256|384|512)-[A-Za-z0-9+/]+={0,2}$/.test(integrity ?? "");
}

/** Whether a package that stands at `from` finds `name` in its own node_modules or in one further up. */
function isLocked(packages: Packages, from: string, name: string): boolean {
  if (packages[from === "" ? `node_modules/${name}` : `${from}/node_modules/${name}`] !== undefined) return true;
  return from !== "" && isLocked(packages, from.slice(0, Math.max(0, from.lastIndexOf("/node_modules/"))), name);
}
