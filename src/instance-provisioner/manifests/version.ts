import { compareVersions, numbersOf } from "../../domain/version.ts";

/** Databases that a redis has besides the first one, which the controller uses. */
const DATABASES = 15;

/**
 * The redis database in which repo-servers of a release cache rendered manifests. If releases shared one, what a
 * faulty release has rendered would be used for a day after a rollback, and during the rollback it still writes. So
 * each release of a minor has its own, and so has each of a release's first two builds.
 */
export function renderingsDatabase(version: string): number {
  const { minor, patch, build } = numbersOf(version);
  return ((minor * 5 + patch + build * 7) % DATABASES) + 1;
}

/** Whether the controller can present a client certificate to repo-server. It can since 3.5. */
export function hasMutualTls(version: string): boolean {
  return compareVersions(version, "3.5.0") >= 0;
}
