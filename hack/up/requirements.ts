import { InputError } from "../../src/domain/errors.ts";
import { programInPath } from "./cluster/program-in-path.ts";

/** The sample repository and Argo CD's repo-server run git. Throws `InputError` if it is missing. */
export function requireGit(path?: string): void {
  if (programInPath("git", path) !== undefined) return;
  throw new InputError("git was not found", { code: "up.no-git", path: "PATH", remedy: "Install git" });
}
