import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { GUARDED } from "../../domain/fleet-approval.ts";
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

it("has an example that is valid and uses every field, but one of two that exclude each other", () => {
  const document: unknown = parse(EXAMPLE);
  expect(parseFleetDocument(document)).toMatchObject({ ok: true });
  const used = pathsOf(document, "");
  expect(fleetFields.map(({ path }) => path).filter((path) => path !== "" && !used.has(path))).toEqual(["workspaces.everyNamespace"]);
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

Any token may read the declaration: it names Secrets and holds none. Declaring needs an operator's, and for some fields
[a second person](#what-needs-a-second-person). \`argosy instance create\`,
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
## What a release is

A release of the catalogue never changes. Its images and its definitions (the content of the two files, as it was first read) are remembered by
its version for good, also when the catalogue leaves it out. Both images have to name a digest; \`docker buildx imagetools inspect <image>\` prints it.
Another image of the same Argo CD is a release of its own, named as a build: \`3.5.7-2\`. It is newer than 3.5.7 and older than 3.5.8, and goes to
instances as every release does, by \`argosy rollout\`. What was declared before digests were needed stays valid, and \`argosy doctor\` names it.

## What needs a second person

Nobody alone changes these fields. A document that does is not declared but becomes a proposal (\`argosy apply\` prints it and ends with exit code 3), and
an approver who did not propose it declares it. The whole document waits, also what of it would need nobody.

| Field | Why |
|---|---|
${GUARDED.map(({ path, reason }) => `| \`${path}\` | ${reason} |`).join("\n")}

\`*\` is each release, engine cluster or pool. A release that is left out, a pool with a trust or entries that another one has already, and \`entries: per-workspace\`, need nobody.

\`\`\`sh
argosy fleet proposals                        # what waits, and what did
argosy fleet show 0199c0de                    # all that one changes
argosy fleet approve 0199c0de --reason "…"    # with the token of an approver who is somebody else; or reject
argosy fleet withdraw 0199c0de                # with the token that proposed it
\`\`\`

A proposal counts while the declaration that it was made from is in force, and for a week; then it is proposed again. The same document proposed again is
the same proposal. Two tokens count as two people: give nobody both. Whoever may write to the database, or make tokens in it, is above all of
this. The first declaration of all needs nobody, because nothing runs yet that could be harmed, and an installation without tokens of a second person has to begin somehow.
Where there is one person only, \`approvals: {fleet: nobody}\` of the [configuration](configuration.md) says so, and \`argosy doctor\` notes it.

## What must hold between fields

| | |
|---|---|
| names of engine clusters, pools, channels, releases, and hosts of certificates | are given once |
| an engine cluster | says exactly one way to reach it |
| a pool | names engine clusters of this document, in the region of its class |
| \`instances.min\` | is at most \`instances.max\` |
| \`instances.peaks[]\` | stands in a pool with \`scaling: auto\`, has a schedule that some day meets, a time zone that is known, and either a factor or at most \`instances.max\` instances |
| \`capacity\` of a pool | fits into \`resources.controller.memory\`: 97 MiB, 39.5 MiB for each of \`clusterEntries\`, 5 KiB for each of \`cachedResources\`, 0.06 MiB for each of \`applications\` |
| \`capacity.clusterEntries\` of a pool with \`entries: per-workspace\` | is at least 2: each workspace takes one, and instances are filled to nine tenths |
| \`workspaces.quota.environments\` | is at most a quarter of the smallest pool's \`clusterEntries\`, so that no workspace fills an instance; with \`entries: per-workspace\` one of that quarter is the workspace's own. Pools of classes that have a number of their own in \`classQuotas\` do not count |
| \`workspaces.quota.environmentObjects\` | takes at most half of the smallest controller's memory, at 20 KiB an object; again without the pools of such classes |
| \`workspaces.classQuotas[]\` | names the class of a pool, each class once, and a number at least; holds to the two rules before with the pools of its class |
| each release that is named | is in \`versions.catalogue\`, and not older than \`versions.floor\` |
| \`workspaces\` | says by \`selector\` or by \`everyNamespace: true\` which namespaces are workspaces |
| \`workspaces.classes[]\` | names at least one label, and the class of a pool; no rule before it fits whatever it fits |
| \`workspaces.groups[]\` | names each label once, and one whose rule is \`together\` at most |
| \`rebalancing[]\`, \`workspaces.cpuShares[]\` | names the class of a pool, each class once |
| \`cost.labels\` | names each label once |
| \`deployments.allowedGroups\` | names nothing that \`deployments.refusedGroups\` refuses, or that is never allowed |
| a channel | has its default among its versions; a pool of that channel has one of them |
| a release that failed in a rollout | is named only after \`argosy rollout unfreeze\` |
| a release that was declared before | has the images that it was declared with |
`;
}
