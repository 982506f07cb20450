import type { Blockage, HeldObject } from "../domain/blockage.ts";
import { heldText } from "../domain/blockage.ts";
import { GoneError, InputError, RefusedError, StaleError, UnavailableError } from "../domain/errors.ts";
import type { OperationState } from "../domain/operation.ts";
import type { Deletion } from "../domain/workspace.ts";
import type { MissingPrerequisite } from "../shard/missing-prerequisite.ts";
import type { ObservedApplication } from "../shard/parse-application.ts";
import { CASCADE_PREFIX } from "../shard/plan-application.ts";

/**
 * What work is put off for, as SREs read it behind "Waiting: ". Each has the form "for <what>, which <how it is>", and names are cut: an
 * operation says what is wrong, not everything about it.
 */
export const waits = {
  unlisted: (cluster: string) => `for the objects of cluster ${named(cluster)}, which are not listed yet`,
  repair: "for the owner binding, which is changed again and again by somebody and put back a little later",
  entry: "for its instance's entry for the API cluster, which is not there yet",
  letIn: "for its instance's cache, which does not have the workspace's namespace yet",
  unit: "for the workspace's account, owner binding and project, which do not stand yet",
  rest: "for the sync under way, which is being stopped",
  unanswered: "for its creation, which nobody answered and which may be carried out still",
  turn: "for other applications of the workspace, which are worked on first",
  going: (what: string) => `for ${what}, which is on its way out`,
  environmentEntry: (environment: string) => `the former entry of environment ${named(environment)}`,
  repository: (url: string) => `for repository ${named(url)}, which the workspace was not seen to be able to read`,
  environment: (name: string) => `for environment ${named(name)}, which is not connected`,
  credential: (missingPrerequisite: MissingPrerequisite) =>
    `for the credential of ${missingPrerequisite.kind} ${named(missingPrerequisite.kind === "repository" ? missingPrerequisite.url : missingPrerequisite.name)}, which cannot be read`,
} as const;

/** The longest name that Kubernetes gives; URLs may be longer. */
const LONGEST_NAME = 253;

/** A name as it may stand in a message. */
function named(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`;
}

/** What keeps a unit's prerequisites from standing. */
export interface TroubleCause {
  /** What they wait for, for people; see `waits`. */
  readonly waits: readonly string[];
  /** Credentials that cannot be read. Only the applications that need one wait for it. */
  readonly missingPrerequisites: readonly MissingPrerequisite[];
}

/** Why an application is not where it should be yet, for SREs. */
export interface Trouble {
  readonly state: Exclude<OperationState, "Completed">;
  readonly message: string;
  /** Worth reporting at once: it will not pass by itself. */
  readonly isLasting: boolean;
  readonly blockage?: Blockage;
}

/** Longest message: enough for an API server's complaint, which may quote half an object. */
const LONGEST = 1000;

export function waitingFor(what: string): Trouble {
  return { state: "Waiting", message: cut(`Waiting: ${what}`), isLasting: false };
}

/** Why an attempt at an Application failed. */
export function troubleOf(error: unknown): Trouble {
  if (error instanceof RefusedError || error instanceof InputError)
    return {
      state: "Failed",
      message: cut(`Refused: the instance's cluster does not take the Application: ${reasonOf(error)}`),
      isLasting: true,
    };
  return { state: "In_Progress", message: cut(`Trying again: ${whyAgain(error)}`), isLasting: false };
}

function whyAgain(error: unknown): string {
  if (error instanceof UnavailableError) return `${silentOf(error)} does not answer: ${reasonOf(error)}`;
  if (error instanceof GoneError) return `the instance's namespace is not there: ${reasonOf(error)}`;
  if (error instanceof StaleError) return `somebody else keeps changing the Application (${error.code})`;
  return "Argosy failed at it; the reconciler's log says how";
}

/** Who does not answer. Names of clusters stand in a form in which users do not read them. */
function silentOf({ code, context }: UnavailableError): string {
  if (typeof context["cluster"] === "string") return `cluster ${named(context["cluster"])}, which is needed for it,`;
  return code.startsWith("store.") ? "the database" : "something that is needed for it";
}

/** What an error says of its cause, in one line; the innermost of a chain of errors knows best. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "no reason was given";
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message;
}

/** How an application is to end. */
interface End {
  readonly deletion: Deletion;
  /** Where it is deployed to; absent: to the own namespace. */
  readonly environment: string | undefined;
}

/** An Application on its way out; `blockage` is absent while that may take its time. Only a cascade takes along what was deployed. */
export function troubleOfEnd(observed: ObservedApplication, { deletion, environment }: End, blockage: Blockage | undefined): Trouble {
  const what = deletion === "cascade" ? "the instance removes what was deployed" : "the Application goes, and what was deployed stays";
  if (blockage === undefined) return { state: "In_Progress", message: `Deleting: ${what}`, isLasting: false };
  const message = cut(`Deletion blocked: ${whatHolds(observed, environment, blockage.held)}`);
  return { state: "In_Progress", message, isLasting: true, blockage };
}

function whatHolds(observed: ObservedApplication, environment: string | undefined, held: readonly HeldObject[]): string {
  if (held.length > 0) return heldText(held);
  const others = observed.finalizers.filter((finalizer) => !finalizer.startsWith(CASCADE_PREFIX));
  const { namespace, name } = observed.at;
  if (others.length > 0) return `Application ${namespace}/${name} has the finalizer ${others.join(", ")}`;
  const complaint = observed.report?.conditions.find(({ type }) => type === "DeletionError");
  if (complaint !== undefined) return `the instance says: ${complaint.message}`;
  if (environment !== undefined)
    return `what it deployed has not gone from the cluster of environment ${named(environment)}; see what is held there`;
  return "nothing that it deployed was seen to be held; see whether the instance's controller works";
}

const cut = (text: string): string => {
  const line = text.replace(/\s+/g, " ");
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1)}…`;
};

/** What is remembered of an application that is not where it should be. */
export interface TroubleStreak {
  /** When the first of the attempts in a row came to nothing, in ms. */
  readonly sinceMs: number;
  /** Attempts that were not reported yet. */
  readonly attempts: number;
  readonly reported: { readonly text: string; readonly atMs: number } | undefined;
  /** What was desired: another desire has an operation of its own, on which nothing was reported yet. */
  readonly desired: string;
}

/** What passes within this time is not worth a statement. Nor is more than one in it. */
const REPORT_AFTER_MS = 5_000;
/** How often the same is reported again, so that people see that it is still being tried. */
const REPEAT_MS = 60_000;

/** After how many ms a trouble that is still there is reported to people, 0 for now; `undefined`: it was. */
export function reportAfterMs({ sinceMs, attempts, reported }: TroubleStreak, trouble: Trouble, nowMs: number): number | undefined {
  if (reported === undefined) return trouble.isLasting ? 0 : Math.max(0, sinceMs + REPORT_AFTER_MS - nowMs);
  if (textOf(trouble) !== reported.text) return Math.max(0, reported.atMs + REPORT_AFTER_MS - nowMs);
  return attempts > 0 ? Math.max(0, reported.atMs + REPEAT_MS - nowMs) : undefined;
}

/** Two troubles with the same text are one to those who read the reports. */
export function textOf({ state, message }: Trouble): string {
  return `${state} ${message}`;
}
