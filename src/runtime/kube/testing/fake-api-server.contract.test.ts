import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { KubeClient } from "../client.ts";
import type { KubeObject, ResourceType } from "../resource.ts";
import { resourcePath } from "../resource.ts";
import { describeOnApiServers, type Subject } from "./api-servers.ts";

const widgets: ResourceType = { group: "contract.argosy.test", version: "v1", plural: "widgets", kind: "Widget", namespaced: true };
const configMaps: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
const namespaces: ResourceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
const definitions: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};
const never = new AbortController().signal;

interface Widget extends KubeObject {
  readonly spec?: unknown;
  readonly status?: unknown;
}

async function prepare(client: KubeClient): Promise<void> {
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const version = {
    name: "v1",
    served: true,
    storage: true,
    subresources: { status: {} },
    schema: { openAPIV3Schema: { ...open, properties: { spec: open, status: open } } },
  };
  const names = { plural: widgets.plural, singular: "widget", kind: widgets.kind, listKind: "WidgetList" };
  const spec = { group: widgets.group, scope: "Namespaced", names, versions: [version] };
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: definitions.kind,
    metadata: { name: `widgets.${widgets.group}` },
    spec,
  };
  await client.apply(definitions, definition, { fieldManager: "contract" }, never);
  // A new definition is served a moment after it was accepted.
  await vi.waitFor(() => client.listPage(widgets, {}, never), { timeout: 30_000 });
}

