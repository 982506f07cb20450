import { asArray, asObject, asString, type Json } from "../domain/json.ts";

/** A sync that Argo CD began by itself. It keeps source and options as they were then, however often it is tried again. */
export interface AutomatedSync {
  readonly startedAt: string;
  /** Source and options it was begun with. */
  readonly begunWith: string;
  /** These are not those of the Application any more. */
  readonly isOutdated: boolean;
}

const TIME_LIMIT = 64;

/** The present or last sync, if Argo CD began it by itself. */
export function parseAutomatedSync(raw: unknown): AutomatedSync | undefined {
  const { spec, status } = asObject(raw);
  const { operation, startedAt } = asObject(asObject(status)["operationState"]);
  const { initiatedBy, sync } = asObject(operation);
  const time = asString(startedAt).slice(0, TIME_LIMIT);
  if (asObject(initiatedBy)["automated"] !== true || time === "") return undefined;
  const { source, syncOptions } = asObject(sync);
  const begunWith = orderText(asObject(source), syncOptions);
  return { startedAt: time, begunWith, isOutdated: begunWith !== orderOf(asObject(spec)) };
}

/** What Argo CD would begin a sync of this spec with. */
export function orderOf({ source, syncPolicy }: Json): string {
  return orderText(asObject(source), asObject(syncPolicy)["syncOptions"]);
}

function orderText({ repoURL, path, targetRevision }: Json, options: unknown): string {
  return JSON.stringify([asString(repoURL), asString(path), asString(targetRevision), ...asArray(options).map(asString).sort()]);
}
