import { callHarness, type HarnessCalls, type Way } from "./harness-client.ts";
import { until, type World } from "./world.ts";

/** What one control plane process reports about itself. */
export interface Health {
  readonly isReady: boolean;
  /** The checks that keep it from being ready. */
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

/** Restarts the first control plane process with these sections of the configuration, which hold until its next start. */
export async function restartFirst(world: World, config: Omit<HarnessCalls["startArgosy"], "index">): Promise<void> {
  await callHarness(world.harness, "killArgosy", { index: 0 });
  await callHarness(world.harness, "startArgosy", { index: 0, ...config });
  await allReady(world);
}

/** Sum of a metric's samples with these labels over all control planes, as Prometheus would read it now. */
export async function sumOf(world: World, metric: string, fits: (labels: string) => boolean = () => true): Promise<number> {
  const samples = await samplesOf(world, metric);
  return [...samples].reduce((sum, [labels, value]) => (fits(labels) ? sum + value : sum), 0);
}

/** A metric's samples by labels, each summed over all control planes. */
export async function samplesOf({ harness }: World, metric: string): Promise<ReadonlyMap<string, number>> {
  const headers = { authorization: `Bearer ${harness.token}` };
  const texts = await Promise.all(
    harness.argosyUrls.map((url) => fetch(`${url}/metrics`, { headers }).then((response) => response.text())),
  );
  const samples = new Map<string, number>();
  for (const line of texts.flatMap((text) => text.split("\n"))) {
    if (!line.startsWith(`${metric}{`) && !line.startsWith(`${metric} `)) continue;
    const end = line.lastIndexOf(" ");
    const labels = line.slice(metric.length, end);
    samples.set(labels, (samples.get(labels) ?? 0) + Number(line.slice(end + 1)));
  }
  return samples;
}

/** Runs something while a connection is disturbed, and restores the connection whatever happens. */
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
