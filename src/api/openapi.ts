import type { FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type Section = { readonly [name: string]: Json };

const METHODS = ["get", "put", "post", "patch", "delete"];
const REFUSED: Json = {
  description: "Refused or failed: what is wrong and what to do about it",
  content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
};

/** How the OpenAPI 3.1 document is made from the schemas the routes are checked with. */
export function openApiOptions(version: string): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Argosy", description: "REST API of the control plane for a fleet of Argo CD instances", version },
      components: {
        securitySchemes: { token: { type: "http", scheme: "bearer", description: "a token made with `argosy token create`" } },
      },
    },
    transform: jsonSchemaTransform,
    transformObject: (document) =>
      tidy(jsonSchemaTransformObject(document) as unknown as Section) as ReturnType<typeof jsonSchemaTransformObject>,
  };
}

/** Says of every guarded route how it refuses, and leaves out the schemas that nothing refers to. */
function tidy(document: Section): Section {
  const paths = mapValues(section(document["paths"]), (path) =>
    mapValues(section(path), (operation, method) => (METHODS.includes(method) ? describeAnswers(section(operation)) : operation)),
  );
  const components = section(document["components"]);
  const schemas = section(components["schemas"]);
  const used = reachable(paths, schemas);
  const kept = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
  return { ...document, paths, components: { ...components, schemas: kept } };
}

function describeAnswers(operation: Section): Section {
  const answers = mapValues(section(operation["responses"]), (answer) => ({ ...section(answer), description: "As asked for" }));
  return { ...operation, responses: operation["security"] === undefined ? answers : { ...answers, default: REFUSED } };
}

function reachable(from: Json, schemas: Section): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: Json): void => {
    for (const name of referredBy(value)) {
      if (found.has(name)) continue;
      found.add(name);
      visit(schemas[name] ?? null);
    }
  };
  visit(from);
  return found;
}

function referredBy(value: Json): readonly string[] {
  return [...JSON.stringify(value).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1] ?? "");
}

function section(value: Json | undefined): Section {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Section) : {};
}

function mapValues(values: Section, change: (value: Json, name: string) => Json): Section {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));
}
