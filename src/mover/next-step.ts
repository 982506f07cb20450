import type { Millis } from "../domain/clock.ts";
import type { Move, MoveBaseline, MovePhase } from "../domain/move.ts";
import { WORSE } from "../domain/move-messages.ts";
import type { DesiredObject } from "../shard/managed-object.ts";
import type { RegisterSight, Sight } from "../shard/parse-sight.ts";
import { activate, verify } from "./activate.ts";
import { inTurns } from "./in-turns.ts";
import type { Pair } from "./pair.ts";
import { arrive, baselineOf } from "./prepare.ts";
import type { Answer } from "./proof.ts";
import { fence, hand, quiet } from "./quiesce.ts";
import { grant, revoke } from "./register.ts";
import { DONE, type Refusal, remove, type SidedWrite, together } from "./verdict.ts";
import { awayOf, judgeVisits, type Visited } from "./visits.ts";

/** What a step is decided from, read a moment ago. */
export interface MoveWorld {
  readonly now: Millis;
  readonly pairs: readonly Pair[];
  /** Every Application of the unit on a side, also ones that no row wants. */
  readonly onSource: readonly Sight[];
  /** Nobody gets to the source, or is to: what stands there is not known. */
  readonly isSourceAway: boolean;
  readonly onTarget: readonly Sight[];
  readonly register: RegisterSight | undefined;
  /** The unit's own namespace ends without a register, or is gone: nobody has a right there, or gets one. */
  readonly isHomeGone: boolean;
  /** The register as it is to be once the target has the right to write. */
  readonly granted: DesiredObject;
  /** What the objects that Applications need on the target wait for; empty: they stand, absent: nobody has looked. */
  readonly groundWaits: readonly string[] | undefined;
  /** Whether the refusal of the old account has been seen for long enough. */
  readonly isRefusalProven: boolean;
  /** What the account that is asked in this phase was answered last; absent: it was not asked yet. */
  readonly answer: Answer | undefined;
  /** The environment that answer is of, where others say what is hoped for; absent: it is of the own namespace, or of all. */
  readonly askedAt: string | undefined;
  /** The source's controller was seen to be gone for good: nothing it could do has to be waited for, or forbidden where nobody can. */
  readonly isSourceStopped: boolean;
  /** An environment that the source may enter with what nobody can take from it; absent: none is known, or nobody has looked. */
  readonly enteredFreely: string | undefined;
  /** What came of going to environments with registers of the unit's in this phase; absent: nobody went. */
  readonly visits: readonly Visited[] | undefined;
}

/** What to do next. */
export type Step =
  | { readonly kind: "write"; readonly writes: readonly SidedWrite[] }
  /** Make what Applications need on the target. */
  | { readonly kind: "raise" }
  /** Do in each environment what the phase asks: make the target's account, write the register, or remove an account. */
  | { readonly kind: "visit" }
  /** Ask the API servers whether an account may write: the source's, that it may not, or the target's, that it may. */
  | { readonly kind: "probe"; readonly whom: "source" | "target"; readonly why: string }
  | { readonly kind: "advance"; readonly to: MovePhase; readonly baseline?: readonly MoveBaseline[]; readonly message: string }
  /** The one transaction that changes the owner. */
  | { readonly kind: "commit" }
  | { readonly kind: "abort"; readonly why: Refusal }
  /** What stood on this side for the unit beside Applications goes, and then the move has ended. */
  | { readonly kind: "clear"; readonly side: "source" | "target" }
  | { readonly kind: "wait"; readonly why: string }
  /** A newer epoch was met: read the move again. */
  | { readonly kind: "late" };

