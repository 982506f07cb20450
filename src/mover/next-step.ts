import type { Millis } from "../domain/clock.ts";
import type { Move, MoveBaseline, MovePhase } from "../domain/move.ts";
import type { DesiredObject } from "../shard/managed-object.ts";
import type { RegisterSight, Sight } from "../shard/parse-sight.ts";
import { activate, verify } from "./activate.ts";
import type { Pair } from "./pair.ts";
import { arrive, baselineOf } from "./prepare.ts";
import type { Answer } from "./proof.ts";
import { fence, hand, quiet } from "./quiesce.ts";
import { grant, revoke } from "./register.ts";
import { type Refusal, remove, type SidedWrite, together } from "./verdict.ts";

/** What a step is decided from, read a moment ago. */
export interface MoveWorld {
  readonly now: Millis;
  readonly pairs: readonly Pair[];
  /** Every Application of the unit on a side, also ones that no row wants. */
  readonly onSource: readonly Sight[];
  readonly onTarget: readonly Sight[];
  readonly register: RegisterSight | undefined;
  /** The register as it is to be once the target has the right to write. */
  readonly granted: DesiredObject;
  /** What the objects that Applications need on the target wait for; empty: they stand, absent: nobody has looked. */
  readonly groundWaits: readonly string[] | undefined;
  /** Whether the refusal of the old account has been seen for long enough. */
  readonly isRefusalProven: boolean;
  /** What the account that is asked in this phase was answered last; absent: it was not asked yet. */
  readonly answer: Answer | undefined;
}

/** What to do next. */
export type Step =
  | { readonly kind: "write"; readonly writes: readonly SidedWrite[] }
  /** Make what Applications need on the target. */
  | { readonly kind: "raise" }
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
      const calm = together(world.onSource.map((sight) => quiet(sight, epoch, { now, since: move.phaseSince })));
      if (calm.kind !== "done") return after(calm, DEAD_END);
      return after(together(pairs.map((pair) => hand(pair, epoch))), { kind: "advance", to: "REVOKE", message: "" });
    }
    case "REVOKE":
      return revocation(world, epoch, elapsedMs);
    case "COMMIT":
      return { kind: "commit" };
    case "GRANT": {
      const granted = grant(world.register, world.granted);
      if (granted.kind !== "done") return after(together([granted]), DEAD_END);
      if (world.answer === "allowed") return { kind: "advance", to: "ACTIVATE", message: "" };
      return { kind: "probe", whom: "target", why: "for the new owner to be allowed to write" };
    }
    case "ACTIVATE":
      return after(together(pairs.map((pair) => activate(pair, epoch, move.phaseSince))), { kind: "advance", to: "VERIFY", message: "" });
    case "VERIFY": {
      const verdict = together(pairs.map((pair) => verify(pair, move.baseline)));
      const isTooLate = verdict.kind === "wait" && elapsedMs > VERIFY_CAP_MS;
      const message = verdict.kind === "wait" ? `${WORSE}${verdict.why}` : "";
      return isTooLate ? { kind: "advance", to: "CLEANUP", message } : after(verdict, { kind: "advance", to: "CLEANUP", message: "" });
    }
    case "CLEANUP":
      return empty(world.onSource, "source", epoch);
    case "ABORT":
      return empty(world.onTarget, "target", epoch);
    case "WAITING":
    case "DONE":
    case "ABORTED":
      return { kind: "wait", why: "for its turn" };
  }
}

/** Begins the message of a move that ended with something worse than before, and that is to be taken back. */
const WORSE = "VERIFY failed, waiting ";
const DEAD_END: Step = { kind: "wait", why: "" };

function prepare({ pairs, groundWaits }: MoveWorld, epoch: number, elapsedMs: number): Step {
  if (groundWaits === undefined) return { kind: "raise" };
  const [waits] = groundWaits;
  const verdict = waits === undefined ? together(pairs.map((pair) => arrive(pair, epoch))) : ({ kind: "wait", why: waits } as const);
  if (verdict.kind === "wait" && elapsedMs > PREPARE_CAP_MS) {
    return {
      kind: "abort",
      why: { code: "TARGET_CANNOT_COMPARE", text: `the target was not ready in five minutes: waiting ${verdict.why}` },
    };
  }
  return after(verdict, { kind: "advance", to: "FENCE", baseline: baselineOf(pairs), message: "" });
}

function revocation({ register, granted, answer, isRefusalProven }: MoveWorld, epoch: number, elapsedMs: number): Step {
  const revoked = revoke(register, granted, epoch);
  if (revoked.kind !== "done") return after(together([revoked]), DEAD_END);
  if (isRefusalProven) return { kind: "advance", to: "COMMIT", message: "" };
  if (answer === "allowed" && elapsedMs > REVOKE_CAP_MS) {
    const text = "RegisterBypassed: the old owner may still write, by another binding than the register";
    return { kind: "abort", why: { code: "REGISTER_BYPASSED", text } };
  }
  if (answer !== "refused" && elapsedMs > SILENCE_CAP_MS) {
    return { kind: "abort", why: { code: "NO_REFUSAL", text: "no API server said for five minutes that the old owner may not write" } };
  }
  return { kind: "probe", whom: "source", why: "for the old owner to be refused" };
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
