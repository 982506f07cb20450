import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { API_VERSIONS } from "../../hack/dev-cluster/chart-tools/api-versions.ts";
import { type ChartTools, provideChartTools } from "../../hack/dev-cluster/chart-tools/chart-tools.ts";
import { checkManifests } from "../../hack/dev-cluster/chart-tools/check-manifests.ts";
import { BAD_VALUES, EVALUATION, OWN_DATABASE, WRONG_TOGETHER } from "./testing/values-files.ts";

const CHART = fileURLToPath(new URL("../../charts/argosy", import.meta.url));
const GOLDEN = fileURLToPath(new URL("golden", import.meta.url));
const VALUES = fileURLToPath(new URL("testing/values", import.meta.url));
const { signal } = new AbortController();

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function run(program: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(program, [...args], { maxBuffer: 64 * 1024 * 1024 }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
    );
  });
}

describe("the chart", () => {
  let tools: ChartTools;
  let directory: string;
  beforeAll(async () => {
    tools = await provideChartTools({}, signal);
    directory = mkdtempSync(join(tmpdir(), "argosy-values-"));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const put = (values: unknown): string => {
    const file = join(directory, "values.yaml");
    writeFileSync(file, stringify(values));
    return file;
  };
  const template = (helm: string, values: string, ...more: readonly string[]): Promise<Ended> =>
    run(helm, ["template", "argosy", CHART, "--namespace", "argosy-system", "--kube-version", "1.35", "--values", values, ...more]);
  const files = readdirSync(VALUES).filter((name) => name.endsWith(".yaml"));

  it.each(["helm3", "helm4"] as const)("passes helm lint of %s", async (helm) => {
    for (const file of files) {
      const { code, out } = await run(tools[helm], [
        "lint",
        CHART,
        "--strict",
        "--namespace",
        "argosy-system",
        "--values",
        join(VALUES, file),
      ]);
      expect({ file, code, out }).toMatchObject({ code: 0, out: expect.stringContaining("0 chart(s) failed") });
    }
  });

  it.each(files)("is rendered with %s as its golden file has it, alike by both Helms", async (file) => {
    const { out, err } = await template(tools.helm3, join(VALUES, file));
    expect(err).toBe("");
    const golden = join(GOLDEN, file);
    const text = withoutChance(withoutCopies(out));
    if (process.env["ARGOSY_WRITE_GOLDEN"] !== undefined) writeFileSync(golden, text);
    expect(text).toBe(readFileSync(golden, "utf8"));
    expect(sorted(withoutChance((await template(tools.helm4, join(VALUES, file))).out))).toEqual(sorted(withoutChance(out)));
  });

  it.each(API_VERSIONS)("is valid for Kubernetes $minor", async ({ minor }) => {
    for (const file of files) {
      const { out } = await template(tools.helm3, join(VALUES, file));
      const found = await checkManifests(tools, { kubernetes: minor, manifests: out }, signal);
      expect({ file, problems: found.problems }).toEqual({ file, problems: [] });
      expect({ file, objects: found.valid + found.skipped }).toEqual({ file, objects: objectsOf(out).length });
    }
  });

  it("says that a cluster is too old", async () => {
    const { code, err } = await template(tools.helm3, put(EVALUATION), "--kube-version", "1.32");
    expect(code).toBe(1);
    expect(err).toContain("chart requires kubeVersion: >=1.33.0-0 which is incompatible with Kubernetes v1.32");
  });

  it("says that it belongs into its namespace", async () => {
    const { code, err } = await template(tools.helm3, put(EVALUATION), "--namespace", "elsewhere");
    expect(code).toBe(1);
    expect(err).toContain("this release is for elsewhere: give --namespace argosy-system");
  });

  it.each(Object.entries(BAD_VALUES))("refuses %s, and names its path", async (_what, { values, path }) => {
    const { code, err } = await template(tools.helm3, put(values));
    expect(code).toBe(1);
    expect(err).toContain("values don't meet the specifications of the schema(s)");
    expect(err).toContain(`at '${path}'`);
  });

  it.each(Object.entries(WRONG_TOGETHER))("refuses %s, and says what to do", async (_what, { values, says }) => {
    const { code, err } = await template(tools.helm3, put(values));
    expect(code).toBe(1);
    expect(err).toContain(says);
  });

  it("has no rights for instances where the cluster hosts none", async () => {
    const { out } = await template(tools.helm3, put({ ...OWN_DATABASE, hostsInstances: false }));
    expect(out).toContain("name: argosy-reconciler\n");
    expect(out).not.toContain("name: argosy-reconciler-engine\n");
  });
});

/** Keys, certificates and passwords are made anew each time, and so is the checksum of nothing else. */
function withoutChance(text: string): string {
  return text.replace(/^( {2}(?:first|ca\.crt|tls\.crt|tls\.key|password|url): )\S+$/gm, "$1MADE-AT-INSTALL");
}

/** The files of files/ as they are, which have a test of their own, would be most of each golden file. */
function withoutCopies(text: string): string {
  return text
    .split(/^---\n/m)
    .map((part) => (part.includes("# Source: argosy/templates/cluster.yaml") ? copied(part) : part))
    .filter((part) => part !== "")
    .join("---\n");
}

function copied(part: string): string {
  const kind = /^kind: (.*)$/m.exec(part)?.[1];
  if (kind === undefined) return "";
  const name = /^ {2}name: (.*)$/m.exec(part)?.[1];
  const namespace = /^ {2}namespace: (.*)$/m.exec(part)?.[1];
  return `# Source: argosy/templates/cluster.yaml\n# ${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}, from files/\n`;
}

/** The documents in which there is something. */
function objectsOf(text: string): readonly string[] {
  return text.split(/^---\n/m).filter((part) => /^kind: /m.test(part));
}

/** The objects in an order of their own: the two Helms order them differently. */
function sorted(text: string): readonly string[] {
  return objectsOf(text)
    .map((part) => part.trim())
    .sort();
}