/** A target that cannot compare for this long is not fit; and whoever cannot be refused for this long is authorised otherwise. In ms. */
const PREPARE_CAP_MS = 5 * 60_000;
const REVOKE_CAP_MS = 60_000;
/** A silent API server is no refusal, and a move is no reason to leave users without an owner for longer. In ms. */
const SILENCE_CAP_MS = 5 * 60_000;
/** Environments, or a former instance, that cannot be reached for this long hold up nothing that can be given up, nor what can be done without them. In ms. */
const AWAY_CAP_MS = 10_000;
const GRANT_AWAY_CAP_MS = 60_000;
/** After this long the new owner need not have looked at what it deploys to a cluster that does not answer. In ms. */
const ACTIVATE_ABROAD_CAP_MS = 3 * 60_000;
/** What is worse for this long after a move is worse because of it. In ms. */
const VERIFY_CAP_MS = 3 * 60_000;

/** Decides the next step of a move from its row and what stands. It never decides by time that a source may be taken for stopped. */
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
      const verdicts = pairs.map((pair) => activate(pair, epoch, move.phaseSince));
      const verdict = together(inTurns(verdicts, elapsedMs));
      const awaited = elapsedMs > ACTIVATE_ABROAD_CAP_MS ? verdicts.filter((_, index) => pairs[index]?.isAbroad !== true) : verdicts;
      const isDone = verdict.kind === "wait" && together(awaited).kind === "done";
      return after(isDone ? DONE : verdict, { kind: "advance", to: "VERIFY", message: "" });
    }
    case "VERIFY": {
      const verdict = together(pairs.map((pair) => verify(pair, move.baseline)));
      const isTooLate = verdict.kind === "wait" && elapsedMs > VERIFY_CAP_MS;
      const message = verdict.kind === "wait" ? `${WORSE}${verdict.why}` : "";
      return isTooLate ? { kind: "advance", to: "CLEANUP", message } : after(verdict, { kind: "advance", to: "CLEANUP", message: "" });
    }
    case "CLEANUP":
      return emptying(move, world, elapsedMs);
    case "ABORT":
      return outside(world, elapsedMs > AWAY_CAP_MS, empty(world.onTarget, "target", epoch));
    case "WAITING":
    case "DONE":
    case "ABORTED":
    case "REDIRECTED":
      return { kind: "wait", why: "for its turn" };
  }
}

const SOURCE_AWAY: Step = { kind: "wait", why: "for its former instance, which gives no answer" };
/** Its API server refuses to change the register, or somebody puts it back each time. */
const NOT_TAKEN = "the right to write could not be taken from the old owner in five minutes";
const DEAD_END: Step = { kind: "wait", why: "" };

function prepare(world: MoveWorld, epoch: number, elapsedMs: number): Step {
  const { pairs, groundWaits, visits } = world;
  const away = awayOf(visits ?? []);
  if (away !== undefined && elapsedMs > AWAY_CAP_MS && !world.isSourceStopped) return unreachable(away);
  if (world.enteredFreely !== undefined) return unfenceable(world.enteredFreely);
  const prepared = outside(world, false, { kind: "raise" });
  if (groundWaits === undefined || prepared.kind !== "raise") return prepared;
  const [waits] = groundWaits;
  const verdict = waits === undefined ? arrivals(world, epoch, elapsedMs) : ({ kind: "wait", why: waits } as const);
  if (verdict.kind === "wait" && elapsedMs > PREPARE_CAP_MS) {
    return {
      kind: "abort",
      why: { code: "TARGET_CANNOT_COMPARE", text: `the target was not ready in five minutes: waiting ${verdict.why}` },
    };
  }
  return after(verdict, { kind: "advance", to: "FENCE", baseline: baselineOf(pairs), message: "" });
}

/**
 * What the unit has left on the target when it was there before goes first, also of deployments that are gone: its account gets its right
 * back, and such an Application would make anew what it once deployed.
 */
function arrivals({ pairs, onTarget }: MoveWorld, epoch: number, elapsedMs: number): ReturnType<typeof together> {
  const left = onTarget.filter((sight) => (sight.epoch ?? 0) < epoch);
  const cleared = together(left.map((sight) => remove("target", sight)));
  if (cleared.kind !== "done") return cleared;
  const verdicts = pairs.map((pair) => arrive(pair, epoch));
  return together(inTurns(verdicts, elapsedMs));
}

