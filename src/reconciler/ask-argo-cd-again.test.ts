import { expect, it } from "vitest";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { FIRST_NUDGE_MS } from "../shard/nudge.ts";
import { type ObservedApplication, parseApplication } from "../shard/parse-application.ts";
import { renderApplication } from "../shard/render-application.ts";
import { anApplication, anApplicationPlacement, setMeta, stored, TARGET } from "../shard/testing/builders.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { COMPARE_EVERY_MS, createAskArgoCdAgain } from "./ask-argo-cd-again.ts";
import type { EngineShard } from "./port.ts";

/** An Application that Argo CD was asked to refresh. */
function anAskedOne(): ObservedApplication {
  const raw = stored(renderApplication(anApplicationPlacement(), anApplication(), TARGET), "object-1", "100");
  setMeta("annotations", { "argocd.argoproj.io/refresh": "normal" })(raw);
  return parseApplication(raw) as ObservedApplication;
}

it("judges nothing but what Argo CD has yet to answer, and asks whom it has by the share of that moment", async () => {
  const clock = createVirtualClock();
  const patched: string[] = [];
  let isMine = false;
  const applications = {
    list: () => expect.fail("all Applications were listed"),
    patch: async ({ name }: { readonly name: string }) => void patched.push(name),
  };
  const asked = anAskedOne();
  const engine = { cluster: "engine", applications, listUnanswered: () => [asked] } as unknown as EngineShard;
  const pass = createAskArgoCdAgain({
    watched: new Map([["engine", engine]]),
    partition: { isMine: () => isMine, onChange: () => () => undefined },
    ...{ clock, log: silentLog, metrics: noMetrics },
  });
  const passFor = async (ms: number): Promise<void> => {
    for (let passedMs = 0; passedMs <= ms; passedMs += COMPARE_EVERY_MS) {
      await pass(new AbortController().signal);
      await clock.advance(COMPARE_EVERY_MS);
    }
  };
  await passFor(10 * FIRST_NUDGE_MS);
  expect(patched).toEqual([]);
  isMine = true;
  await passFor(FIRST_NUDGE_MS);
  expect(patched).toEqual([asked.at.name]);
});
