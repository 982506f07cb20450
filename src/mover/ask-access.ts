import type { Clock } from "../domain/clock.ts";
import type { MoveId } from "../domain/ids.ts";
import type { OwnNamespaces } from "../shard/application-placement.ts";
import { accountName } from "../shard/names.ts";
import type { EnvironmentOwnerBindings } from "../workspace/environment/port.ts";
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

export interface AccessProofDeps {
  readonly managed: Pick<ManagedCluster, "ask">;
  readonly ownerBindings: Pick<EnvironmentOwnerBindings, "ask">;
  readonly namespaces: OwnNamespaces;
  /** For how long an API server has to refuse in an own namespace before that counts as proof, in ms. */
  readonly fenceMs: number;
  readonly clock: Clock;
}

type Whom = "source" | "target";

/** The answers of the last round, and what all rounds so far prove together. */
interface Round {
  readonly whom: Whom;
  readonly proof: Proof;
  readonly answers: readonly PlacedAnswer[];
}

/** What the rounds so far have shown. */
interface Known {
  /** Every endpoint of the last round has refused for long enough. */
  readonly isRefusalProven: boolean;
  /** What all endpoints of the last round answered together. Absent: not asked yet. */
  readonly answer: Answer | undefined;
  /**
   * Name of the environment (not a time) that gave an unwanted answer. Absent: the own namespace gave it, or none was
   * unwanted.
   */
  readonly askedAt: string | undefined;
}

/**
 * Asks API servers whether an account may write, and remembers for how long they have refused it. That is kept in
 * memory only: a process that takes a move over starts from nothing, which costs time and no safety.
 */
export interface AccessProof {
  /** Asks every API server once about the account of the source or of the target, and remembers the answers. */
  ask(observed: ObservedMove, whom: Whom, signal: AbortSignal): Promise<void>;
  /** What is known about a move so far. Before the first question nothing is proven. */
  known(id: MoveId): Known;
  /** How soon to ask again, in ms. */
  askAgainMs(observed: ObservedMove): number;
  /**
   * Drops the answers. Has to be called when the owner binding is written, or another account is asked about: old
   * answers prove nothing then.
   */
  forget(id: MoveId): void;
}

/** Creates the memory of one worker, for all of its moves. It is empty at first. */
export function createAccess({ managed, ownerBindings, namespaces, fenceMs, clock }: AccessProofDeps): AccessProof {
  const rounds = new Map<MoveId, Round>();

  const askOwnNamespace = async (
    { move, placement, world }: ObservedMove,
    whom: Whom,
    signal: AbortSignal,
  ): Promise<readonly PlacedAnswer[]> => {
    // Nobody gets a right in a namespace that is gone.
    if (whom === "target" && world.isNamespaceGone) return [];
    const account = accountName(move.unitId, whom === "source" ? move.from : move.to);
    const user = `system:serviceaccount:${namespaces.accounts}:${account}`;
    const said = await managed.ask(user, placement.workspace.namespace, signal);
    return said.map(({ endpoint, isAllowed, trial }) => {
      return { endpoint, answer: judgeAnswer(isAllowed, trial, user), environment: undefined, fenceMs };
    });
  };

  /**
   * Asks in the environments that this phase's work has reached. The others do not answer; whether to wait for them
   * is `nextStep`'s decision.
   */
  const askRemoteClusters = async (
    { remoteClusters, visits, move }: ObservedMove,
    whom: Whom,
    signal: AbortSignal,
  ): Promise<readonly PlacedAnswer[]> => {
    const instanceId = whom === "source" ? move.from : move.to;
    const reached = new Set(visits?.flatMap(({ environment, outcome }) => (outcome.kind === "away" ? [] : [environment])));
    const askOne = async ({ environment, namespaces: where }: RemoteCluster): Promise<readonly PlacedAnswer[]> => {
      const said = await ownerBindings.ask(environment, { unitId: move.unitId, instanceId, namespaces: where }, signal);
      return said.map(({ endpoint, user, isAllowed, trial }) => {
        return { endpoint, answer: judgeAnswer(isAllowed, trial, user), environment: environment.name, fenceMs: ENVIRONMENT_FENCE_MS };
      });
    };
    return (await Promise.all(remoteClusters.filter(({ environment }) => reached.has(environment.name)).map(askOne))).flat();
  };

  // Only a refusal of the source needs proof over time. A refusal of the target only means that an authoriser has not
  // seen the new binding yet.
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