const suite = (_: string, start: () => Promise<Subject>): void => {
  let subject: Subject;
  let client: KubeClient;
  let namespace: string;
  beforeAll(async () => {
    subject = await start();
    client = subject.client;
    namespace = `contract-${randomUUID().slice(0, 8)}`;
    await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }, never);
  });
  afterAll(() => subject.close());

  let made = 0;
  const at = (name: string) => ({ namespace, name });
  const widget = (metadata: object, rest: object = {}): Widget => ({
    apiVersion: "contract.argosy.test/v1",
    kind: "Widget",
    metadata: { namespace, name: `w${++made}`, ...metadata },
    ...rest,
  });
  const make = (metadata: object = {}, rest: object = {}) => client.create<Widget>(widgets, widget(metadata, rest), never);
  const need = async (name: string) => (await client.get<Widget>(widgets, at(name), never)) ?? expect.unreachable(`${name} is not there`);
  const put = (body: Widget, name: string) => client.request<Widget>({ method: "PUT", path: resourcePath(widgets, at(name)), body }, never);
  const refused = (status: number) => expect.objectContaining({ context: expect.objectContaining({ status }) });

  describe("create", () => {
    it("fills in identity and generation and drops the status", async () => {
      const created = await make({}, { spec: { a: 1 }, status: { b: 2 } });
      expect(created).toMatchObject({ metadata: { generation: 1, namespace }, spec: { a: 1 } });
      expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(Number(created.metadata.resourceVersion)).toBeGreaterThan(0);
      expect(created.status).toBeUndefined();
    });

    it("makes up a name", async () => {
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "some-" } };
      const created = await client.request<KubeObject>({ method: "POST", path: resourcePath(configMaps, { namespace }), body }, never);
      expect(created.metadata.name).toMatch(/^some-[a-z0-9]{5}$/);
    });

    it("refuses a second of the same name, a bad name, none, and another kind", async () => {
      const { metadata } = await make();
      await expect(make({ name: metadata.name })).rejects.toMatchObject({ code: "kube.exists" });
      await expect(make({ name: "Bad_Name" })).rejects.toMatchObject({ context: { status: 422, field: "metadata.name" } });
      await expect(make({ name: undefined })).rejects.toEqual(refused(422));
      await expect(client.create(widgets, { ...widget({}), kind: "ConfigMap", apiVersion: "v1" }, never)).rejects.toEqual(refused(400));
    });
  });

  describe("update", () => {
    it("raises the generation with the spec, not with labels or the status", async () => {
      const { metadata } = await make({}, { spec: { a: 1 } });
      const generation = async (patch: object, subresource?: string) =>
        (
          await client.mergePatch<Widget>(
            widgets,
            { ...at(metadata.name), ...(subresource === undefined ? {} : { subresource }) },
            patch,
            never,
          )
        ).metadata.generation;
      expect(await generation({ metadata: { labels: { l: "1" } } })).toBe(1);
      expect(await generation({ status: { s: 1 } }, "status")).toBe(1);
      expect(await generation({ spec: { a: 2 } })).toBe(2);
      expect(await generation({ spec: null })).toBe(3);
    });

    it("keeps status and the rest apart", async () => {
      const { metadata } = await make({}, { spec: { a: 1 } });
      await client.mergePatch(
        widgets,
        { ...at(metadata.name), subresource: "status" },
        { spec: { a: 9 }, metadata: { labels: { l: "9" } }, status: { s: 1 } },
        never,
      );
      await client.mergePatch(widgets, at(metadata.name), { spec: { a: 2 }, status: { s: 9 } }, never);
      const now = await need(metadata.name);
      expect(now).toMatchObject({ spec: { a: 2 }, status: { s: 1 } });
      expect(now.metadata.labels).toBeUndefined();
    });

    it("keeps the resource version when nothing changes", async () => {
      const { metadata } = await make({}, { spec: { a: 1 } });
      const same = await client.mergePatch<Widget>(widgets, at(metadata.name), { spec: { a: 1 } }, never);
      expect(same.metadata.resourceVersion).toBe(metadata.resourceVersion);
    });

    it("refuses an outdated version, another identity, another name", async () => {
      const { metadata } = await make();
      const patch = (change: object) => client.mergePatch(widgets, at(metadata.name), { metadata: change }, never);
      await expect(patch({ resourceVersion: "1" })).rejects.toMatchObject({ code: "kube.conflict" });
      await expect(patch({ uid: randomUUID() })).rejects.toMatchObject({ context: { status: 422, field: "metadata.uid" } });
      await expect(patch({ name: "other" })).rejects.toEqual(refused(400));
      await expect(client.mergePatch(widgets, at("none"), {}, never)).rejects.toMatchObject({ code: "kube.not-found" });
    });

    it("replaces only what it names by version", async () => {
      const created = await make({}, { spec: { a: 1 } });
      const { name, resourceVersion } = created.metadata;
      await expect(put(widget({ name }), name)).rejects.toMatchObject({ context: { status: 422, field: "metadata.resourceVersion" } });
      await expect(put(widget({ name, resourceVersion: "1" }), name)).rejects.toMatchObject({ code: "kube.conflict" });
      await expect(put(widget({ name, resourceVersion, uid: randomUUID() }), name)).rejects.toMatchObject({ code: "kube.conflict" });
      await expect(put(widget({ name: "none", resourceVersion }), "none")).rejects.toMatchObject({ code: "kube.not-found" });
      await expect(put(widget({ name: "other", resourceVersion }), name)).rejects.toEqual(refused(400));
      const replaced = await put(widget({ name, resourceVersion }, { spec: { b: 2 } }), name);
      expect(replaced).toMatchObject({ metadata: { generation: 2, uid: created.metadata.uid }, spec: { b: 2 } });
      expect(replaced.spec).toEqual({ b: 2 });
    });

    it("tries without doing when asked for a dry run", async () => {
      const { metadata } = await make({}, { spec: { a: 1 } });
      const tried = await client.apply<Widget>(
        widgets,
        widget({ name: metadata.name }, { spec: { a: 2 } }),
        { fieldManager: "m", dryRun: true },
        never,
      );
      expect(tried.spec).toEqual({ a: 2 });
      expect((await need(metadata.name)).spec).toEqual({ a: 1 });
    });
  });

  describe("JSON patch", () => {
    const failing = [
      ["a test of the version that fails", [{ op: "test", path: "/metadata/resourceVersion", value: "1" }]],
      ["a test of a field that is not there", [{ op: "test", path: "/spec/none", value: 1 }]],
      ["removal of what is not there", [{ op: "remove", path: "/spec/none" }]],
      ["addition below what is not there", [{ op: "add", path: "/none/below", value: 1 }]],
      ["a replacement after the end of a list", [{ op: "replace", path: "/spec/list/9", value: 1 }]],
      ["an unknown operation", [{ op: "frobnicate" as "test", path: "/spec/a", value: 1 }]],
    ] as const;
    it.each(failing)("answers 422 and changes nothing on %s", async (_name, steps) => {
      const { metadata } = await make({}, { spec: { a: 1, list: [1, 2] } });
      const patch = [{ op: "add" as const, path: "/spec/z", value: 1 }, ...steps];
      await expect(client.jsonPatch(widgets, at(metadata.name), patch, never)).rejects.toEqual(refused(422));
      expect((await need(metadata.name)).metadata.resourceVersion).toBe(metadata.resourceVersion);
    });

    it("answers 409 when the patch sets an outdated version, 404 when there is no object", async () => {
      const { metadata } = await make();
      await expect(
        client.jsonPatch(widgets, at(metadata.name), [{ op: "replace", path: "/metadata/resourceVersion", value: "1" }], never),
      ).rejects.toMatchObject({ code: "kube.conflict" });
      await expect(client.jsonPatch(widgets, at("none"), [{ op: "test", path: "/a", value: 1 }], never)).rejects.toMatchObject({
        code: "kube.not-found",
      });
    });

    it("adds, replaces, removes and tests, in lists too", async () => {
      const { metadata } = await make({ annotations: { "a/b": "1" } }, { spec: { list: [1, 2], gone: 1, obj: { x: [1] } } });
      const patched = await client.jsonPatch<Widget>(
        widgets,
        at(metadata.name),
        [
          { op: "test", path: "/metadata/uid", value: metadata.uid },
          { op: "test", path: "/spec/obj", value: { x: [1] } },
          { op: "test", path: "/metadata/finalizers", value: null },
          { op: "add", path: "/spec/list/1", value: 9 },
          { op: "add", path: "/spec/list/-", value: 3 },
          { op: "remove", path: "/spec/list/0" },
          { op: "replace", path: "/spec/fresh", value: "set" },
          { op: "remove", path: "/spec/gone" },
          { op: "add", path: "/metadata/annotations/a~1b", value: "2" },
        ],
        never,
      );
      expect(patched.spec).toEqual({ list: [9, 2, 3], fresh: "set", obj: { x: [1] } });
      expect(patched.metadata.annotations).toEqual({ "a/b": "2" });
    });
  });

  describe("server-side apply", () => {
    const apply = (name: string, spec: unknown, manager = "one", metadata: object = {}) =>
      client.apply<Widget>(widgets, widget({ name, ...metadata }, { spec }), { fieldManager: manager }, never);

    it("makes the object, merges, and removes what its manager leaves out", async () => {
      await apply("applied", { a: 1, deep: { x: 1, y: 1 }, list: [1, 2] });
      await client.mergePatch(widgets, at("applied"), { spec: { foreign: 1 } }, never);
      const second = await apply("applied", { a: 2, deep: { y: 1 }, list: [3] });
      expect(second.spec).toEqual({ a: 2, deep: { y: 1 }, list: [3], foreign: 1 });
      expect((await apply("applied", { a: 2 })).spec).toEqual({ a: 2, foreign: 1 });
    });

    it("keeps what another manager has applied too, and lets force take the rest over", async () => {
      await apply("shared", { both: 1, mine: 1 });
      await apply("shared", { both: 1, mine: 2 }, "two");
      expect((await apply("shared", {})).spec).toEqual({ both: 1, mine: 2 });
    });

    it("leaves alone what somebody else has changed since", async () => {
      await apply("changed", { a: 1, b: 1 });
      await client.mergePatch(widgets, at("changed"), { spec: { a: 5 } }, never);
      expect((await apply("changed", { b: 1 })).spec).toEqual({ a: 5, b: 1 });
    });

    it("treats finalizers as a set of its own", async () => {
      await apply("final", {}, "one", { finalizers: ["x.test/one"] });
      await apply("final", {}, "two", { finalizers: ["x.test/two"] });
      expect((await need("final")).metadata.finalizers).toEqual(["x.test/one", "x.test/two"]);
      expect((await apply("final", {})).metadata.finalizers).toEqual(["x.test/two"]);
      await client.mergePatch(widgets, at("final"), { metadata: { finalizers: null } }, never);
    });

    it("writes the status apart from the rest", async () => {
      await apply("status", { a: 1 });
      const options = { fieldManager: "one", subresource: "status" };
      await client.apply(widgets, widget({ name: "status" }, { status: { s: 1 } }), options, never);
      expect(await apply("status", { a: 1 })).toMatchObject({ spec: { a: 1 }, status: { s: 1 } });
      await expect(client.apply(widgets, widget({ name: "none" }, { status: {} }), options, never)).rejects.toMatchObject({
        code: "kube.not-found",
      });
    });

    it("refuses a claimed identity that is wrong, an outdated version, and an object without a kind", async () => {
      const { metadata } = await make();
      await expect(apply(metadata.name, {}, "one", { uid: randomUUID() })).rejects.toEqual(refused(422));
      await expect(apply("none", {}, "one", { uid: randomUUID() })).rejects.toMatchObject({ code: "kube.conflict" });
      await expect(apply(metadata.name, {}, "one", { resourceVersion: "1" })).rejects.toMatchObject({ code: "kube.conflict" });
      await expect(client.apply(widgets, { metadata: { namespace, name: metadata.name } }, { fieldManager: "one" }, never)).rejects.toEqual(
        refused(400),
      );
    });

    it("tells managers of their conflict unless forced", async () => {
      await apply("contested", { a: 1 });
      const request = {
        method: "PATCH",
        path: resourcePath(widgets, at("contested")),
        query: { fieldManager: "two" },
        contentType: "application/apply-patch+yaml",
      } as const;
      await expect(client.request({ ...request, body: widget({ name: "contested" }, { spec: { a: 2 } }) }, never)).rejects.toMatchObject({
        code: "kube.conflict",
      });
    });
  });

  describe("delete", () => {
    it("removes only the object it means", async () => {
      const { metadata } = await make();
      const remove = (preconditions: { uid?: string; resourceVersion?: string }) =>
        client.delete(widgets, at(metadata.name), { preconditions }, never);
      await expect(remove({ uid: randomUUID() })).rejects.toMatchObject({ code: "kube.conflict" });
      await expect(remove({ resourceVersion: "1" })).rejects.toMatchObject({ code: "kube.conflict" });
      await remove({ uid: metadata.uid ?? "", resourceVersion: metadata.resourceVersion ?? "" });
      expect(await client.get(widgets, at(metadata.name), never)).toBeUndefined();
      await client.delete(widgets, at(metadata.name), {}, never);
    });

    it("marks an object that has finalizers and removes it with the last of them", async () => {
      const { metadata } = await make({ finalizers: ["x.test/a", "x.test/b"] });
      await client.delete(widgets, at(metadata.name), {}, never);
      const marked = await need(metadata.name);
      expect(marked.metadata.deletionTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(marked.metadata.generation).toBe(2);
      await client.delete(widgets, at(metadata.name), {}, never);
      expect((await need(metadata.name)).metadata.resourceVersion).toBe(marked.metadata.resourceVersion);
      await expect(make({ name: metadata.name })).rejects.toMatchObject({ code: "kube.exists" });
      const finalizers = (names: readonly string[]) =>
        client.mergePatch(widgets, at(metadata.name), { metadata: { finalizers: names } }, never);
      await expect(finalizers(["x.test/a", "x.test/c"])).rejects.toMatchObject({ context: { status: 422, field: "metadata.finalizers" } });
      await finalizers(["x.test/b"]);
      await finalizers([]);
      expect(await client.get(widgets, at(metadata.name), never)).toBeUndefined();
    });
  });

  describe("list", () => {
    it("cuts pages from one snapshot", async () => {
      const label = { labels: { pages: "yes" } };
      const names = ["p-a", "p-b", "p-c", "p-d", "p-e"];
      for (const name of names) await make({ name, ...label });
      const options = { namespace, labelSelector: "pages=yes", limit: 2 };
      const first = await client.listPage<Widget>(widgets, options, never);
      await make({ name: "p-aa", ...label });
      const rest: Widget[] = [];
      let continueToken = first.continueToken;
      while (continueToken !== undefined) {
        const page = await client.listPage<Widget>(widgets, { ...options, continueToken }, never);
        expect(page.resourceVersion).toBe(first.resourceVersion);
        rest.push(...page.items);
        continueToken = page.continueToken;
      }
      expect([...first.items, ...rest].map(({ metadata }) => metadata.name)).toEqual(names);
      await expect(client.listPage(widgets, { ...options, continueToken: "garbage" }, never)).rejects.toEqual(refused(400));
    });

    it.each([
      ["s=1", ["s1"]],
      ["s==1", ["s1"]],
      ["s!=1,sel", ["s2", "s3"]],
      ["s in (1, 2)", ["s1", "s2"]],
      ["s notin (1,2),sel=y", ["s3"]],
      ["sel,!s", ["s3"]],
      ["sel", ["s1", "s2", "s3"]],
    ])("understands the selector %s", async (labelSelector, names) => {
      for (const [name, s] of [
        ["s1", "1"],
        ["s2", "2"],
        ["s3", undefined],
      ] as const) {
        await client.apply(
          widgets,
          widget({ name, labels: { sel: "y", ...(s === undefined ? {} : { s }) } }),
          { fieldManager: "m" },
          never,
        );
      }
      const page = await client.listPage<Widget>(widgets, { namespace, labelSelector }, never);
      expect(page.items.map(({ metadata }) => metadata.name)).toEqual(names);
    });

    it("selects by name and refuses selectors it does not understand", async () => {
      const { metadata } = await make();
      const page = await client.listPage<Widget>(widgets, { namespace, fieldSelector: `metadata.name=${metadata.name}` }, never);
      expect(page.items).toHaveLength(1);
      await expect(client.listPage(widgets, { namespace, fieldSelector: "spec.a=1" }, never)).rejects.toEqual(refused(400));
      await expect(client.listPage(widgets, { namespace, labelSelector: "a===b" }, never)).rejects.toEqual(refused(400));
    });

    it("does not know other kinds", async () => {
      await expect(client.listPage({ ...widgets, plural: "gadgets" }, {}, never)).rejects.toMatchObject({
        name: "UnavailableError",
        code: "kube.unknown-path",
      });
    });
  });

  describe("watch", () => {
    async function watched(query: object, count: number): Promise<string[]> {
      const stop = new AbortController();
      const events: string[] = [];
      for await (const line of client.watchLines(resourcePath(widgets, { namespace }), { watch: true, ...query }, stop.signal)) {
        const { type, object } = JSON.parse(line) as { type: string; object: Widget & { code?: number } };
        events.push(`${type} ${object.metadata.name ?? object.code}`);
        if (events.length === count) break;
      }
      return events;
    }

    it("goes on from a version, seen through its selector", async () => {
      const { resourceVersion } = await client.listPage(widgets, { namespace }, never);
      const label = (name: string, value: string | null) =>
        client.mergePatch(widgets, at(name), { metadata: { labels: { seen: value } } }, never);
      await make({ name: "seen-a", labels: { seen: "y" } });
      await make({ name: "seen-b" });
      await label("seen-b", "y");
      await client.mergePatch(widgets, at("seen-a"), { spec: { x: 1 } }, never);
      await label("seen-a", null);
      await client.delete(widgets, at("seen-a"), {}, never);
      await client.delete(widgets, at("seen-b"), {}, never);
      expect(await watched({ resourceVersion, labelSelector: "seen=y" }, 5)).toEqual([
        "ADDED seen-a",
        "ADDED seen-b",
        "MODIFIED seen-a",
        "DELETED seen-a",
        "DELETED seen-b",
      ]);
    });

    it("begins with what is there when no version is named", async () => {
      await make({ name: "there", labels: { there: "y" } });
      expect(await watched({ labelSelector: "there=y" }, 1)).toEqual(["ADDED there"]);
    });

    it("ends after the time asked for", async () => {
      expect(await watched({ labelSelector: "nobody=y", timeoutSeconds: 1 }, 1)).toEqual([]);
    });
  });
};

describeOnApiServers("%s", suite, { fake: { types: [widgets, configMaps, namespaces] }, prepare });
