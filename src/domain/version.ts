/**
 * Parts of a release number, the build last: `3.5.7-2` is the second build of 3.5.7, another image of the same Argo CD, and 3.5.7 itself is
 * older than all of its builds. `undefined` when it is none, pre-releases included: nobody should run a fleet on those.
 */
function parseVersion(version: string): readonly [number, number, number, number] | undefined {
  const parts = /^(\d{1,4})\.(\d{1,4})\.(\d{1,4})(?:-([1-9]\d{0,3}))?$/.exec(version);
  if (parts === null) return undefined;
  const [, major, minor, patch, build = 0] = parts;
  return [Number(major), Number(minor), Number(patch), Number(build)];
}

/** Negative when `a` is older than `b`, 0 when equal. What is no release number is older than every release. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  if (left === undefined || right === undefined) return Number(left !== undefined) - Number(right !== undefined);
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2] || left[3] - right[3];
}

/** The parts of a release number as numbers; 0 for what it does not say. */
export function numbersOf(version: string): { readonly minor: number; readonly patch: number; readonly build: number } {
  const [, minor, patch, build] = parseVersion(version) ?? [0, 0, 0, 0];
  return { minor, patch, build };
}

/**
 * The release that a version is of: without a leading v and what vendors append (`v1.31.4-eks-1`, `v1.31.4+k3s1`), or the number of a build
 * (`3.5.7-2`). What is nothing like a release stays as it is.
 */
export function releaseOf(version: string): string {
  return /^v?(\d{1,4}\.\d{1,4}\.\d{1,4})(?=[-+]|$)/.exec(version)?.[1] ?? version;
}

/** `3.5` of `3.5.7`: releases of one minor differ in mistakes that were mended, not in what their definitions hold. */
export function minorOf(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}

/** Separates the oldest safe releases of several minors. */
export const FLOOR_SEPARATOR = " / ";

/**
 * Whether a release is older than what is safe. `floor` is one release, or one for each supported minor, like
 * `3.5.1 / 3.4.7`: then a release is measured by that of its own minor, and one of a minor without by the newest.
 */
export function isBelowFloor(version: string, floor: string): boolean {
  const minimums = floor.split(FLOOR_SEPARATOR).toSorted((a, b) => compareVersions(b, a));
  const own = minimums.find((one) => minorOf(one) === minorOf(version)) ?? minimums[0] ?? floor;
  return compareVersions(version, own) < 0;
}
