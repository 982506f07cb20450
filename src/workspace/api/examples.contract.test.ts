import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parseAllDocuments } from "yaml";
import { systemClock } from "../../runtime/clock.ts";
import { loadKubeconfig } from "../../runtime/kube/auth.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { createKubeClient } from "../../runtime/kube/http.ts";
import { NAMESPACES } from "../../runtime/kube/namespaces.ts";
import type { KubeObject, ResourceType } from "../../runtime/kube/resource.ts";
import { realApiServer } from "../../runtime/kube/testing/real-api-server.ts";
import { systemRng } from "../../runtime/rng.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { SECRETS } from "../adapters/kubernetes/user-secrets.ts";
import { watchedTypeOf } from "../adapters/kubernetes/watched-kind.ts";
import { parseDeployment } from "../deployment/parse-deployment.ts";
import { parseEnvironment } from "../environment/parse-environment.ts";
import { parseRepositoryAddress } from "../repository-credential/repository-address.ts";
import { parseRun } from "../sync-run/parse-run.ts";
import { renderCrds } from "./crd.ts";
import { USER_KINDS } from "./names.ts";
import { checkCredentialSpec } from "./schema.ts";

const kubeconfig = await realApiServer();
const never = new AbortController().signal;
const NAMESPACE = `examples-${process.pid}`;
const EGRESS = { allow: [], http: [] };
const DEFINITIONS: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

type Example = KubeObject & { readonly kind: string; readonly spec?: unknown };

const pages = ["README.md", ...Object.values(USER_KINDS).map(({ kind }) => `${kind.toLowerCase()}.md`)];

function examplesOf(page: string): readonly Example[] {
  const text = readFileSync(new URL(`../../../docs/users/${page}`, import.meta.url), "utf8");
  const blocks = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, block = ""]) => block);
  return blocks.flatMap((block) => parseAllDocuments(block).map((document) => document.toJS() as Example));
}

/** Whether the controllers take it too. */
const taken: Readonly<Record<string, (spec: unknown) => boolean>> = {
  [USER_KINDS.deployment.kind]: (spec) => parseDeployment({ spec, refreshedAt: "" }, EGRESS).ok,
  [USER_KINDS.syncRun.kind]: (spec) => parseRun({ spec }).ok,
  [USER_KINDS.environment.kind]: (spec) => parseEnvironment(spec, EGRESS).ok,
  [USER_KINDS.credential.kind](spec) {
    const checked = checkCredentialSpec(spec);
    return checked.ok && parseRepositoryAddress(checked.spec.repository, EGRESS).ok;
  },
  Secret: () => true,
};

describe.runIf(kubeconfig !== undefined)("the examples for users, on a real API server,", () => {
  let client: KubeClient;
  beforeAll(async () => {
    const credentials = loadKubeconfig({ file: kubeconfig ?? "" });
    client = createKubeClient({ cluster: "real", credentials, clock: systemClock, rng: systemRng, metrics: noMetrics });
    for (const crd of renderCrds()) await client.apply(DEFINITIONS, crd, { fieldManager: "contract" }, never);
    for (const kind of Object.values(USER_KINDS))
      await vi.waitFor(() => client.listPage(watchedTypeOf(kind), {}, never), { timeout: 30_000 });
    await client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }, never);
  });
  afterAll(async () => {
    await client.delete(NAMESPACES, { namespace: "", name: NAMESPACE }, {}, never);
    await client.close();
  });

  it.each(pages)("are applied as %s shows them, and kept whole", async (page) => {
    const examples = examplesOf(page);
    const kinds = Object.values(USER_KINDS);
    const own = kinds.find(({ kind }) => page === `${kind.toLowerCase()}.md`)?.kind;
    if (own !== undefined) expect(examples.map(({ kind }) => kind)).toContain(own);
    expect(examples).not.toEqual([]);
    for (const example of examples) {
      const kind = kinds.find((each) => each.kind === example.kind);
      const object = { ...example, metadata: { ...example.metadata, namespace: NAMESPACE } };
      const stored = await client.apply<Example>(
        kind === undefined ? SECRETS : watchedTypeOf(kind),
        object,
        { fieldManager: "jane" },
        never,
      );
      expect([example.kind, taken[example.kind]?.(example.spec), stored.spec]).toEqual([example.kind, true, example.spec]);
    }
  });
});
