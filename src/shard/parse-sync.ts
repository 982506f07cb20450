import type { Millis } from "../domain/clock.ts";
import { asArray, asObject, asString, asTime } from "../domain/json.ts";
import { withCulprits } from "../domain/sync-failure.ts";
import { HOOK_LIMIT, type HookResult } from "../domain/sync-run.ts";
import { INFO_RUN } from "./names.ts";

/** Phases of Argo CD's operations: the first two are under way. */
const STATE_PHASES = ["Running", "Terminating", "Succeeded", "Failed", "Error"] as const;
export type StatePhase = (typeof STATE_PHASES)[number];

/** What Argo CD says of the present or last operation. */
export interface ParsedSync {
  /** Uid of the run it was asked for by; absent for one that somebody else asked for. */
  readonly run: string | undefined;
  readonly phase: StatePhase;
  readonly message: string;
  readonly revision: string;
  readonly startedAt: Millis | undefined;
  readonly finishedAt: Millis | undefined;
  readonly hooks: readonly HookResult[];
}

/** The part of an Application that is about syncs: what is asked for, and what is or was done. */
export interface ObservedSync {
  readonly operation: { readonly run: string | undefined } | undefined;
  readonly state: ParsedSync | undefined;
}

const NONE: ObservedSync = { operation: undefined, state: undefined };
const MESSAGE_LIMIT = 4096;
const NAME_LIMIT = 253;

/** Nothing is trusted: an unknown phase counts as one under way, so that nothing is started beside what is not understood. */
export function parseSync(raw: unknown): ObservedSync {
  const application = asObject(raw);
  const operation = application["operation"];
  const state = asObject(asObject(application["status"])["operationState"]);
  const isRequested = operation !== undefined && operation !== null;
  if (!isRequested && Object.keys(state).length === 0) return NONE;
  return {
    operation: isRequested ? { run: runOf(operation) } : undefined,
    state: Object.keys(state).length === 0 ? undefined : parseState(state),
  };
}

/** Whether an operation has not ended; one that waits for its next attempt has not either. */
export function isUnderWay({ phase }: Pick<ParsedSync, "phase">): boolean {
  return phase === "Running" || phase === "Terminating";
}

/** Whether anything about a run of ours has changed. */
export function differsInRun(before: ObservedSync | undefined, now: ObservedSync): boolean {
  if (![before?.operation, before?.state, now.operation, now.state].some((part) => part?.run !== undefined)) return false;
  return JSON.stringify(before) !== JSON.stringify(now);
}

function parseState(state: Readonly<Record<string, unknown>>): ParsedSync {
  const result = asObject(state["syncResult"]);
  const operation = asObject(state["operation"]);
  const revision = asString(result["revision"]) || asString(asObject(operation["sync"])["revision"]);
  const message = cut(asString(state["message"]), MESSAGE_LIMIT);
  // One that runs and has an end failed, and is tried again.
  const isFailure = ["Failed", "Error"].includes(asString(state["phase"])) || asString(state["finishedAt"]) !== "";
  return {
    run: runOf(operation),
    phase: STATE_PHASES.find((phase) => phase === state["phase"]) ?? "Running",
    message: cut(isFailure ? withCulprits(message, result["resources"]) : message, MESSAGE_LIMIT),
    revision: cut(revision, NAME_LIMIT),
    startedAt: asTime(state["startedAt"]),
    finishedAt: asTime(state["finishedAt"]),
    hooks: asArray(result["resources"]).flatMap(parseHook).slice(0, HOOK_LIMIT),
  };
}

function runOf(operation: unknown): string | undefined {
  const mark = asArray(asObject(operation)["info"]).find((entry) => asObject(entry)["name"] === INFO_RUN);
  return mark === undefined ? undefined : asString(asObject(mark)["value"]) || undefined;
}

function parseHook(raw: unknown): readonly HookResult[] {
  const resource = asObject(raw);
  const type = asString(resource["hookType"]);
  if (type === "") return [];
  const field = (name: string, longest: number): string => cut(asString(resource[name]), longest);
  return [
    {
      kind: field("kind", NAME_LIMIT),
      namespace: field("namespace", NAME_LIMIT),
      name: field("name", NAME_LIMIT),
      type: cut(type, NAME_LIMIT),
      phase: field("hookPhase", NAME_LIMIT),
      message: field("message", MESSAGE_LIMIT),
    },
  ];
}

function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}
