import { setTimeout as sleep } from "node:timers/promises";
import { openKube } from "../fleet/connect.ts";
import { applyDemo, type DemoState, isDone, readDemo } from "../fleet/demo.ts";
import type { Progress } from "./progress.ts";

const POLL_MS = 100;

interface DemoPlace {
  readonly kubeconfig: string;
  readonly repoUrl: string;
  readonly progress: Progress;
}

/** Applies the demo's resources and waits until each is Synced and Healthy. If the signal comes first, says which are not. */
export async function deployDemo({ kubeconfig, repoUrl, progress }: DemoPlace, signal: AbortSignal): Promise<readonly DemoState[]> {
  const kube = openKube(kubeconfig);
  const startedAt = performance.now();
  const seconds = new Map<string, number>();
  try {
    await applyDemo(kube, repoUrl, signal);
    for (;;) {
      const states = await readDemo(kube, signal);
      const done = states.filter(isDone);
      for (const state of done) if (!seconds.has(keyOf(state))) seconds.set(keyOf(state), (performance.now() - startedAt) / 1000);
      if (done.length === states.length) return states.map((state) => ({ ...state, seconds: seconds.get(keyOf(state)) }));
      progress.detail(`${done.length} of ${states.length} done`);
      if (signal.aborted)
        throw new Error(
          `the demo is not ready: ${states
            .filter((state) => !isDone(state))
            .map(describe)
            .join(", ")}`,
        );
      await sleep(POLL_MS);
    }
  } finally {
    await kube.close();
  }
}

function keyOf({ namespace, name }: DemoState | Omit<DemoState, "seconds">): string {
  return `${namespace}/${name}`;
}

function describe(state: Omit<DemoState, "seconds">): string {
  return `${keyOf(state)} is ${state.sync} and ${state.health}`;
}
