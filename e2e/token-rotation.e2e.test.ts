import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ANNOTATION_TOKEN_MADE, LABEL_ENVIRONMENT } from "../src/domain/names.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { watchApplications } from "./application-watch.ts";
import { allReady, samplesOf } from "./control-plane.ts";
import { callHarness, type HarnessCalls } from "./harness-client.ts";
import { reflect } from "./reflect.ts";
import { watchUser } from "./user-watch.ts";
import { configMapFile, IS_LONG, openWorkspace, openWorld, report, TYPES, type Workspace, type World } from "./world.ts";

/**
 * In long runs a token is replaced about once a minute for ten minutes. In short ones as often as a busy machine bears: with each token Argo CD
 * lists all of the cluster anew, and where the next one comes before that has ended it never compares anything.
 */
const RUN = IS_LONG
  ? { life: { lifeMs: 600_000, renewAfterMs: 60_000 }, rotations: 10, deployments: 12 }
  : { life: { lifeMs: 600_000, renewAfterMs: 15_000 }, rotations: 2, deployments: 4 };
const NAMES = Array.from({ length: RUN.deployments }, (_, index) => `shop-${index}`);
const NAMESPACE = "token-team";

/** Restarts every control plane with these sections of the configuration. */
async function restartAll(world: World, config: Omit<HarnessCalls["startArgosy"], "index">): Promise<void> {
  const indices = [...world.harness.argosyUrls.keys()];
  await Promise.all(
    indices.map(async (index) => {
      await callHarness(world.harness, "killArgosy", { index });
      await callHarness(world.harness, "startArgosy", { index, ...config });
    }),
  );
  await allReady(world);
}

/** Sees every token that instances' entries for the API cluster have had: by entry, when each was made. */
async function watchTokens(world: World) {
  const made = new Map<string, Set<string>>();
  const watch = await reflect<KubeObject>(world, { type: TYPES.secret }, (change) => {
    if (change.kind !== "upsert") return;
    const { namespace, name, labels, annotations } = change.now.metadata;
    const at = annotations?.[ANNOTATION_TOKEN_MADE];
    if (at === undefined || labels?.[LABEL_ENVIRONMENT] !== undefined) return;
    const key = `${namespace}/${name}`;
    made.set(key, (made.get(key) ?? new Set()).add(at));
  });
  return {
    /** How often the token of the entry was replaced that was replaced least. */
    rotations: () => Math.min(...[...made.values()].map((times) => times.size - 1)),
    all: () => [...made].map(([entry, times]) => `${entry}: ${times.size - 1}`),
    close: () => watch.close(),
  };
}

/** Sees each sync that failed. */
async function watchFailures(world: World) {
  const failed = new Set<string>();
  const ended = new Set<string>();
  const watch = await watchApplications(world, ({ metadata, status }) => {
    const { phase, startedAt } = status?.operationState ?? {};
    if (phase === "Failed" || phase === "Error") failed.add(`${metadata.name} ${startedAt} ${phase}: ${JSON.stringify(status)}`);
    if (phase === "Succeeded") ended.add(`${metadata.name} ${startedAt}`);
  });
  return { failed: () => [...failed], succeeded: () => ended.size, close: () => watch.close() };
}

describe("tokens by which instances enter the API cluster", () => {
  let world: World;
  let workspace: Workspace;
  let step = 0;

  /** Pushes a change of every deployment, and waits until each is on the cluster. */
  const push = async (): Promise<void> => {
    step += 1;
    const files = NAMES.map((name) => [`${name}/config.yaml`, configMapFile(name, { step: String(step) })] as const);
    const revision = await world.git.commit("token", Object.fromEntries(files));
    await Promise.all(NAMES.map((name) => workspace.annotate(name, { "argosy.dev/refreshed-at": String(step) })));
    await Promise.all(NAMES.map((name) => workspace.settled(name, revision)));
  };

  beforeAll(async () => {
    world = openWorld();
    workspace = await openWorkspace(world, NAMESPACE);
    const files = NAMES.map((name) => [`${name}/config.yaml`, configMapFile(name, { step: "0" })] as const);
    const revision = await world.git.commit("token", Object.fromEntries(files));
    await Promise.all(NAMES.map((name) => workspace.apply(name, { repository: "token", path: name })));
    await Promise.all(NAMES.map((name) => workspace.settled(name, revision)));
  }, 300_000);
  afterAll(async () => {
    await Promise.all(NAMES.map((name) => workspace.remove(name)));
    await restartAll(world, {});
  }, 300_000);

  it("are replaced again and again under load: no sync fails, and no user reads anything worse", async () => {
    const [tokens, failures, user] = [await watchTokens(world), await watchFailures(world), await watchUser(world, NAMESPACE)];
    try {
      await restartAll(world, { roles: ["all"], accountTokens: RUN.life });
      const startedAt = performance.now();
      while (tokens.rotations() < RUN.rotations || step < 2) await push();
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      report(
        `tokens: replaced ${tokens.all().join(", ")} times in ${seconds} s; ${step} pushes of ${NAMES.length} deployments, ` +
          `${failures.succeeded()} syncs, ${user.states()} states seen by the user`,
      );
      expect([failures.failed(), user.odd(), user.gone()]).toEqual([[], [], []]);
      const failed = [...(await samplesOf(world, "argosy_reconciler_token_renewals_total"))].filter(([labels]) =>
        labels.includes("failed"),
      );
      expect(failed).toEqual([]);
    } finally {
      await Promise.all([tokens.close(), failures.close(), user.close()]);
    }
  }, 1_500_000);

  it("stand in no Secret beside the accounts", async () => {
    const { items } = await world.kube.listPage<KubeObject>(TYPES.secret, { namespace: "argosy-accounts" }, world.signal);
    expect(items.map(({ metadata }) => metadata.name)).toEqual([]);
  });
});
