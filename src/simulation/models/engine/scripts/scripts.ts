// Longer than other files: it is one table with the helpers of its rows.
import { parseRfc3339 } from "../../../../domain/clock.ts";
import type { EngineApplication } from "../application.ts";
import { CASCADE, REFRESH_ANNOTATION, SKIPPED } from "../application.ts";
import type { Script, Stage } from "./stage.ts";

const ONE = { a: "1" };
const SIX = { a: "1", b: "1", c: "1", d: "1", e: "1", f: "1" };
const UNPAUSED = { [Object.keys(SKIPPED)[0] ?? ""]: null };
const ASKED = { [REFRESH_ANNOTATION]: "normal" };

const annotate = (stage: Stage, annotations: object) => stage.patch({ metadata: { annotations } });
const isGone = (stage: Stage) => async (): Promise<boolean> => (await stage.read()) === undefined;
const phaseOf = (application: EngineApplication | undefined): string => application?.status?.operationState?.phase ?? "none";
const hasRefreshed = (stage: Stage) => async (): Promise<boolean> =>
  (await stage.read())?.metadata.annotations?.[REFRESH_ANNOTATION] === undefined;

/** An Application and what it deployed, in words. */
async function say(stage: Stage): Promise<string> {
  const application = await stage.read();
  const objects = `objects: ${
    Object.keys(await stage.objects())
      .sort()
      .join(" ") || "none"
  }`;
  if (application === undefined) return `gone; ${objects}`;
  const { metadata, status, operation } = application;
  const { health } = (status ?? {}) as { readonly health?: { readonly status?: string } };
  const words = [
    ...(metadata.deletionTimestamp === undefined ? [] : ["ending"]),
    `${status?.sync?.status ?? "not compared"} ${health?.status ?? ""}`.trim(),
    `operation ${phaseOf(application)}${operation === undefined ? "" : ", asked for"}`,
    ...(metadata.annotations?.[REFRESH_ANNOTATION] === undefined ? [] : ["a refresh requested"]),
  ];
  return `${words.join(", ")}; ${objects}`;
}

const isSettled = (stage: Stage) => async (): Promise<boolean> => {
  const application = await stage.read();
  const { sync, health } = (application?.status ?? {}) as {
    readonly sync?: { readonly status?: string };
    readonly health?: { readonly status?: string };
  };
  return sync?.status === "Synced" && health?.status === "Healthy" && application?.operation === undefined;
};

/** How long after the sync before it the last one began, in words; the controller compares by itself after two minutes at the earliest. */
function apart(before: EngineApplication | undefined, now: EngineApplication | undefined): string {
  const endedAt = parseRfc3339(before?.status?.operationState?.finishedAt ?? "") ?? Number.NaN;
  const startedAt = parseRfc3339(now?.status?.operationState?.startedAt ?? "") ?? Number.NaN;
  if (!(startedAt >= endedAt)) return "by no sync of its own";
  return startedAt - endedAt < 60_000 ? "by itself soon after" : "when it compared by itself";
}

/** An Application that has deployed the folder and rests. */
async function settle(stage: Stage, files: Readonly<Record<string, string>> = ONE): Promise<void> {
  await stage.push(files);
  await stage.make({ isAutomated: true });
  await stage.until("Synced and Healthy", isSettled(stage));
  await stage.idle();
}

async function refreshNow(stage: Stage): Promise<void> {
  await annotate(stage, ASKED);
  await stage.until("it has refreshed", hasRefreshed(stage));
}

/** A sync of six waves of which the first has been applied. */
async function beginSync(stage: Stage): Promise<void> {
  await stage.push(SIX);
  await stage.make({ isAutomated: true });
  await stage.until(
    "a sync under way",
    async () => Object.keys(await stage.objects()).length > 0 && phaseOf(await stage.read()) === "Running",
  );
}

/** Whether the last operation is still the same, and no object was written. */
async function untouched(stage: Stage, before: { readonly startedAt: string | undefined; readonly objects: object }): Promise<string> {
  const startedAt = (await stage.read())?.status?.operationState?.startedAt;
  const same = JSON.stringify(await stage.objects()) === JSON.stringify(before.objects);
  return `${startedAt === before.startedAt ? "the same operation" : "another operation"}, ${same ? "no object written" : "objects written"}`;
}

async function remember(stage: Stage) {
  const application = await stage.read();
  return { startedAt: application?.status?.operationState?.startedAt, objects: await stage.objects(), status: application?.status };
}

/** Deletes the Application without its objects, and creates another one of its name, paused. */
async function replace(stage: Stage, status?: EngineApplication["status"]): Promise<void> {
  await stage.remove();
  await stage.until("gone", isGone(stage));
  await stage.make({ annotations: SKIPPED, ...(status === undefined ? {} : { status }) });
}

