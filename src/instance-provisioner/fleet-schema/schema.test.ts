import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { parseFleetDocument } from "./parse-fleet.ts";
import { fleetFields, renderFleetReference } from "./schema.ts";

const EXAMPLE = readFileSync(new URL("../testing/fleet-example.yaml", import.meta.url), "utf8");

it("describes every field", () => {
  expect(fleetFields.filter((field) => field.children.length === 0 && field.meaning === "").map(({ path }) => path)).toEqual([]);
});

it("gives a field's type, its default and whether it is required", () => {
  const lines = renderFleetReference().split("\n");
  expect(lines).toContain(
    "| `pools[].instances.max` | a whole number from 0 to 1000 | required | Instances that there are at most. docs/instances.md says what becomes of more. |",
  );
  expect(lines.some((line) => line.startsWith("| `pools[].engine.statusProcessors` | a whole number from 1 to 100000 | `20` |"))).toBe(
    true,
  );
  expect(lines.some((line) => line.startsWith("| `engineClusters[].inCluster` | true or false | – |"))).toBe(true);
});

it("has an example that is valid and uses every field", () => {
  const document: unknown = parse(EXAMPLE);
  expect(parseFleetDocument(document)).toMatchObject({ ok: true });
  const used = pathsOf(document, "");
  expect(fleetFields.map(({ path }) => path).filter((path) => path !== "" && !used.has(path))).toEqual([]);
});

/** `a`, `a.b`, `a[].c`: the path of every field that a document gives. */
function pathsOf(value: unknown, path: string): ReadonlySet<string> {
  const inside = (child: unknown, at: string): readonly string[] => [at, ...pathsOf(child, at)];
  if (Array.isArray(value)) return new Set(value.flatMap((element) => inside(element, `${path}[]`)));
  if (typeof value !== "object" || value === null) return new Set();
  return new Set(Object.entries(value).flatMap(([name, child]) => inside(child, path === "" ? name : `${path}.${name}`)));
}

it("matches docs/fleet.md", () => {
  const file = new URL("../../../docs/fleet.md", import.meta.url);
  if (process.env["ARGOSY_WRITE_GOLDEN"] !== undefined) writeFileSync(file, page());
  expect(readFileSync(file, "utf8")).toBe(page());
});

function page(): string {
  return `# The fleet document

\`fleet.yaml\` says which instances there are and what they may do. \`argosy apply -f fleet.yaml\` declares it as a whole: a field that the
file leaves out has its default. A pool that it leaves out keeps its instances until \`--prune\` lets them go. This page is generated from the
schema.

\`\`\`sh
argosy apply -f fleet.yaml --dry-run    # check it, and say what it would change; every mistake is reported at once
argosy apply -f fleet.yaml
argosy get fleet                        # the pools that are declared
argosy get fleet -o yaml > fleet.yaml   # the whole declaration, as apply takes it, defaults written out; comments are lost
\`\`\`

Any token may read the declaration: it names Secrets and holds none. Declaring needs an operator's. \`argosy instance create\`,
\`argosy instance delete\`, \`argosy calibrate --apply\` and the quarantine of a workspace change the declaration too. After them take the new
one into your file with \`argosy get fleet -o yaml\`, or the next \`argosy apply\` takes it back.

What becomes of instances when the document changes stands in [instances.md](instances.md).

## A complete example

Every field there is. Few are needed: the table says which, and what the others are by default.

\`\`\`yaml
${EXAMPLE}\`\`\`

## Every field

\`[]\` stands for each element of a list. \`required\`: the field has to be given where the section that it stands in is.

${renderFleetReference()}
## What must hold between fields

| | |
|---|---|
| names of engine clusters, pools, channels, releases, and hosts of certificates | are given once |
| an engine cluster | says exactly one way to reach it |
| a pool | names engine clusters of this document, in the region of its class |
| \`instances.min\` | is at most \`instances.max\` |
| each release that is named | is in \`versions.catalogue\`, and not older than \`versions.floor\` |
| a channel | has its default among its versions; a pool of that channel has one of them |
| a release that failed in a rollout | is named only after \`argosy rollout unfreeze\` |
`;
}
