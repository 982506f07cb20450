import { expect, it } from "vitest";
import type { ApplicationId } from "../../domain/ids.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createMemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { anIntent } from "../../store/testing/builders.ts";
import { createRowIndex } from "./row-index.ts";
import { createPublicationSweep } from "./sweep-rows.ts";

const HALF = 601;
const { signal } = new AbortController();

it("announces what is ours behind any number that another controller leaves unpublished", async () => {
  const { intents } = createMemoryStore({ clock: systemClock });
  const theirs = Array.from({ length: HALF }, () => anIntent({ namespace: "theirs" }));
  const ours = Array.from({ length: HALF }, () => anIntent({ namespace: "ours" }));
  await intents.recordDeployments([...theirs, ...ours], signal);
  const announced: ApplicationId[] = [];
  const unpublished = new Set<ApplicationId>(["gone" as ApplicationId]);
  const sweep = createPublicationSweep({
    apiCluster: "main",
    intents,
    resources: { deployment: () => undefined },
    rows: createRowIndex(),
    partition: { isMine: (namespace) => namespace === "ours", onChange: () => () => undefined },
    unpublished,
    announce: (id) => announced.push(id),
  });
  await sweep(signal);
  const all = [...theirs, ...ours].map(({ newIds }) => newIds.applicationId);
  expect(announced).toEqual(all);
  expect([...unpublished]).toEqual(all);
});
