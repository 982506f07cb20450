import type { Millis } from "../domain/clock.ts";
import type { Move, MoveBaseline, MovePhase } from "../domain/move.ts";
import { WORSE } from "../domain/move-messages.ts";
import type { DesiredObject } from "../shard/managed-object.ts";
import type { RegisterSight, Sight } from "../shard/parse-sight.ts";
import { activate, verify } from "./phases/activate.ts";
import { type AbortReason, DONE, inTurns, type JoinedStep, remove, type SidedWrite, together } from "./phases/object-step.ts";
import { grant, revoke } from "./phases/owner-binding.ts";
import type { Pair } from "./phases/pair.ts";
import { arrive, baselineOf } from "./phases/prepare.ts";
import { fence, hand, quiet } from "./phases/quiesce.ts";
import { judgeVisits, unreachableOf, type Visited } from "./phases/remote-clusters.ts";
import type { Answer } from "./proof.ts";

/** What the next step is decided from, observed a moment ago. */
export interface MoveWorld {
  readonly now: Millis;
  readonly pairs: readonly Pair[];
  /** Every Application of the unit on a side, also ones that no row wants. */
  readonly onSource: readonly Sight[];
  /** Nobody reaches the source, or nobody is to go there: what is there is not known. */
  readonly isSourceAway: boolean;
  readonly onTarget: readonly Sight[];
  readonly register: RegisterSight | undefined;
  /** The unit's own namespace is gone, or is being deleted and has no owner binding: nobody has a right there, or gets one. */
  readonly isHomeGone: boolean;
  /** The owner binding as it will be once the target has the right to write. */
  readonly granted: DesiredObject;
  /** What the prerequisites on the target wait for; empty: they are there, absent: nobody has looked. */
  readonly groundWaits: readonly string[] | undefined;
  /** Whether the old account was seen to be refused for long enough. */
  readonly isRefusalProven: boolean;
  /** The last answer about the account that is asked about in this phase; absent: nobody has asked yet. */
  readonly answer: Answer | undefined;
  /** The environment that gave this answer while the others gave the wanted one; absent: the own namespace gave it, or all did. */
  readonly askedAt: string | undefined;
  /** The source's controller was seen to be gone for good: it can do nothing that has to be waited for or forbidden. */
  readonly isSourceStopped: boolean;
  /** An environment that the source may enter with a credential that nobody can take from it; absent: none is known, or nobody has looked. */
  readonly enteredFreely: string | undefined;
  /** How this phase's work in environments with owner bindings of the unit ended; absent: it was not tried yet. */
  readonly visits: readonly Visited[] | undefined;
}

/** What a move does next. */
export type Step =
  | { readonly kind: "write"; readonly writes: readonly SidedWrite[] }
  /** Make the prerequisites on the target. */
  | { readonly kind: "raise" }
  /** Do in each environment what the phase asks for: make the target's account, write the owner binding, or remove an account. */
  | { readonly kind: "visit" }
  /** Ask the API servers whether an account may write: the source's, that it may not, or the target's, that it may. */
  | { readonly kind: "probe"; readonly whom: "source" | "target"; readonly why: string }
  | { readonly kind: "advance"; readonly to: MovePhase; readonly baseline?: readonly MoveBaseline[]; readonly message: string }
  /** The one transaction that changes the owner. */
  | { readonly kind: "commit" }
  | { readonly kind: "abort"; readonly why: AbortReason }
  /** Remove the unit's prerequisites on this side, and then the move has ended. */
  | { readonly kind: "clear"; readonly side: "source" | "target" }
  | { readonly kind: "wait"; readonly why: string }
  /** A newer epoch was found: read the move again. */
  | { readonly kind: "late" };

/** A target that cannot compare after this long is not fit, in ms. */
const PREPARE_CAP_MS = 5 * 60_000;
/** An account that may still write after this long has its right from another binding than ours, in ms. */
const REVOKE_CAP_MS = 60_000;
/** A silent API server is no refusal, and a move is no reason to leave users without an owner for longer. In ms. */
const SILENCE_CAP_MS = 5 * 60_000;
/** How long an environment or a source that cannot be reached is waited for, before the move is given up or goes on without it, in ms. */
const AWAY_CAP_MS = 10_000;
const GRANT_AWAY_CAP_MS = 60_000;
/** After this long the new owner need not have refreshed what it deploys to a cluster that does not answer. In ms. */
const ACTIVATE_ABROAD_CAP_MS = 3 * 60_000;
/** An application that is worse for this long after a move is worse because of it. In ms. */
const VERIFY_CAP_MS = 3 * 60_000;

