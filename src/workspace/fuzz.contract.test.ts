import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { RefusedError } from "../domain/errors.ts";
import type { KubeClient } from "../runtime/kube/client.ts";
import { NAMESPACES } from "../runtime/kube/namespaces.ts";
import type { KubeObject, ResourceType } from "../runtime/kube/resource.ts";
import { describeOnApiServers, type Subject } from "../runtime/kube/testing/api-servers.ts";
import { EVENTS } from "./adapters/kubernetes/user-events.ts";
import { SECRETS } from "./adapters/kubernetes/user-secrets.ts";
import { watchedTypeOf } from "./adapters/kubernetes/watched-kind.ts";
import { renderCrds } from "./api/crd.ts";
import { USER_KINDS } from "./api/names.ts";
import { kindSchemas } from "./api/schema.ts";
import { OF_NAMESPACE } from "./events/allowance.ts";
import { aSpec } from "./testing/builders.ts";
import { startControllers } from "./testing/controllers.ts";
import { improprieties, whyUnfit } from "./testing/fuzz/fitness.ts";
import { anyEnvironmentSecret, anyRepositorySecret } from "./testing/fuzz/secrets.ts";
import { fuzzSeed } from "./testing/fuzz/seed.ts";
import { anySpec, type Kind } from "./testing/fuzz/specs.ts";

/** Of each kind, in batches that stay within every quota. */
const BATCHES = 5;
const BATCH = 27;
const KINDS: readonly Kind[] = ["deployment", "syncRun", "environment", "credential"];
const seed = fuzzSeed("resources at random on API servers");
const NAME = `fuzz-${process.pid}`;
const LABEL = { "example.com/fuzz": NAME };
const DEFINITIONS: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};
const GOOD: Readonly<Record<Kind, unknown>> = {
  deployment: aSpec(),
  syncRun: { gitopsDeploymentName: "guestbook" },
  environment: { apiURL: "https://api.prod.example:6443", credentialsSecret: "prod-eu-creds", allowInsecureSkipTLSVerify: false },
  credential: { repository: "https://git.example/jane/guestbook", secret: "guestbook-repo" },
};
/** What its user reads of a good one, as soon as it was reconciled: no instance is there to answer. */
const REPORTED: Readonly<Record<Kind, RegExp>> = {
  deployment: /Reconciling=True\/(Reconciling|WaitingForCapacity)/,
  syncRun: /ErrorOccurred=True\/ErrorOccurred/,
  environment: /ConnectionInitializationSucceeded=/,
  credential: /ValidRepositoryURL=/,
};

interface Reported extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[] };
}

const never = new AbortController().signal;

async function prepare(client: KubeClient): Promise<void> {
  for (const crd of renderCrds()) await client.apply(DEFINITIONS, crd, { fieldManager: "contract" }, never);
  for (const kind of KINDS) await vi.waitFor(() => client.listPage(watchedTypeOf(USER_KINDS[kind]), {}, never), { timeout: 30_000 });
}

