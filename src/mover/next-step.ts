import type { Millis } from "../domain/clock.ts";
import type { Move, MoveBaseline, MovePhase } from "../domain/move.ts";
import { type MoveMessage, worse } from "../domain/move-messages.ts";
import type { DesiredObject } from "../shard/managed-object.ts";
import type { ApplicationObservation, ObservedOwnerBinding } from "../shard/parse-observation.ts";
import { syncToAwait } from "../shard/passed-sync.ts";
import { activate, verify } from "./phases/activate.ts";
import { type AbortReason, DONE, inTurns, type JoinedStep, removeStep, type SidedWrite, together } from "./phases/object-step.ts";
import { grant, revoke } from "./phases/owner-binding.ts";
import type { Pair } from "./phases/pair.ts";
import { arrive, baselineOf } from "./phases/prepare.ts";
import { fence, hand, quiet } from "./phases/quiesce.ts";
import { judgeVisits, unreachableOf, type Visited } from "./phases/remote-clusters.ts";
import type { Answer } from "./proof.ts";

/** What the next step is decided from: one observation, and what the worker remembers of this phase. */
export interface MoveWorld {
  readonly now: Millis;
  readonly pairs: readonly Pair[];
  /** Every Application of the unit on the source, also those that no row asks for. */
  readonly onSource: readonly ApplicationObservation[];
  /** Applications on the source that passed from the unit to a part that stays there. Only PREPARE observes them. */
  readonly passed: readonly ApplicationObservation[];
  /** The source is not observed: it cannot be reached, or this is a fail-over. What is on it is unknown. */
  readonly isSourceAway: boolean;
  /** The same on the target. */
  readonly onTarget: readonly ApplicationObservation[];
  /** The owner binding, as far as it is believed. Absent: there is none, or this phase does not observe it. */
  readonly ownerBinding: ObservedOwnerBinding | undefined;
  /**
   * The unit's own namespace is gone, or is being deleted and has no owner binding: there is no right to take or to
   * give there.
   */
  readonly isNamespaceGone: boolean;
  /** The owner binding as it will be once the target has the right to write. */
  readonly granted: DesiredObject;
  /** What the prerequisites of the move still wait for, for people. Empty: they are complete. Absent: not checked yet. */
  readonly prerequisiteWaits: readonly string[] | undefined;
  /** Every API server that was asked has refused the source's account for long enough. */
  readonly isRefusalProven: boolean;
  /** What all API servers together answered last about the account that this phase asks about. Absent: not asked yet. */
  readonly answer: Answer | undefined;
  /**
   * Name of the environment that gave an unwanted `answer`. Absent: the own namespace gave it, or every answer was
   * the wanted one.
   */
  readonly askedAt: string | undefined;
  /** The source's controller was seen to be gone for good. Nothing that it could do has to be waited for or forbidden. */
  readonly isSourceStopped: boolean;
  /**
   * Name of an environment that the source of a fail-over may enter with the user's own credential, which nobody can
   * take from it. Absent: none is known, or not checked yet.
   */
  readonly enteredFreely: string | undefined;
  /** How this phase's work in the unit's remote clusters ended, one entry for each. Absent: it was not tried yet. */
  readonly visits: readonly Visited[] | undefined;
}

/** What a move does next. */
export type MoveStep =
  | { readonly kind: "write"; readonly writes: readonly SidedWrite[] }
  /** Create or update the prerequisites of the unit on the target. */
  | { readonly kind: "raise" }
  /** Do in each environment what the phase asks for: make the target's account, write the owner binding, or remove an account. */
  | { readonly kind: "visit" }
  /** Ask the API servers whether an account may write. The source's has to be refused, the target's to be allowed. */
  | { readonly kind: "probe"; readonly whom: "source" | "target"; readonly why: string }
  | ({ readonly kind: "advance"; readonly to: MovePhase; readonly baseline?: readonly MoveBaseline[] } & Pick<MoveMessage, "message"> &
      Partial<MoveMessage>)
  /** Run the one transaction that changes the owner of the unit. */
  | { readonly kind: "commit" }
  | { readonly kind: "abort"; readonly why: AbortReason }
  /** Remove the unit's prerequisites on this side. That ends the move. */
  | { readonly kind: "clear"; readonly side: "source" | "target" }
  | { readonly kind: "wait"; readonly why: string }
  /** An object carries a newer epoch than the move, so this worker is late: read the move again. */
  | { readonly kind: "late" };