/** Decides the next step of a move from its row and from what was observed. It never concludes from time alone that a source has stopped. */
export function nextStep(move: Move, world: MoveWorld): Step {
  const { pairs, now } = world;
  const epoch = move.toEpoch;
  const elapsedMs = now - move.phaseSince;
  switch (move.phase) {
    case "PREPARE":
      return prepare(world, epoch, elapsedMs);
    case "FENCE":
      return after(together(world.onSource.map((sight) => fence(sight, epoch))), { kind: "advance", to: "QUIESCE", message: "" });
    case "QUIESCE": {
      const calm = together(
        world.onSource.map((sight) => quiet(sight, epoch, { now, since: move.phaseSince, isStopped: world.isSourceStopped })),
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
      const awaited = elapsedMs > ACTIVATE_ABROAD_CAP_MS ? steps.filter((_, index) => pairs[index]?.isAbroad !== true) : steps;
      const isDone = joined.kind === "wait" && together(awaited).kind === "done";
      return after(isDone ? DONE : joined, { kind: "advance", to: "VERIFY", message: "" });
    }
    case "VERIFY": {
      const joined = together(pairs.map((pair) => verify(pair, move.baseline)));
      const isTooLate = joined.kind === "wait" && elapsedMs > VERIFY_CAP_MS;
      const message = joined.kind === "wait" ? `${WORSE}${joined.why}` : "";
      return isTooLate ? { kind: "advance", to: "CLEANUP", message } : after(joined, { kind: "advance", to: "CLEANUP", message: "" });
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

const SOURCE_AWAY: Step = { kind: "wait", why: "for its former instance, which gives no answer" };
/** The API server refuses to change the owner binding, or somebody puts it back each time. */
const NOT_TAKEN = "the right to write could not be taken from the old owner in five minutes";
const DEAD_END: Step = { kind: "wait", why: "" };

function prepare(world: MoveWorld, epoch: number, elapsedMs: number): Step {
  const { pairs, groundWaits, visits } = world;
  const away = unreachableOf(visits ?? []);
  if (away !== undefined && elapsedMs > AWAY_CAP_MS && !world.isSourceStopped) return unreachable(away);
  if (world.enteredFreely !== undefined) return unfenceable(world.enteredFreely);
  const prepared = visitFirst(world, false, { kind: "raise" });
  if (groundWaits === undefined || prepared.kind !== "raise") return prepared;
  const [waits] = groundWaits;
  const joined = waits === undefined ? arrivals(world, epoch, elapsedMs) : ({ kind: "wait", why: waits } as const);
  if (joined.kind === "wait" && elapsedMs > PREPARE_CAP_MS) {
    return {
      kind: "abort",
      why: { code: "TARGET_CANNOT_COMPARE", text: `the target was not ready in five minutes: waiting ${joined.why}` },
    };
  }
  return after(joined, { kind: "advance", to: "FENCE", baseline: baselineOf(pairs), message: "" });
}

/**
 * Removes first what the unit left on the target when it was there before, also Applications that no row wants: the target's account will
 * have the right to write again, and such an Application would deploy again what it once deployed.
 */
function arrivals({ pairs, onTarget }: MoveWorld, epoch: number, elapsedMs: number): JoinedStep {
  const left = onTarget.filter((sight) => (sight.epoch ?? 0) < epoch);
  const cleared = together(left.map((sight) => remove("target", sight)));
  if (cleared.kind !== "done") return cleared;
  return together(
    inTurns(
      pairs.map((pair) => arrive(pair, epoch)),
      elapsedMs,
    ),
  );
}

/** Goes to the unit's environments before the step `then`. Where the source was stopped, one that nobody reaches is not waited for. */
function visitFirst({ visits, isSourceStopped }: MoveWorld, mayBeAway: boolean, then: Step): Step {
  return visits === undefined ? { kind: "visit" } : after(judgeVisits(visits, mayBeAway || isSourceStopped), then);
}

function unfenceable(environment: string): Step {
  const text = `the old owner may enter environment ${environment} with the user's own credential, which nobody can take from it`;
  return { kind: "abort", why: { code: "SOFT_PROFILE", text } };
}

function unreachable(environment: string): Step {
  const text = `${environment}, so that nobody can take the right to write there from the old owner`;
  return { kind: "abort", why: { code: "ENVIRONMENT_UNREACHABLE", text } };
}

function revocation(world: MoveWorld, epoch: number, elapsedMs: number): Step {
  const { register, granted, answer, isRefusalProven, visits } = world;
  const revoked = world.isHomeGone ? DONE : revoke(register, granted, epoch);
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
    const text = `RegisterBypassed: the old owner may still write${where}, by another binding than the register`;
    return { kind: "abort", why: { code: "REGISTER_BYPASSED", text } };
  }
  if (answer !== "refused" && elapsedMs > SILENCE_CAP_MS) {
    const text = `no API server said for five minutes that the old owner may not write${where}`;
    return { kind: "abort", why: { code: "NO_REFUSAL", text } };
  }
  return { ...probe, why: `${probe.why}${where}` };
}

/** After the point of no return an environment that cannot be reached is left to the controller of environments. */
function granting(world: MoveWorld, elapsedMs: number): Step {
  const granted = world.isHomeGone ? DONE : grant(world.register, world.granted);
  if (granted.kind !== "done") return after(together([granted]), DEAD_END);
  const probe = { kind: "probe", whom: "target", why: "for the new owner to be allowed to write" } as const;
  const afterVisits = visitFirst(world, elapsedMs > GRANT_AWAY_CAP_MS, probe);
  if (afterVisits.kind !== "probe") return afterVisits;
  const isNowhere = world.isHomeGone && world.visits?.length === 0;
  return isNowhere || world.answer === "allowed" ? { kind: "advance", to: "ACTIVATE", message: "" } : probe;
}

/** A source that nobody reaches is waited for a moment. Then what is there is left to the sweep; after a fail-over it is at once. */
function emptying({ isFailOver, toEpoch }: Move, world: MoveWorld, elapsedMs: number): Step {
  const isTooLong = elapsedMs > AWAY_CAP_MS;
  if (world.isSourceAway && !isFailOver && !isTooLong) return SOURCE_AWAY;
  const emptied = empty(world.onSource, "source", toEpoch);
  return emptied.kind === "clear" ? visitFirst(world, isTooLong, emptied) : emptied;
}

/** Removes the unit's Applications from a side, except those that a newer epoch wrote: they are not the move's. */
function empty(sights: readonly Sight[], side: "source" | "target", epoch: number): Step {
  const ours = sights.filter((sight) => (sight.epoch ?? 0) <= epoch);
  return after(together(ours.map((sight) => remove(side, sight))), { kind: "clear", side });
}

function after(joined: JoinedStep, then: Step): Step {
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
