import { callHarness, type HarnessCalls, type Way } from "./harness-client.ts";
import { until, type World } from "./world.ts";

/** What one control plane process says of itself. */
export interface Health {
  readonly isReady: boolean;
  /** What it is not ready for. */
  readonly failing: readonly string[];
}

export async function healthOf({ harness }: World, index: number): Promise<Health> {
  try {
    const response = await fetch(`${harness.argosyUrls[index]}/readyz`);
    const { checks } = (await response.json()) as { readonly checks: readonly { readonly name: string; readonly ok: boolean }[] };
    return { isReady: response.ok, failing: checks.filter(({ ok }) => !ok).map(({ name }) => name) };
  } catch {
    return { isReady: false, failing: ["process"] };
  }
}

export const allReady = (world: World): Promise<unknown> =>
  until(
    "every control plane ready",
    () => Promise.all(world.harness.argosyUrls.map((_, index) => healthOf(world, index))),
    (health) => health.every(({ isReady }) => isReady),
  );

/** Sum of a metric's samples over all control planes whose labels fit, as Prometheus would read it now. */
export async function sumOf({ harness }: World, metric: string, fits: (labels: string) => boolean = () => true): Promise<number> {
  const texts = await Promise.all(harness.argosyUrls.map((url) => fetch(`${url}/metrics`).then((response) => response.text())));
  const samples = texts
    .flatMap((text) => text.split("\n"))
    .filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));
  return samples.filter(fits).reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

/** Runs something while a way is disturbed, and lets the way be as it was whatever happens. */
export async function disturbed<T>(
  { harness }: World,
  { way, fault }: { readonly way: Way; readonly fault: HarnessCalls["disturb"]["fault"] },
  run: () => Promise<T>,
): Promise<T> {
  await callHarness(harness, "disturb", { way, fault });
  try {
    return await run();
  } finally {
    await callHarness(harness, "restore", { way });
  }
}
