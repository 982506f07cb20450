import { compareVersions } from "../../domain/version.ts";

/** Databases a redis has beside the first, which is the controller's. */
const DATABASES = 15;

/**
 * The redis database in which repo-servers of a release keep what they have rendered. A release that renders badly would be believed for a day
 * after it was rolled back, and while it goes it still writes: so each release of a minor has its own, and finds it as it left it.
 */
export function renderingsDatabase(version: string): number {
  const [, minor = 0, patch = 0] = version.split(".").map(Number);
  return ((minor * 5 + patch) % DATABASES) + 1;
}

/** Whether the controller can show repo-server a certificate of its own: since 3.5. */
export function hasMutualTls(version: string): boolean {
  return compareVersions(version, "3.5.0") >= 0;
}