/** Deletes it with the resources finalizer while it is paused. It was paused long before, because what is queued when the pause comes goes on. */
async function endPaused(stage: Stage): Promise<void> {
  await settle(stage);
  await annotate(stage, SKIPPED);
  await stage.idle();
  await stage.patch({ metadata: { finalizers: [CASCADE] } });
  await stage.remove();
}

/** Makes one that follows Git and whose status says that a sync of the present revision failed; returns in words what comes of it. */
async function playFailedSync(stage: Stage): Promise<string> {
  await stage.push(ONE);
  await stage.make({ annotations: SKIPPED });
  const revision = stage.head();
  const source = (await stage.read())?.spec.source;
  const failed = { phase: "Failed", startedAt: "2026-01-01T00:00:00Z", finishedAt: "2026-01-01T00:00:01Z", message: "reported" };
  // Argo CD knows what was tried by revision and source.
  const operationState = { ...failed, operation: { sync: { revision } }, syncResult: { revision, source } };
  await stage.patch({ status: { operationState } });
  await activate(stage);
  await stage.until("it has refreshed", hasRefreshed(stage));
  await stage.idle();
  return say(stage);
}

const activate = (stage: Stage) =>
  stage.patch({
    metadata: { annotations: { ...UNPAUSED, ...ASKED } },
    spec: { syncPolicy: { automated: { prune: true, selfHeal: true } } },
  });

const script = (name: string, play: Script["play"], over: Partial<Script> = {}): Script => ({
  ...{ name, isRestarting: false, usesEntry: false, play },
  ...over,
});
const RESTARTING = { isRestarting: true };
const USING_ENTRY = { usesEntry: true };

