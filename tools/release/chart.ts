import { promisify } from "node:util";
import { gunzipSync, gzip } from "node:zlib";
import { DefectError } from "../../src/domain/errors.ts";
import type { Commit } from "./commit.ts";
import { readTar, type TarEntry, writeTar } from "./oci/tar.ts";
import { withChartVersion } from "./versions.ts";

const compress = promisify(gzip);

const CHART = "charts/argosy/";
/** What belongs to the chart's development: Helm leaves it out by the chart's `.helmignore`, which is read here for whole names only. */
const IGNORE = ".helmignore";

/** The text of the chart's Chart.yaml in a commit; `undefined` when it has no chart. */
export async function chartText(commit: Commit): Promise<string | undefined> {
  return commit.files.some(({ path }) => path === `${CHART}Chart.yaml`)
    ? (await commit.read(`${CHART}Chart.yaml`)).toString("utf8")
    : undefined;
}

/**
 * Packages the chart of a commit as `helm package` lays it out: a compressed archive with everything below `argosy/`, Chart.yaml first among equals by
 * order of names. Its bytes follow from the commit and the version. `undefined` when there is no chart.
 */
export async function packageChart(commit: Commit, version: string): Promise<Buffer | undefined> {
  const paths = commit.files.filter(({ path }) => path.startsWith(CHART)).map(({ path }) => path.slice(CHART.length));
  if (!paths.includes("Chart.yaml")) return undefined;
  const ignored = paths.includes(IGNORE) ? (await commit.read(CHART + IGNORE)).toString("utf8") : "";
  const entries: TarEntry[] = [];
  for (const path of paths.filter((each) => !isIgnored(each, ignored))) {
    const content = await commit.read(CHART + path);
    const kept = path === "Chart.yaml" ? Buffer.from(withChartVersion(content.toString("utf8"), version)) : content;
    entries.push({ kind: "file", path: `argosy/${path}`, mode: 0o644, content: kept });
  }
  return compress(writeTar(entries, commit.epochSeconds));
}

/** Whether a line of a `.helmignore` names a file, a folder above it, or with `*` a kind of file. */
export function isIgnored(path: string, ignore: string): boolean {
  const patterns = ignore
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  const folders = path.split("/");
  return patterns.some((pattern) => {
    const isRooted = pattern.slice(0, -1).includes("/");
    const matcher = new RegExp(
      `^${pattern
        .replace(/^\/|\/$/g, "")
        .replace(/[.+^${}()|[\]\\]/g, "\\$&")
        .replaceAll("*", "[^/]*")
        .replaceAll("?", "[^/]")}$`,
    );
    const names = isRooted ? folders.map((_, index) => folders.slice(0, index + 1).join("/")) : folders;
    return names.some((name, index) => matcher.test(name) && (!pattern.endsWith("/") || index < folders.length - 1));
  });
}

/** The Chart.yaml inside a packaged chart. Raises DefectError when it cannot be read. */
export function chartInside(archive: Buffer): string {
  const entries = readTar(unzip(archive));
  const found = entries.find(({ path }) => path === "argosy/Chart.yaml");
  if (found?.kind === "file") return found.content.toString("utf8");
  throw new DefectError("reading a chart: it has no argosy/Chart.yaml", { code: "release.chart" });
}

function unzip(archive: Buffer): Buffer {
  try {
    return gunzipSync(archive);
  } catch (cause) {
    throw new DefectError("reading a chart: it cannot be unpacked", { code: "release.chart", cause });
  }
}
