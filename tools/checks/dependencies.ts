import { ADDRESSES } from "../layers/addresses.ts";
import type { OwnCheck } from "./own-check.ts";
import { fileAt, type Project, tableRows } from "./project.ts";

const LIST = "docs/dependencies.md";

type Versions = Readonly<Record<string, string>>;
interface Manifest {
  readonly dependencies?: Versions;
  readonly devDependencies?: Versions;
}

/** Every dependency is pinned, explained with its version in docs/dependencies.md and, in production, has an address. */
export const dependencies: OwnCheck = {
  name: "dependencies",
  mend: `pin the version, and keep ${LIST} and tools/layers/addresses.ts equal to package.json`,
  find(project) {
    const manifest = JSON.parse(fileAt(project, "package.json")?.text ?? "{}") as Manifest;
    const all = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).map(
      ([name, range]) => [name, range.replace(/^npm:.*@/, "")] as const,
    );
    const listed = listedVersions(project);
    return {
      problems: [
        ...all
          .filter(([, version]) => !/^\d/.test(version))
          .map(([name, version]) => `package.json: ${name} ${version} is no exact version`),
        ...all
          .filter(([name, version]) => listed.get(name) !== version)
          .map(([name, version]) => `${LIST} does not list ${name} ${version}`),
        ...[...listed.keys()]
          .filter((name) => !all.some(([known]) => known === name))
          .map((name) => `${LIST} lists ${name}, which package.json has not`),
        ...addressProblems(manifest),
      ],
    };
  },
};

function listedVersions(project: Project): ReadonlyMap<string, string> {
  return new Map(tableRows(fileAt(project, LIST)?.text ?? "").map(([name = "", version = ""]) => [name.replaceAll("`", ""), version]));
}

/** Production has a package of development where that is installed, and does without it elsewhere: it may have an address, and need not. */
function addressProblems({ dependencies: production = {}, devDependencies = {} }: Manifest): readonly string[] {
  const homeless = Object.keys(production)
    .filter((name) => ADDRESSES[name] === undefined)
    .map((name) => `tools/layers/addresses.ts: ${name} has no address`);
  const gone = Object.keys(ADDRESSES)
    .filter((name) => production[name] === undefined && devDependencies[name] === undefined)
    .map((name) => `tools/layers/addresses.ts: ${name} is no dependency any more`);
  return [...homeless, ...gone];
}
