import type { Clock } from "../../domain/clock.ts";
import type { MoveId } from "../../domain/ids.ts";
import { accountName } from "../../shard/names.ts";
import type { OwnNamespaces } from "../../shard/seat.ts";
import type { View } from "../look/controller.ts";
import type { ManagedCluster } from "../port.ts";
import { type Answer, type EndpointAnswer, isProven, judgeAnswer, NO_PROOF, nextProof, type Proof, summary } from "../proof.ts";

export interface ProbeDeps {
  readonly managed: Pick<ManagedCluster, "ask">;
  readonly namespaces: OwnNamespaces;
  readonly fenceMs: number;
  readonly clock: Clock;
}

/** Asks API servers whether accounts may write, and remembers for how long they were refused. A new process begins anew. */
export interface Probe {
  ask(view: View, whom: "source" | "target", signal: AbortSignal): Promise<void>;
  known(id: MoveId): { readonly isRefusalProven: boolean; readonly answer: Answer | undefined };
  /** The register was written, or another account is asked: what was answered before says nothing any more. */
  forget(id: MoveId): void;
}

export function createProbe({ managed, namespaces, fenceMs, clock }: ProbeDeps): Probe {
  const rounds = new Map<MoveId, { readonly proof: Proof; readonly answers: readonly EndpointAnswer[] }>();
  return {
    async ask({ move, seat }, whom, signal) {
      const account = accountName(move.unitId, whom === "source" ? move.from : move.to);
      const user = `system:serviceaccount:${namespaces.accounts}:${account}`;
      const said = await managed.ask(user, seat.workspace.namespace, signal);
      const answers = said.map(({ endpoint, isAllowed, trial }) => ({ endpoint, answer: judgeAnswer(isAllowed, trial, user) }));
      const proof = nextProof(rounds.get(move.id)?.proof ?? NO_PROOF, answers, clock.monotonicMs());
      rounds.set(move.id, { proof, answers });
    },
    known(id) {
      const round = rounds.get(id);
      if (round === undefined) return { isRefusalProven: false, answer: undefined };
      const endpoints = round.answers.map(({ endpoint }) => endpoint);
      return { isRefusalProven: isProven(round.proof, endpoints, fenceMs), answer: summary(round.answers) };
    },
    forget: (id) => void rounds.delete(id),
  };
}
