import { type Clock, type Millis, millis } from "../../domain/clock.ts";
import type { ProbedApplication } from "../../domain/probed.ts";
import { ACTIVE_CANARIES, PASSIVE_CANARY } from "../../health/canaries.ts";
import type { ProbedNamespace } from "../../health/port.ts";
import { ALONE_S, type QueueModel } from "./queue-model.ts";

/** How often Argo CD compares an application by itself, in ms. */
const ROUND_MS = 120_000;

/** The namespace of an instance whose canaries wait as all its applications do. It shows no pods, and none may be deleted. */
export function createCanaryModel({ waitS }: Pick<QueueModel, "waitS">, clock: Clock): ProbedNamespace {
  const answers = new Map<string, Millis>();
  const seen = (name: string): ProbedApplication => {
    const now = clock.now();
    const byItself = millis(now - (now % ROUND_MS));
    const answered = answers.get(name) ?? byItself;
    const awaitsObservation = answered > now;
    return {
      name,
      awaitsObservation,
      isPaused: false,
      reconciledAt: awaitsObservation ? millis(byItself - ROUND_MS) : answered,
      hasError: false,
    };
  };
  return {
    ensureCanaries: async () => undefined,
    removeCanaries: async () => undefined,
    async askFor(name) {
      // A canary that waits already keeps its place in the queue.
      const [now, before] = [clock.now(), seen(name)];
      if ((answers.get(name) ?? 0) <= now) answers.set(name, millis(now + Math.ceil((waitS() + ALONE_S) * 1_000)));
      return before;
    },
    listCanaries: async () => [...ACTIVE_CANARIES, PASSIVE_CANARY].map(seen),
    sampleApplications: async () => [],
    listPods: async () => [],
    async deletePod() {
      throw new Error("a pod of an instance that does not stand still is restarted");
    },
  };
}
