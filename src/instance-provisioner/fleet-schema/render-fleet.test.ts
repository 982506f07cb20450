import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { parseFleetDocument } from "./parse-fleet.ts";
import { renderFleetDocument } from "./render-fleet.ts";
import { fleetFields } from "./schema.ts";

const EXAMPLE = parse(readFileSync(new URL("../testing/fleet-example.yaml", import.meta.url), "utf8")) as Record<string, unknown>;
const { channels: _channels, ...versions } = EXAMPLE["versions"] as Record<string, unknown>;
const SMALL = {
  ...{ apiVersion: "argosy.dev/v1alpha1", kind: "Fleet", versions: { ...versions, floor: "3.4.7" }, pools: [] },
  engineClusters: [{ name: "here", region: "eu", inCluster: true }],
  workspaces: { everyNamespace: true },
};

const specOf = (document: unknown) => {
  const parsed = parseFleetDocument(document);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.complaints));
  return parsed.spec;
};

it.each([
  ["every field", EXAMPLE],
  ["nothing that has a default", SMALL],
  ["a refusal of nothing at all", { ...SMALL, deployments: {} }],
  ["an empty list of refused groups", { ...SMALL, deployments: { refusedGroups: [] } }],
])("a document with %s declares the same after it was rendered again", (_what, document) => {
  const spec = specOf(document);
  const text = stringify(renderFleetDocument(spec), { lineWidth: 0 });
  expect(specOf(parse(text))).toEqual(spec);
});

it("is rendered with the declared values, in the units and the order of the schema", () => {
  const rendered = renderFleetDocument(specOf(EXAMPLE));
  expect(rendered).toMatchObject(EXAMPLE);
  const order = fleetFields.map(({ path }) => path).filter((path) => path !== "" && !/[.[]/.test(path));
  expect(Object.keys(rendered)).toEqual(order);
});
