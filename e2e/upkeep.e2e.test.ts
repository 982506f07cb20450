import { beforeAll, describe, expect, it } from "vitest";
import type { InstanceView, WorkspaceView } from "../src/api/schema.ts";
import { LABEL_UNIT } from "../src/domain/names.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { argosy } from "./command-line.ts";
import { CONNECTED, ENVIRONMENT } from "./environments.ts";
import { callHarness } from "./harness-client.ts";
import { inSeconds } from "./in-seconds.ts";
import {
  conditionOf,
  configMapFile,
  type DeploymentResource,
  openWorkspace,
  openWorld,
  report,
  TYPES,
  until,
  type World,
} from "./world.ts";

const DEADLINE_MS = 10 * 60_000;
const API = "managed-gitops.redhat.com/v1alpha1";

let world: World;
beforeAll(() => {
  world = openWorld();
});

const unitOf = async (namespace: string): Promise<string> => {
  const found = (await world.rest.all<WorkspaceView>("/v1/workspaces")).find((one) => one.namespace === namespace);
  return found?.units[0]?.id ?? "";
};

const projectsOf = async (unitId: string): Promise<readonly KubeObject[]> =>
  (await world.kube.listPage<KubeObject>(TYPES.project, { labelSelector: `${LABEL_UNIT}=${unitId}` }, world.signal)).items;

describe("a Secret that a resource names", () => {
  const NAMESPACE = "late-secrets";
  const at = { namespace: NAMESPACE, name: "creds" };
  const conditionsOf = async (type: typeof TYPES.credential | typeof ENVIRONMENT, condition: string): Promise<string> =>
    conditionOf(await world.kube.get<DeploymentResource>(type, { namespace: NAMESPACE, name: "prod" }, world.signal), condition)?.reason ??
    "";
  const said = async (what: string, credential: string, environment: string): Promise<void> => {
    const since = performance.now();
    const both = await Promise.all([
      until(
        `the credential say ${credential}`,
        () => conditionsOf(TYPES.credential, "Ready"),
        (reason) => reason === credential,
      ).then(() => inSeconds(performance.now() - since)),
      until(
        `the environment say ${environment}`,
        () => conditionsOf(ENVIRONMENT, CONNECTED),
        (reason) => reason === environment,
      ).then(() => inSeconds(performance.now() - since)),
    ]);
    report(`a Secret that ${what}: said by its credential after ${both[0]}, by its environment after ${both[1]}`);
  };
  const create = (type: string): Promise<unknown> =>
    world.kube.create(TYPES.secret, { apiVersion: "v1", kind: "Secret", metadata: at, type } as KubeObject, world.signal);
  const remove = (): Promise<void> => world.kube.delete(TYPES.secret, at, {}, world.signal);

  it(
    "is noticed when it is created after the resource with a wrong type, when that is deleted, and when one of the right type comes",
    async () => {
      await openWorkspace(world, NAMESPACE);
      const metadata = { namespace: NAMESPACE, name: "prod" };
      const user = { fieldManager: "user" };
      const repository = `${world.harness.privateGitUrl}/nobody/nothing.git`;
      const credential = { apiVersion: API, kind: TYPES.credential.kind, metadata, spec: { repository, secret: "creds" } };
      const spec = { apiURL: "https://cluster.example:6443", credentialsSecret: "creds", allowInsecureSkipTLSVerify: false };
      await world.kube.apply(TYPES.credential, credential, user, world.signal);
      await world.kube.apply(ENVIRONMENT, { apiVersion: API, kind: ENVIRONMENT.kind, metadata, spec } as KubeObject, user, world.signal);
      await said("is missing", "SecretNotFound", "SecretNotFound");
      await create("Opaque");
      await said("came with a wrong type", "SecretInvalidType", "InvalidSecretType");
      await remove();
      await said("went", "SecretNotFound", "SecretNotFound");
      await create("managed-gitops.redhat.com/managed-environment");
      await said("came as an environment's", "SecretInvalidType", "MissingKubeConfigField");
      await world.kube.delete(TYPES.namespace, { namespace: "", name: NAMESPACE }, {}, world.signal);
    },
    DEADLINE_MS,
  );
});

describe("what is no longer needed", () => {
  it(
    "a workspace's project is deleted with its last deployment, and is back for the next one",
    async () => {
      const workspace = await openWorkspace(world, "without-any");
      await world.git.commit("without-any", { "a/config.yaml": configMapFile("one", {}), "b/config.yaml": configMapFile("other", {}) });
      await workspace.apply("one", { repository: "without-any", path: "a" });
      await workspace.settled("one");
      const unitId = await unitOf("without-any");
      expect(await projectsOf(unitId)).toHaveLength(1);
      await workspace.remove("one");
      const since = performance.now();
      await until(
        "the project gone",
        () => projectsOf(unitId),
        (found) => found.length === 0,
      );
      report(`the project of a workspace without deployments was gone after ${inSeconds(performance.now() - since)}`);
      await workspace.apply("other", { repository: "without-any", path: "b" });
      await workspace.settled("other");
      expect(await projectsOf(unitId)).toHaveLength(1);
      await world.kube.delete(TYPES.namespace, { namespace: "", name: "without-any" }, {}, world.signal);
    },
    DEADLINE_MS,
  );

  it(
    "a namespace that is deleted is taken down without a warning",
    async () => {
      const names = ["quiet-end-a", "quiet-end-b", "quiet-end-c"];
      await world.git.commit("quiet-end", { "app/config.yaml": configMapFile("one", {}) });
      const units: string[] = [];
      for (const name of names) {
        const workspace = await openWorkspace(world, name);
        await workspace.apply("app", { repository: "quiet-end", path: "app" });
        await workspace.settled("app");
        units.push(await unitOf(name));
      }
      for (const name of names) await world.kube.delete(TYPES.namespace, { namespace: "", name }, {}, world.signal);
      await until(
        "the workspaces forgotten",
        () => world.rest.all<WorkspaceView>("/v1/workspaces"),
        (all) => all.every(({ namespace }) => !names.includes(namespace)),
      );
      const lines = await Promise.all(
        [...names, ...units].map((containing) => callHarness(world.harness, "saidByArgosy", { containing }) as Promise<readonly string[]>),
      );
      const warnings = lines.flat().filter((line) => (JSON.parse(line) as { readonly level?: string | number }).level !== "info");
      expect(warnings).toEqual([]);
    },
    DEADLINE_MS,
  );
});

describe("the doctor", () => {
  /** What it says once it finds nothing wrong: what another story left may take it a moment. */
  const passed = async (): Promise<string> =>
    (
      await until(
        "the doctor pass",
        () => argosy(world, "doctor"),
        ({ code }) => code === 0,
      )
    ).out;

  it("passes where somebody has cordoned an instance, and says who did it and why", async () => {
    const instances = await world.rest.all<InstanceView>("/v1/instances");
    const name = instances.find(({ state }) => state === "ACTIVE")?.name ?? "";
    await passed();
    await argosy(world, "cordon", name, "--reason", "a kernel update");
    try {
      const out = await passed();
      expect(out).toMatch(new RegExp(`note +instance ${name}`));
      expect(out).toContain("a kernel update");
      expect(out).toContain(`argosy uncordon ${name}`);
    } finally {
      await argosy(world, "uncordon", name, "--reason", "done");
    }
    expect(await passed()).not.toContain("a kernel update");
  });
});
