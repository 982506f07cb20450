import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../runtime/clock.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import { type Api, createApi } from "./server.ts";
import { idleDeps } from "./testing/served.ts";

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly security?: unknown;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: unknown }[];
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Readonly<Record<string, unknown>> }>>;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

describe("the OpenAPI document", () => {
  let api: Api;
  let document: Document;
  beforeAll(async () => {
    api = await createApi(idleDeps(createMemoryStore({ clock: systemClock })));
    document = (await api.document()) as Document;
  });
  afterAll(() => api.close());

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) => Object.values(methods).map((one) => ({ path, ...one })));

  it("is one of version 3.1 with the version of the server", () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: "Argosy", version: "1.2.3" });
  });

  it("holds what every reference points to, and no schema that nothing refers to", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map((match) => match[1] ?? "");
    const named = new Set(references.map((reference) => reference.replace("#/components/schemas/", "")));
    expect([...named].sort()).toEqual(Object.keys(document.components.schemas).sort());
    expect([...named].filter((name) => name.endsWith("Input"))).toEqual([]);
    expect(named.size).toBeGreaterThan(8);
  });

  it("gives each operation an id of its own, a summary, and every parameter of its path", () => {
    const ids = operations().map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).not.toContain(undefined);
    for (const { path, summary, parameters = [] } of operations()) {
      expect(summary).toMatch(/^[A-Z]/);
      const inPath = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);
      expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
    }
  });

  it("says how a guarded route refuses", () => {
    const guarded = operations().filter(({ security }) => security !== undefined);
    expect(guarded.length).toBeGreaterThan(6);
    for (const { responses } of guarded) {
      expect(Object.keys(responses["default"]?.content ?? {})).toEqual(["application/problem+json"]);
    }
  });
});
