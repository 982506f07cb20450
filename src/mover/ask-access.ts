import type { Clock } from "../domain/clock.ts";
import type { MoveId } from "../domain/ids.ts";
import { accountName } from "../shard/names.ts";
import type { OwnNamespaces } from "../shard/seat.ts";
import type { EnvironmentRegisters } from "../workspace/environment/port.ts";
import type { ObservedMove } from "./observe-move.ts";
import type { RemoteCluster } from "./phases/remote-clusters.ts";
import type { ManagedCluster } from "./port.ts";
import {
  type Answer,
  askAgainMs,
  ENVIRONMENT_FENCE_MS,
  isProven,
  judgeAnswer,
  NO_PROOF,
  nextProof,
  type PlacedAnswer,
  type Proof,
  summary,
} from "./proof.ts";

export interface AccessDeps {
  readonly managed: Pick<ManagedCluster, "ask">;
  readonly registers: Pick<EnvironmentRegisters, "ask">;
  readonly namespaces: OwnNamespaces;
  /** How long refusals in own namespaces are watched, in ms. */
  readonly fenceMs: number;
  readonly clock: Clock;
}

type Whom = "source" | "target";

/** The last answers, and what they prove together with the rounds before. */
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

/** Asks API servers whether an account may write, and remembers for how long they have refused it. A new process begins again. */
export interface Access {
  ask(observed: ObservedMove, whom: Whom, signal: AbortSignal): Promise<void>;
  known(id: MoveId): Known;
  /** How soon to ask again, in ms. */
  askAgainMs(observed: ObservedMove): number;
  /** The owner binding was written, or another account is asked about: the answers until now say nothing any more. */
  forget(id: MoveId): void;
}

export function createAccess({ managed, registers, namespaces, fenceMs, clock }: AccessDeps): Access {
  const rounds = new Map<MoveId, Round>();

  const askOwnNamespace = async (
    { move, placement, world }: ObservedMove,
    whom: Whom,
    signal: AbortSignal,
  ): Promise<readonly PlacedAnswer[]> => {
    if (whom === "target" && world.isHomeGone) return [];
    const account = accountName(move.unitId, whom === "source" ? move.from : move.to);
    const user = `system:serviceaccount:${namespaces.accounts}:${account}`;
    const said = await managed.ask(user, placement.workspace.namespace, signal);
    return said.map(({ endpoint, isAllowed, trial }) => {
      return { endpoint, answer: judgeAnswer(isAllowed, trial, user), environment: undefined, fenceMs };
    });
  };

  /** Asks in the environments where this phase could do its work. */
  const askRemoteClusters = async (
    { remoteClusters, visits, move }: ObservedMove,
    whom: Whom,
    signal: AbortSignal,
  ): Promise<readonly PlacedAnswer[]> => {
    const instanceId = whom === "source" ? move.from : move.to;
    const reached = new Set(visits?.flatMap(({ environment, outcome }) => (outcome.kind === "away" ? [] : [environment])));
    const askOne = async ({ environment, namespaces: where }: RemoteCluster): Promise<readonly PlacedAnswer[]> => {
      const said = await registers.ask(environment, { unitId: move.unitId, instanceId, namespaces: where }, signal);
      return said.map(({ endpoint, user, isAllowed, trial }) => {
        return { endpoint, answer: judgeAnswer(isAllowed, trial, user), environment: environment.name, fenceMs: ENVIRONMENT_FENCE_MS };
      });
    };
    return (await Promise.all(remoteClusters.filter(({ environment }) => reached.has(environment.name)).map(askOne))).flat();
  };

  // Only the source's refusal has to be proven. While the target is refused, an authoriser has not yet learnt of the owner binding.
  const proofAfter = (round: Round | undefined, whom: Whom, answers: readonly PlacedAnswer[]): Proof => {
    if (whom === "target") return NO_PROOF;
    return nextProof(round?.proof ?? NO_PROOF, answers, clock.monotonicMs());
  };

  return {
    async ask(observed, whom, signal) {
      const { id } = observed.move;
      const asked = [askOwnNamespace(observed, whom, signal), askRemoteClusters(observed, whom, signal)];
      const answers = (await Promise.all(asked)).flat();
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
