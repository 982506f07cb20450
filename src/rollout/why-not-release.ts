import { readClass, type VersionsSpec } from "../domain/fleet.ts";
import type { Instance } from "../domain/instance.ts";
import type { FrozenVersion } from "../domain/rollout.ts";
import { compareVersions, isBelowFloor, minorOf, releaseOf } from "../domain/version.ts";

/** Why no instance may get a release, and what to do about it. `undefined`: nothing speaks against the release itself. */
export function whyNotRelease(
  versions: VersionsSpec,
  version: string,
  frozen: readonly FrozenVersion[],
): { readonly message: string; readonly remedy: string } | undefined {
  const known = versions.catalogue.map((entry) => entry.version);
  if (!known.includes(version))
    return { message: `${version} is not in versions.catalogue of fleet.yaml`, remedy: `Add it there, or use one of ${known.join(", ")}` };
  if (isBelowFloor(version, versions.floor))
    return {
      message: `${version} is below the security floor (${versions.floor})`,
      remedy: "Use a newer release: older ones have known vulnerabilities. versions.floor in fleet.yaml says what is safe enough",
    };
  const failed = frozen.find((one) => one.version === version);
  if (failed !== undefined)
    return {
      message: `${version} is frozen: it failed (${failed.reason})`,
      remedy: `Use another release, or let it be tried again with argosy rollout unfreeze ${version}`,
    };
  return undefined;
}

/** Why an instance may not be upgraded in place from its release to another. `undefined`: it may. Both are in the catalogue. */
export function whyNotUpgrade(versions: VersionsSpec, instance: Pick<Instance, "version" | "class">, version: string): string | undefined {
  const { channel } = readClass(instance.class);
  const offered = versions.channels?.find(({ name }) => name === channel)?.versions;
  if (channel !== undefined && offered !== undefined && !offered.includes(version))
    return `its channel ${channel} does not have ${version}`;
  // Builds of one release are the same Argo CD: no way lies between them that could be tested.
  if (releaseOf(instance.version) === releaseOf(version)) return undefined;
  const { upgradesFrom } = versions.catalogue.find((entry) => entry.version === version) ?? {};
  if (upgradesFrom !== undefined)
    return upgradesFrom.some((from) => [instance.version, releaseOf(instance.version), minorOf(instance.version)].includes(from))
      ? undefined
      : `the way from ${instance.version} to ${version} is not among those that were tested (${upgradesFrom.join(", ")})`;
  const [from, to] = [minorOf(instance.version), minorOf(version)];
  if (from === to) return undefined;
  // The CRDs stay those of the newest release. A controller of an older one drops fields it does not know when it writes.
  if (compareVersions(version, instance.version) < 0)
    return `${version} is of an older minor than its ${instance.version}: what definitions of ${from} store, controllers of ${to} would lose`;
  return isNextMinor(from, to) ? undefined : `${version} leaves out minors after its ${instance.version}: upgrade to each of them first`;
}

function isNextMinor(from: string, to: string): boolean {
  const [[major = 0, minor = 0], [nextMajor, nextMinor]] = [from, to].map((text) => text.split(".").map(Number)) as [number[], number[]];
  return nextMajor === major && nextMinor === minor + 1;
}