describeOnApiServers(
  `of ${BATCHES * BATCH * KINDS.length} resources generated from ${seed}, %s`,
  (_name, start) => {
    let subject: Subject;
    let controllers: { close(): Promise<void> };
    const abort = new AbortController();
    let begunAt = 0;
    const client = () => subject.client;
    beforeAll(async () => {
      subject = await start();
      begunAt = performance.now();
      await client().create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAME, labels: LABEL } }, never);
      controllers = await startControllers(
        client(),
        { workspaces: { selector: LABEL, quota: { deployments: 1000, syncsPerMinute: 20 } } },
        abort.signal,
      );
    });
    afterAll(async () => {
      await controllers.close();
      abort.abort();
      await client().delete(NAMESPACES, { namespace: "", name: NAME }, {}, never);
      await subject.close();
    });

    /** Whether it was taken; a refusal says what is wrong. */
    const create = async (kind: Kind, name: string, spec: unknown): Promise<boolean> => {
      const type = watchedTypeOf(USER_KINDS[kind]);
      const apiVersion = "managed-gitops.redhat.com/v1alpha1";
      const object = { apiVersion, kind: type.kind, metadata: { namespace: NAME, name }, ...(spec === undefined ? {} : { spec }) };
      try {
        await client().create(type, object, never);
        return true;
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error;
        const said = `${String(error.context["status"])} ${String(error.context["field"])} ${error.cause instanceof Error ? error.cause.message : ""}`;
        expect(said).toMatch(/^(4\d\d .*\bspec\b|413 )/s);
        return false;
      }
    };
    const read = (kind: Kind, name: string) => client().get<Reported>(watchedTypeOf(USER_KINDS[kind]), { namespace: NAME, name }, never);
    const reported = (object: Reported | undefined): string =>
      (object?.status?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status}/${reason}`).join(" ");
    const isReported = (kind: Kind, name: string, what: RegExp) =>
      vi.waitFor(
        async () => {
          const found = await read(kind, name);
          expect(reported(found), JSON.stringify(found).slice(0, 1000)).toMatch(what);
        },
        { timeout: 30_000, interval: 50 },
      );
    const remove = (kind: Kind, name: string) => client().delete(watchedTypeOf(USER_KINDS[kind]), { namespace: NAME, name }, {}, never);

    const bringSecrets = async (batch: number): Promise<void> => {
      const [environment] = fc.sample(anyEnvironmentSecret("https://api.prod.example:6443"), { seed: seed + batch, numRuns: 1 });
      const [repository] = fc.sample(anyRepositorySecret(), { seed: seed + batch, numRuns: 1 });
      for (const [name, secret] of [
        ["prod-eu-creds", environment],
        ["guestbook-repo", repository],
      ] as const) {
        await client().delete(SECRETS, { namespace: NAME, name }, {}, never);
        if (secret === undefined || secret.type.startsWith("kubernetes.io/")) continue;
        const data = Object.fromEntries(Object.entries(secret.data).map(([key, bytes]) => [key, Buffer.from(bytes).toString("base64")]));
        const object = { apiVersion: "v1", kind: "Secret", metadata: { namespace: NAME, name }, type: secret.type, data };
        await client().create(SECRETS, object as KubeObject, never);
      }
    };

    const events = async (): Promise<readonly KubeObject[]> =>
      (await client().listPage<KubeObject>(EVENTS, { namespace: NAME }, never)).items;

    describe.each(KINDS)("each %s", (kind) => {
      it.each(Array.from({ length: BATCHES }, (_, batch) => batch))(
        "is refused with the field that is wrong, or says how it stands, and the next good one is reconciled: batch %i",
        async (batch) => {
          await bringSecrets(batch);
          const specs = fc.sample(anySpec(kind), { seed: seed + batch, numRuns: BATCH });
          const taken: string[] = [];
          for (const [index, spec] of specs.entries())
            if (await create(kind, `any-${batch}-${index}`, spec)) taken.push(`any-${batch}-${index}`);
          for (const name of taken) {
            await isReported(kind, name, /Ready=/);
            expect(whyUnfit(kindSchemas()[kind].status, (await read(kind, name))?.status)).toEqual([]);
          }
          expect(await create(kind, `good-${batch}`, GOOD[kind])).toBe(true);
          await isReported(kind, `good-${batch}`, REPORTED[kind]);
          for (const name of [...taken, `good-${batch}`]) await remove(kind, name);
        },
      );
    });

    it("are reported by Events too: not without end, and without the secrets", async () => {
      await vi.waitFor(async () => expect(await events()).not.toEqual([]), { timeout: 30_000 });
      const found = await events();
      const seconds = (performance.now() - begunAt) / 1000;
      expect(found.length).toBeLessThanOrEqual(OF_NAMESPACE.burst + Math.ceil((seconds * 1000) / OF_NAMESPACE.eachMs));
      for (const event of found) expect(improprieties(JSON.stringify(event))).toEqual([]);
    });
  },
  { prepare },
);
