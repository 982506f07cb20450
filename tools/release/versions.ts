import { InputError } from "../../src/domain/errors.ts";

export interface VersionInput {
  /** Texts of the commit. */
  readonly manifest: string;
  readonly changelog: string;
  /** `undefined` where there is no chart. */
  readonly chart: string | undefined;
  readonly commit: string;
  /** Releases what is not in the changelog yet, under a version that says so. */
  readonly isSnapshot: boolean;
}

export interface ReleaseVersion {
  readonly version: string;
  /** The section of the changelog. */
  readonly notes: string;
}

const VERSION = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?$/;

/**
 * The version of a release: that of package.json, which the changelog has a section for and the chart names as its own and the application's. A
 * snapshot is called after its commit and takes what the changelog has under "Unreleased". Raises InputError that names the file that differs.
 */
export function releaseVersion({ manifest, changelog, chart, commit, isSnapshot }: VersionInput): ReleaseVersion {
  const { version } = JSON.parse(manifest) as { readonly version?: unknown };
  if (typeof version !== "string" || !VERSION.test(version))
    throw differs("package.json", `${String(version)} is no version`, "Write it as 1.2.3");
  if (chart !== undefined) checkChart(chart, version);
  const title = isSnapshot ? "Unreleased" : version;
  const notes = sectionOf(changelog, title);
  if (notes === undefined) {
    const remedy = isSnapshot ? 'Begin a section "## Unreleased"' : `Call the section "## ${version}", or add --snapshot`;
    throw differs("CHANGELOG.md", `has no section ${title}`, remedy);
  }
  // A commit's hash alone may be a number with zeros in front, which no version may have.
  return { version: isSnapshot ? `${version}-snapshot.g${commit.slice(0, 12)}` : version, notes };
}

function checkChart(chart: string, version: string): void {
  for (const field of ["version", "appVersion"] as const) {
    const found = chartField(chart, field);
    if (found !== version)
      throw differs(
        "charts/argosy/Chart.yaml",
        `${field} is ${found ?? "missing"}, and package.json has ${version}`,
        `Set it to ${version}`,
      );
  }
}

/** A field at the top of a Chart.yaml, without its quotes. */
export function chartField(chart: string, field: "version" | "appVersion"): string | undefined {
  return new RegExp(`^${field}: *["']?([^"'\\s#]+)`, "m").exec(chart)?.[1];
}

/** A Chart.yaml that names another version as its own and the application's; everything else stays as it is. */
export function withChartVersion(chart: string, version: string): string {
  return chart.replace(/^(version|appVersion):.*$/gm, `$1: "${version}"`);
}

/** The section of a changelog with a title, which may be followed by a date; `undefined` when there is none or it is empty. */
export function sectionOf(changelog: string, title: string): string | undefined {
  const sections = changelog.split(/^(?=## )/m);
  const found = sections.find((section) => section.startsWith(`## ${title}`) && /^[\s(]|^ [-–—]/.test(section.slice(title.length + 3)));
  return found === undefined || found.trim().split("\n").length < 2 ? undefined : `${found.trim()}\n`;
}

/** Whether a version may stand for what package.json calls `base`. */
export function isVersionOf(version: string, base: string): boolean {
  return version === base || version.startsWith(`${base}-snapshot.`);
}

function differs(path: string, what: string, remedy: string): InputError {
  return new InputError(what, { code: "release.version", path, remedy });
}