/** Goes to the environments of the unit first, where it has any. A source that was stopped needs no refusal where nobody gets to. */
function outside({ visits, isSourceStopped }: MoveWorld, mayBeAway: boolean, then: Step): Step {
  return visits === undefined ? { kind: "visit" } : after(judgeVisits(visits, mayBeAway || isSourceStopped), then);
}

function unfenceable(environment: string): Step {
  const text = `the old owner may enter environment ${environment} with the user's own credential, which nobody can take from it`;
  return { kind: "abort", why: { code: "SOFT_PROFILE", text } };
}

function unreachable(away: string): Step {
  const text = `${away}, so that nobody can take the right to write there from the old owner`;
  return { kind: "abort", why: { code: "ENVIRONMENT_UNREACHABLE", text } };
}

function revocation(world: MoveWorld, epoch: number, elapsedMs: number): Step {
  const { register, granted, answer, isRefusalProven, visits } = world;
  const revoked = world.isHomeGone ? DONE : revoke(register, granted, epoch);
  const isStuck = elapsedMs > SILENCE_CAP_MS && (revoked.kind === "write" || revoked.kind === "wait");
  if (isStuck) return { kind: "abort", why: { code: "NO_REFUSAL", text: NOT_TAKEN } };
  if (revoked.kind !== "done") return after(together([revoked]), DEAD_END);
  const away = awayOf(visits ?? []);
  if (away !== undefined && elapsedMs > REVOKE_CAP_MS && !world.isSourceStopped) return unreachable(away);
  const probe = { kind: "probe", whom: "source", why: "for the old owner to be refused" } as const;
  const revokedOutside = outside(world, false, probe);
  if (revokedOutside.kind !== "probe") return revokedOutside;
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

/** After the point of no return an environment that cannot be reached is left to whoever looks after environments. */
function granting(world: MoveWorld, elapsedMs: number): Step {
  const granted = world.isHomeGone ? DONE : grant(world.register, world.granted);
  if (granted.kind !== "done") return after(together([granted]), DEAD_END);
  const probe = { kind: "probe", whom: "target", why: "for the new owner to be allowed to write" } as const;
  const grantedOutside = outside(world, elapsedMs > GRANT_AWAY_CAP_MS, probe);
  if (grantedOutside.kind !== "probe") return grantedOutside;
  const isNowhere = world.isHomeGone && world.visits?.length === 0;
  return isNowhere || world.answer === "allowed" ? { kind: "advance", to: "ACTIVATE", message: "" } : probe;
}

/** A former owner that nobody gets to is waited for a moment; after that what stands there is the sweep's, as at once after a fail-over. */
function emptying({ isFailOver, toEpoch }: Move, world: MoveWorld, elapsedMs: number): Step {
  const isTooLong = elapsedMs > AWAY_CAP_MS;
  if (world.isSourceAway && !isFailOver && !isTooLong) return SOURCE_AWAY;
  const emptied = empty(world.onSource, "source", toEpoch);
  return emptied.kind === "clear" ? outside(world, isTooLong, emptied) : emptied;
}

/** Applications that newer rows wrote are not ours to take. */
function empty(sights: readonly Sight[], side: "source" | "target", epoch: number): Step {
  const ours = sights.filter((sight) => (sight.epoch ?? 0) <= epoch);
  return after(together(ours.map((sight) => remove(side, sight))), { kind: "clear", side });
}

function after(verdict: ReturnType<typeof together>, then: Step): Step {
  switch (verdict.kind) {
    case "writes":
      return { kind: "write", writes: verdict.writes };
    case "write":
      return { kind: "write", writes: [{ side: verdict.side, write: verdict.write }] };
    case "wait":
      return { kind: "wait", why: verdict.why };
    case "abort":
      return { kind: "abort", why: verdict.why };
    case "fenced":
      return { kind: "late" };
    case "done":
      return then;
  }
}
