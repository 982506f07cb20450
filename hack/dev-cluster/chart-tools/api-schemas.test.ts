import { describe, expect, it } from "vitest";
import { type OpenApi, renderApiSchemas } from "./api-schemas.ts";

const kind = (group: string, version: string, name: string) => ({
  "x-kubernetes-group-version-kind": [{ group, version, kind: name }],
});
const openApi: OpenApi = {
  definitions: {
    "v1.Till": {
      type: "object",
      required: ["drawer"],
      properties: {
        drawer: { $ref: "#/definitions/v1.Drawer" },
        labels: { type: "object", additionalProperties: { type: "string" } },
        anything: { type: "object" },
        port: { $ref: "#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString" },
        price: { $ref: "#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity" },
      },
      ...kind("shop.k8s.io", "v1", "Till"),
    },
    "v1.Drawer": { type: "object", properties: { coins: { type: "array", items: { type: "integer", format: "int32" } } } },
    "v1.Box": { type: "object", properties: { inside: { $ref: "#/definitions/v1.Box" } }, ...kind("", "v1", "Box") },
    "v1beta1.Till": { type: "object", ...kind("shop.k8s.io", "v1beta1", "Till") },
    "v1alpha1.Till": { type: "object", ...kind("shop.k8s.io", "v1alpha1", "Till") },
    "v1.Options": {
      type: "object",
      "x-kubernetes-group-version-kind": ["a", "b"].map((group) => ({ group, version: "v1", kind: "Options" })),
    },
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": { type: "string", format: "int-or-string" },
    "io.k8s.apimachinery.pkg.api.resource.Quantity": { type: "string" },
  },
};
const schemas = renderApiSchemas(openApi);

describe("schemas of an API", () => {
  it("are one for each kind that is served by default, called as kubeconform asks for them", () => {
    expect([...schemas.keys()]).toEqual(["till-shop-v1.json", "box-v1.json"]);
  });

  it("refuse fields that are not declared, where any are, and have references resolved in place", () => {
    expect(schemas.get("till-shop-v1.json")).toEqual({
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      required: ["drawer"],
      properties: {
        drawer: {
          type: "object",
          properties: { coins: { type: "array", items: { type: "integer", format: "int32" } } },
          additionalProperties: false,
        },
        labels: { type: "object", additionalProperties: { type: "string" } },
        anything: { type: "object" },
        port: { type: ["integer", "string"] },
        price: { type: ["string", "number"] },
      },
      additionalProperties: false,
    });
  });

  it("refer to a type that contains itself", () => {
    const box = { type: "object", properties: { inside: { $ref: "#/definitions/v1.Box" } }, additionalProperties: false };
    expect(schemas.get("box-v1.json")).toMatchObject({ ...box, definitions: { "v1.Box": box } });
  });
});