/** PREPARE aborts the move where prerequisites or copies on the target are not ready after this long, in ms. */
const PREPARE_CAP_MS = 5 * 60_000;
/**
 * REVOKE aborts the move where the source's account may still write, or an environment cannot be reached, after this
 * long, in ms. The owner binding names nobody by then: an account that may still write has its right from another
 * binding.
 */
const REVOKE_CAP_MS = 60_000;
/**
 * REVOKE aborts the move where the owner binding cannot be emptied, or API servers do not answer, for this long, in ms.
 * Silence does not prove a refusal, and from the moment the binding is empty the unit has no owner who may write: a
 * move does not justify that for longer.
 */
const SILENCE_CAP_MS = 5 * 60_000;
/**
 * How long an environment that cannot be reached is waited for in PREPARE, CLEANUP and ABORT, and the source in
 * CLEANUP, in ms. After that PREPARE aborts the move, and the other two phases go on without it.
 */
const AWAY_CAP_MS = 10_000;
/** How long GRANT waits for an environment that cannot be reached before it goes on without it, in ms. */
const GRANT_AWAY_CAP_MS = 60_000;
/** After this long ACTIVATE waits no more for applications on remote clusters, in ms: their cluster may be unreachable. */
const ACTIVATE_REMOTE_CAP_MS = 3 * 60_000;
/**
 * VERIFY waits this long for applications to be as well as before, in ms. Then the move goes on, and its message
 * names one that is worse.
 */
const VERIFY_CAP_MS = 3 * 60_000;

/**
 * Decides the next step of a move from its row and one observation. It reads and writes nothing itself.
 *
 * COMMIT needs a proven refusal of the source's account. That time has passed is never taken as proof that the source
 * has stopped: a timeout aborts the move, or lets it go on without what it waited for where the owner binding keeps the
 * unit safe.
 */
export function nextMoveStep(move: Move, world: MoveWorld): MoveStep {
  const { pairs, now } = world;
  const epoch = move.toEpoch;
  const elapsedMs = now - move.phaseSince;
  switch (move.phase) {
    case "PREPARE":
      return prepare(move, world, elapsedMs);
    case "FENCE":
      return after(together(world.onSource.map((observation) => fence(observation, epoch))), {
        kind: "advance",
        to: "QUIESCE",
        message: "",
      });
    case "QUIESCE": {
      const calm = together(
        world.onSource.map((observation) => quiet(observation, epoch, { now, since: move.phaseSince, isStopped: world.isSourceStopped })),
      );
      if (calm.kind !== "done") return after(calm, DEAD_END);
      return after(together(pairs.map((pair) => hand(pair, epoch))), { kind: "advance", to: "REVOKE", message: "" });
    }
    case "REVOKE":
      return revocation(world, epoch, elapsedMs);
    case "COMMIT":
      return { kind: "commit" };
    case "GRANT":
      return granting(world, elapsedMs);
    case "ACTIVATE": {
      const steps = pairs.map((pair) => activate(pair, epoch, move.phaseSince));
      const joined = together(inTurns(steps, elapsedMs));
      const awaited = elapsedMs > ACTIVATE_REMOTE_CAP_MS ? steps.filter((_, index) => pairs[index]?.isRemote !== true) : steps;
      const isDone = joined.kind === "wait" && together(awaited).kind === "done";
      return after(isDone ? DONE : joined, { kind: "advance", to: "VERIFY", message: "" });
    }
    case "VERIFY": {
      const joined = together(pairs.map((pair) => verify(pair, move.baseline)));
      if (joined.kind === "wait" && elapsedMs > VERIFY_CAP_MS) return { kind: "advance", to: "CLEANUP", ...worse(joined.why) };
      return after(joined, { kind: "advance", to: "CLEANUP", message: "" });
    }
    case "CLEANUP":
      return emptying(move, world, elapsedMs);
    case "ABORT":
      return visitFirst(world, elapsedMs > AWAY_CAP_MS, empty(world.onTarget, "target", epoch));
    case "WAITING":
    case "DONE":
    case "ABORTED":
    case "REDIRECTED":
      return { kind: "wait", why: "for its turn" };
  }
}

