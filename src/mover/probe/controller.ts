import type { Clock } from "../../domain/clock.ts";
import type { MoveId } from "../../domain/ids.ts";
import { accountName } from "../../shard/names.ts";
import type { OwnNamespaces } from "../../shard/seat.ts";
import type { View } from "../look/controller.ts";
import type { Outside } from "../outside/controller.ts";
import type { ManagedCluster } from "../port.ts";
import { type Answer, askAgainMs, isProven, judgeAnswer, NO_PROOF, nextProof, type PlacedAnswer, type Proof, summary } from "../proof.ts";

export interface ProbeDeps {
  readonly managed: Pick<ManagedCluster, "ask">;
  readonly outside: Pick<Outside, "ask">;
  readonly namespaces: OwnNamespaces;
  readonly fenceMs: number;
  readonly clock: Clock;
}

type Whom = "source" | "target";

/** What was last asked, and what the rounds before it have proven. */
interface Round {
  readonly whom: Whom;
  readonly proof: Proof;
  readonly answers: readonly PlacedAnswer[];
}

interface Known {
  readonly isRefusalProven: boolean;
  readonly answer: Answer | undefined;
  readonly askedAt: string | undefined;
}

/** Asks API servers whether accounts may write, and remembers for how long they were refused. A new process begins anew. */
export interface Probe {
  ask(view: View, whom: Whom, signal: AbortSignal): Promise<void>;
  known(id: MoveId): Known;
  /** How soon to ask again, in ms. */
  askAgainMs(view: View): number;
  /** The register was written, or another account is asked: what was answered before says nothing any more. */
  forget(id: MoveId): void;
}

export function createProbe({ managed, outside, namespaces, fenceMs, clock }: ProbeDeps): Probe {
  const rounds = new Map<MoveId, Round>();

  // Only of the source is it to be proven that it is refused; a target's refusals are those of an authoriser that lags.
  const proofAfter = (round: Round | undefined, whom: Whom, answers: readonly PlacedAnswer[]): Proof => {
    if (whom === "target") return NO_PROOF;
    return nextProof(round?.proof ?? NO_PROOF, answers, clock.monotonicMs());
  };

  const askHome = async ({ move, seat, world }: View, whom: Whom, signal: AbortSignal): Promise<readonly PlacedAnswer[]> => {
    if (whom === "target" && world.isHomeGone) return [];
    const account = accountName(move.unitId, whom === "source" ? move.from : move.to);
    const user = `system:serviceaccount:${namespaces.accounts}:${account}`;
    const said = await managed.ask(user, seat.workspace.namespace, signal);
    return said.map(({ endpoint, isAllowed, trial }) => {
      return { endpoint, answer: judgeAnswer(isAllowed, trial, user), environment: undefined, fenceMs };
    });
  };

  return {
    async ask(view, whom, signal) {
      const { id } = view.move;
      const answers = (await Promise.all([askHome(view, whom, signal), outside.ask(view, whom, signal)])).flat();
      rounds.set(id, { whom, proof: proofAfter(rounds.get(id), whom, answers), answers });
    },
    known(id) {
      const round = rounds.get(id);
      if (round === undefined) return { isRefusalProven: false, answer: undefined, askedAt: undefined };
      return { isRefusalProven: isProven(round.proof, round.answers), ...summary(round.whom, round.answers) };
    },
    askAgainMs({ move, world }) {
      const { proof, answers } = rounds.get(move.id) ?? { proof: NO_PROOF, answers: [] };
      return askAgainMs(proof, answers, { nowMs: clock.monotonicMs(), sinceMs: world.now - move.phaseSince });
    },
    forget: (id) => void rounds.delete(id),
  };
}