/** The behaviour of Argo CD that moves rely on, each as something that is done to a controller. */
export const SCRIPTS: readonly Script[] = [
  script("paused while a sync runs, then unpaused", async (stage) => {
    await beginSync(stage);
    await annotate(stage, SKIPPED);
    await stage.idle();
    const isWhole = Object.keys(await stage.objects()).length === Object.keys(SIX).length;
    const paused = `paused: operation ${phaseOf(await stage.read())}, ${isWhole ? "all" : "some"} objects`;
    await annotate(stage, UNPAUSED);
    await stage.until("the sync's end", async () => phaseOf(await stage.read()) !== "Running" && (await isSettled(stage)()));
    return [paused, await say(stage)];
  }),
  script("deleted without a finalizer", async (stage) => {
    await settle(stage);
    await stage.remove();
    await stage.until("gone", isGone(stage));
    await stage.idle();
    return [await say(stage)];
  }),
  script("deleted with the resources finalizer", async (stage) => {
    await settle(stage);
    await stage.patch({ metadata: { finalizers: [CASCADE] } });
    await stage.remove();
    await stage.until("gone", isGone(stage));
    return [await say(stage)];
  }),
  script("deleted with the resources finalizer while it is paused, then unpaused", async (stage) => {
    await endPaused(stage);
    await stage.idle();
    const paused = await say(stage);
    await annotate(stage, UNPAUSED);
    await stage.until("gone", isGone(stage));
    return [paused, await say(stage)];
  }),
  script("its finalizer taken off while it ends paused", async (stage) => {
    await endPaused(stage);
    await stage.patch({ metadata: { finalizers: null } });
    await stage.until("gone", isGone(stage));
    await stage.idle();
    return [await say(stage)];
  }),
  script(
    "the cluster's entry missing, then back",
    async (stage) => {
      await settle(stage);
      await stage.setEntry(false);
      await refreshNow(stage);
      await stage.until("its sync status Unknown", async () => (await stage.read())?.status?.sync?.status === "Unknown");
      await stage.idle();
      const without = await say(stage);
      await stage.setEntry(true);
      await refreshNow(stage);
      await stage.until("Synced and Healthy", isSettled(stage));
      return [without, await say(stage)];
    },
    USING_ENTRY,
  ),
  script(
    "deleted with the resources finalizer where the cluster's entry is missing",
    async (stage) => {
      await settle(stage);
      await stage.setEntry(false);
      await stage.patch({ metadata: { finalizers: [CASCADE] } });
      await stage.remove();
      await stage.until("gone", isGone(stage));
      await stage.idle();
      return [await say(stage)];
    },
    USING_ENTRY,
  ),
  script("replaced by one with the status of the former", async (stage) => {
    await settle(stage);
    const before = await remember(stage);
    await replace(stage, before.status);
    await activate(stage);
    await stage.until("it has refreshed", hasRefreshed(stage));
    await stage.idle();
    return [await say(stage), await untouched(stage, before)];
  }),
  script("replaced by one without the status of the former", async (stage) => {
    await settle(stage);
    const before = await remember(stage);
    await replace(stage);
    await activate(stage);
    await stage.until("Synced and Healthy", isSettled(stage));
    await stage.idle();
    return [await say(stage), await untouched(stage, { ...before, startedAt: undefined })];
  }),
  script("its status says that its sync failed, then another commit", async (stage) => {
    const reported = await playFailedSync(stage);
    await stage.push({ a: "2" });
    await refreshNow(stage);
    await stage.until("Synced and Healthy", isSettled(stage));
    return [reported, await say(stage)];
  }),
  script("its status says that its sync failed, then that is removed", async (stage) => {
    const reported = await playFailedSync(stage);
    await stage.patch({ metadata: { annotations: ASKED }, status: { operationState: null } });
    await stage.until("Synced and Healthy", isSettled(stage));
    return [reported, await say(stage)];
  }),
  script("its options changed while a sync runs", async (stage) => {
    await beginSync(stage);
    await stage.patch({ spec: { syncPolicy: { syncOptions: ["Validate=false"] } } });
    await stage.until("Synced and Healthy", isSettled(stage));
    const { operationState } = (await stage.read())?.status ?? {};
    return [await say(stage), `options of the sync: ${operationState?.operation?.sync?.syncOptions?.join(" ") || "none"}`];
  }),
  script("terminated while a sync runs, then the sync removed from its status", async (stage) => {
    await beginSync(stage);
    await stage.until("the sync's end", async () => {
      const application = await stage.read();
      // The controller may overwrite the request.
      if (phaseOf(application) === "Running") await stage.patch({ status: { operationState: { phase: "Terminating" } } });
      return application?.operation === undefined;
    });
    await stage.idle();
    const stopped = `operation ${phaseOf(await stage.read())}`;
    await stage.patch({ metadata: { annotations: ASKED }, status: { operationState: null } });
    await stage.until("Synced and Healthy", isSettled(stage));
    return [stopped, await say(stage)];
  }),
  script("a surplus object right after a sync", async (stage) => {
    await stage.push(ONE);
    await stage.make({ isAutomated: true });
    await stage.until("Synced and Healthy", isSettled(stage));
    const before = await stage.read();
    await stage.plant("surplus");
    await stage.until("the surplus object gone", async () => !("surplus" in (await stage.objects())));
    await stage.until("Synced and Healthy", isSettled(stage));
    return [await say(stage), `pruned ${apart(before, await stage.read())}`];
  }),
  script("a refresh requested while it is paused, then unpaused", async (stage) => {
    await settle(stage);
    const before = await remember(stage);
    await stage.patch({ metadata: { annotations: { ...SKIPPED, ...ASKED } } });
    await stage.idle();
    const paused = await say(stage);
    await annotate(stage, UNPAUSED);
    await stage.until("it has refreshed", hasRefreshed(stage));
    await stage.idle();
    return [paused, await say(stage), await untouched(stage, before)];
  }),
  script("automation taken off with a requested refresh, after a push", async (stage) => {
    await settle(stage);
    const before = await remember(stage);
    await stage.push({ a: "2", b: "1" });
    await stage.patch({ metadata: { annotations: ASKED }, spec: { syncPolicy: { automated: null } } });
    await stage.until("it has refreshed", hasRefreshed(stage));
    await stage.idle();
    return [await say(stage), await untouched(stage, before)];
  }),
  script("terminated while nothing is under way", async (stage) => {
    await settle(stage);
    await stage.patch({ status: { operationState: { phase: "Terminating" } } });
    await refreshNow(stage);
    await stage.idle();
    return [await say(stage)];
  }),
  script(
    "the controller restarted in the middle of a sync",
    async (stage) => {
      await beginSync(stage);
      await stage.restart();
      await stage.until("Synced and Healthy", isSettled(stage));
      return [await say(stage)];
    },
    RESTARTING,
  ),
  script(
    "the controller restarted at rest",
    async (stage) => {
      await settle(stage);
      const before = await remember(stage);
      await stage.restart();
      await refreshNow(stage);
      await stage.idle();
      return [await say(stage), await untouched(stage, before)];
    },
    RESTARTING,
  ),
  script(
    "the controller restarted while it was paused in the middle of a sync, then unpaused",
    async (stage) => {
      await beginSync(stage);
      await annotate(stage, SKIPPED);
      await stage.idle();
      await stage.restart();
      await stage.idle();
      const paused = `paused: operation ${phaseOf(await stage.read())}`;
      await annotate(stage, UNPAUSED);
      await stage.until("Synced and Healthy", isSettled(stage));
      return [paused, await say(stage)];
    },
    RESTARTING,
  ),
];
