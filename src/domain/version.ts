/** Parts of a release number; `undefined` when it is none, pre-releases included: nobody should run a fleet on those. */
function parseVersion(version: string): readonly [number, number, number] | undefined {
  const [, major, minor, patch] = /^(\d{1,4})\.(\d{1,4})\.(\d{1,4})$/.exec(version) ?? [];
  return major === undefined || minor === undefined || patch === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
}

/** Negative when `a` is older than `b`, 0 when equal. What is no release number is older than every release. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  if (left === undefined || right === undefined) return Number(left !== undefined) - Number(right !== undefined);
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
}

/**
 * The release that a version as programs print it is of: without a leading v and what vendors append (`v1.31.4-eks-1`, `v1.31.4+k3s1`).
 * What is nothing like a release stays as it is.
 */
export function releaseOf(version: string): string {
  return /^v?(\d{1,4}\.\d{1,4}\.\d{1,4})(?=[-+]|$)/.exec(version)?.[1] ?? version;
}
