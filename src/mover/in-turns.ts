import { LOOK_NOW } from "../shard/arrival.ts";
import { ANNOTATION_PAUSE } from "../shard/names.ts";
import { type SidedWrite, type Verdict, wait } from "./verdict.ts";

/** So many of a unit's applications are in Argo CD's queue of looks at once. */
const AT_ONCE = 5;
/** And one more after each of these, so that one which is never looked at holds the others up for no longer. In ms. */
const ONE_MORE_EACH_MS = 500;

/**
 * Lets few applications of a unit ask for a look at a time. Argo CD looks in the order in which it is asked: users who live on the target
 * already would wait behind all of a large unit.
 */
export function inTurns(verdicts: readonly Verdict[], elapsedMs: number): readonly Verdict[] {
  const waiting = verdicts.filter(({ kind }) => kind === "wait").length;
  let free = AT_ONCE + Math.floor(elapsedMs / ONE_MORE_EACH_MS) - waiting;
  return verdicts.map((verdict) => {
    if (verdict.kind !== "write" || !asksForLook(verdict)) return verdict;
    free -= 1;
    return free < 0 ? wait("for applications before it to be looked at") : verdict;
  });
}

function asksForLook({ write }: SidedWrite): boolean {
  if (write.kind === "create") return write.manifest.metadata.annotations[ANNOTATION_PAUSE] === undefined;
  return write.kind === "change" && write.patch.some(({ op, path }) => op === "add" && path === LOOK_NOW.path);
}