const SOURCE_AWAY: MoveStep = { kind: "wait", why: "for its former instance, which gives no answer" };
/** Said when the API server refuses to change the owner binding for that long, or somebody restores it each time. */
const NOT_TAKEN = "the right to write could not be taken from the old owner in five minutes";
/** Stands where `after` needs a next step and cannot get to it, because the joined step is known not to be `done`. */
const DEAD_END: MoveStep = { kind: "wait", why: "" };

/**
 * PREPARE: first what makes the move impossible, then remote clusters, then prerequisites, then the copies on the target, and last what is still
 * done as the unit's account for applications that have passed to another part.
 */
function prepare({ toEpoch: epoch, phaseSince }: Move, world: MoveWorld, elapsedMs: number): MoveStep {
  const { pairs, prerequisiteWaits, visits } = world;
  const away = unreachableOf(visits ?? []);
  if (away !== undefined && elapsedMs > AWAY_CAP_MS && !world.isSourceStopped) return unreachable(away);
  if (world.enteredFreely !== undefined) return unfenceable(world.enteredFreely);
  const prepared = visitFirst(world, false, { kind: "raise" });
  if (prerequisiteWaits === undefined || prepared.kind !== "raise") return prepared;
  const [waits] = prerequisiteWaits;
  const joined = waits === undefined ? arrivals(world, epoch, elapsedMs) : ({ kind: "wait", why: waits } as const);
  if (joined.kind === "wait" && elapsedMs > PREPARE_CAP_MS) {
    return {
      kind: "abort",
      why: { code: "TARGET_CANNOT_COMPARE", text: `the target was not ready in five minutes: waiting ${joined.why}` },
    };
  }
  const begun = syncToAwait(world.passed, { since: phaseSince, now: world.now });
  if (joined.kind === "done" && begun !== undefined)
    return { kind: "wait", why: `for the sync of ${begun.at.name} to end, which another part has taken over` };
  return after(joined, { kind: "advance", to: "FENCE", baseline: baselineOf(pairs), message: "" });
}

/**
 * Puts copies of the unit's Applications on the target. Before that it removes what the unit left there from an earlier
 * stay, also Applications that no row asks for: once the target may write again, such an orphan would deploy again what
 * it once deployed.
 */
function arrivals({ pairs, onTarget }: MoveWorld, epoch: number, elapsedMs: number): JoinedStep {
  const left = onTarget.filter((observation) => (observation.epoch ?? 0) < epoch);
  const cleared = together(left.map((observation) => removeStep("target", observation)));
  if (cleared.kind !== "done") return cleared;
  return together(
    inTurns(
      pairs.map((pair) => arrive(pair, epoch)),
      elapsedMs,
    ),
  );
}

/**
 * The step `then`, once this phase's work in remote clusters is done; until then, the step that does that work or waits
 * for it. An environment that cannot be reached is not waited for where `mayBeAway`, or where the source was stopped
 * for good.
 */
function visitFirst({ visits, isSourceStopped }: MoveWorld, mayBeAway: boolean, then: MoveStep): MoveStep {
  return visits === undefined ? { kind: "visit" } : after(judgeVisits(visits, mayBeAway || isSourceStopped), then);
}

function unfenceable(environment: string): MoveStep {
  const text = `the old owner may enter environment ${environment} with the user's own credential, which nobody can take from it`;
  return { kind: "abort", why: { code: "SOFT_PROFILE", text } };
}

function unreachable(environment: string): MoveStep {
  const text = `${environment}, so that nobody can take the right to write there from the old owner`;
  return { kind: "abort", why: { code: "ENVIRONMENT_UNREACHABLE", text } };
}

/**
 * REVOKE: empties the owner binding, then those in remote clusters, and then asks until the refusal of the source's
 * account is proven. Only then COMMIT follows. Timeouts abort the move.
 */
