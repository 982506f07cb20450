import type { Lack } from "../../shard/lack.ts";

/**
 * What work is put off for, as SREs read it behind "Waiting: ". Each has the form "for <what>, which <how it is>", and names are cut: an
 * operation says what is wrong, not everything about it.
 */
export const waits = {
  unlisted: (cluster: string) => `for the objects of cluster ${named(cluster)}, which are not listed yet`,
  repair: "for the register, which is changed by somebody all the time and put back a little later",
  entry: "for its instance's entry for the API cluster, which is not there yet",
  unit: "for the workspace's account, register and project, which do not stand yet",
  rest: "for the sync under way, which is being stopped",
  unanswered: "for its creation, which nobody answered and which may be carried out still",
  turn: "for other applications of the workspace, which are worked on first",
  going: (what: string) => `for ${what}, which is on its way out`,
  environmentEntry: (environment: string) => `the former entry of environment ${named(environment)}`,
  environment: (name: string) => `for environment ${named(name)}, which is not connected`,
  credential: (lack: Lack) =>
    `for the credential of ${lack.kind} ${named(lack.kind === "repository" ? lack.url : lack.name)}, which cannot be read`,
} as const;

/** The longest name that Kubernetes gives; URLs may be longer. */
const LONGEST_NAME = 253;

/** A name as it may stand in a message. */
export function named(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`;
}
