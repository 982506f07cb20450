import { compareVersions } from "../../domain/version.ts";

/** Whether the controller can show repo-server a certificate of its own: since 3.5. */
export function hasMutualTls(version: string): boolean {
  return compareVersions(version, "3.5.0") >= 0;
}