function revocation(world: MoveWorld, epoch: number, elapsedMs: number): MoveStep {
  const { ownerBinding, granted, answer, isRefusalProven, visits } = world;
  const revoked = world.isNamespaceGone ? DONE : revoke(ownerBinding, granted, epoch);
  const isStuck = elapsedMs > SILENCE_CAP_MS && (revoked.kind === "write" || revoked.kind === "wait");
  if (isStuck) return { kind: "abort", why: { code: "NO_REFUSAL", text: NOT_TAKEN } };
  if (revoked.kind !== "done") return after(together([revoked]), DEAD_END);
  const away = unreachableOf(visits ?? []);
  if (away !== undefined && elapsedMs > REVOKE_CAP_MS && !world.isSourceStopped) return unreachable(away);
  const probe = { kind: "probe", whom: "source", why: "for the old owner to be refused" } as const;
  const afterVisits = visitFirst(world, false, probe);
  if (afterVisits.kind !== "probe") return afterVisits;
  if (isRefusalProven) return { kind: "advance", to: "COMMIT", message: "" };
  const where = world.askedAt === undefined ? "" : ` in environment ${world.askedAt}`;
  if (answer === "allowed" && elapsedMs > REVOKE_CAP_MS) {
    const text = `OwnerBindingBypassed: the old owner may still write${where}, by another binding than its owner binding`;
    return { kind: "abort", why: { code: "OWNER_BINDING_BYPASSED", text } };
  }
  if (answer !== "refused" && elapsedMs > SILENCE_CAP_MS) {
    const text = `no API server said for five minutes that the old owner may not write${where}`;
    return { kind: "abort", why: { code: "NO_REFUSAL", text } };
  }
  return { ...probe, why: `${probe.why}${where}` };
}

/**
 * GRANT: gives the target its right, in its own namespace and in remote clusters, and then asks until it is allowed.
 * The move cannot be aborted any more, so an environment that stays unreachable is left to the controller of
 * environments.
 */
function granting(world: MoveWorld, elapsedMs: number): MoveStep {
  const granted = world.isNamespaceGone ? DONE : grant(world.ownerBinding, world.granted);
  if (granted.kind !== "done") return after(together([granted]), DEAD_END);
  const probe = { kind: "probe", whom: "target", why: "for the new owner to be allowed to write" } as const;
  const afterVisits = visitFirst(world, elapsedMs > GRANT_AWAY_CAP_MS, probe);
  if (afterVisits.kind !== "probe") return afterVisits;
  const isNowhere = world.isNamespaceGone && world.visits?.length === 0;
  return isNowhere || world.answer === "allowed" ? { kind: "advance", to: "ACTIVATE", message: "" } : probe;
}

/**
 * CLEANUP: removes the unit's Applications from the source, then its access to remote clusters, then its prerequisites.
 * A source that cannot be reached is waited for briefly, in a fail-over not at all. What stays on it is an orphan,
 * which the reconciler's sweep removes.
 */
function emptying({ isFailOver, toEpoch }: Move, world: MoveWorld, elapsedMs: number): MoveStep {
  const isTooLong = elapsedMs > AWAY_CAP_MS;
  if (world.isSourceAway && !isFailOver && !isTooLong) return SOURCE_AWAY;
  const emptied = empty(world.onSource, "source", toEpoch);
  return emptied.kind === "clear" ? visitFirst(world, isTooLong, emptied) : emptied;
}

/**
 * Removes the unit's Applications from one side, then its prerequisites. Applications with a newer epoch are not the
 * move's and stay.
 */
function empty(observations: readonly ApplicationObservation[], side: "source" | "target", epoch: number): MoveStep {
  const ours = observations.filter((observation) => (observation.epoch ?? 0) <= epoch);
  return after(together(ours.map((observation) => removeStep(side, observation))), { kind: "clear", side });
}

/** Turns the joined step of several objects into a step of the move. `then` follows where nothing is left to do for them. */
function after(joined: JoinedStep, then: MoveStep): MoveStep {
  switch (joined.kind) {
    case "writes":
      return { kind: "write", writes: joined.writes };
    case "write":
      return { kind: "write", writes: [{ side: joined.side, write: joined.write }] };
    case "wait":
      return { kind: "wait", why: joined.why };
    case "abort":
      return { kind: "abort", why: joined.why };
    case "fenced":
      return { kind: "late" };
    case "done":
      return then;
  }
}
