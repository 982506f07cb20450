import { expect, it } from "vitest";
import { createPromMetrics } from "../../telemetry/prom-metrics.ts";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import { createReflectorMeter } from "./reflector-meter.ts";

it("adds up the objects of several watches of one kind, shows the one that has been silent for longest, and forgets those that ended", async () => {
  const metrics = createPromMetrics({ process: false });
  const clock = createVirtualClock(1_000_000);
  const meter = (resource: string) => createReflectorMeter(metrics, { cluster: "eu-1", resource, clock });
  const [one, two, other] = [meter("secrets"), meter("secrets"), meter("pods")];
  const shown = async () => (await metrics.text()).split("\n").filter((line) => /^argosy_kube_reflector_(objects|last)/.test(line));
  expect(await shown()).toEqual([]);
  one.contact(3);
  await clock.advance(5_000);
  two.contact(4);
  other.contact(1);
  expect(await shown()).toEqual([
    'argosy_kube_reflector_objects{cluster="eu-1",resource="secrets"} 7',
    'argosy_kube_reflector_objects{cluster="eu-1",resource="pods"} 1',
    'argosy_kube_reflector_last_contact_timestamp_seconds{cluster="eu-1",resource="secrets"} 1000',
    'argosy_kube_reflector_last_contact_timestamp_seconds{cluster="eu-1",resource="pods"} 1005',
  ]);
  one.end();
  other.end();
  expect(await shown()).toEqual([
    'argosy_kube_reflector_objects{cluster="eu-1",resource="secrets"} 4',
    'argosy_kube_reflector_last_contact_timestamp_seconds{cluster="eu-1",resource="secrets"} 1005',
  ]);
});
