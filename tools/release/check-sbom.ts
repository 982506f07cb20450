import type { TarEntry } from "./oci/tar.ts";
import { npmFolders, parseManifest, recordsIn, type Sbom, targetOf, textOf } from "./sbom.ts";

/**
 * What tells an SBOM apart from the image it is about: files and links that belong to no component or to several, components and places without a
 * file, and packages that the image's own records name otherwise. Empty when it lists exactly what the image holds.
 */
export function checkSbom(sbom: Sbom, files: ReadonlyMap<string, TarEntry>): readonly string[] {
  return [...fileProblems(sbom, files), ...recordProblems(sbom, files)];
}

function fileProblems({ components }: Sbom, files: ReadonlyMap<string, TarEntry>): readonly string[] {
  const owners = ownersByPlace(components);
  const held = [...files.values()].filter(({ kind }) => kind !== "directory");
  const places = new Map(held.map(({ path }) => [path, ownerOf(`/${path}`, owners)]));
  const used = new Set(places.values());
  const deadLinks = held.filter(({ kind, path }) => kind === "link" && targetOf(files, path) === undefined);
  return [
    ...[...places].flatMap(([path, place]) => ownerProblems(path, owners.get(place ?? "") ?? [])),
    ...deadLinks.map(({ path }) => `/${path} is a link that leads nowhere`),
    ...[...owners].flatMap(([place, refs]) => (used.has(place) ? [] : refs.map((ref) => `${ref} lists ${place}, where no file is`))),
  ];
}

function ownersByPlace(components: Sbom["components"]): ReadonlyMap<string, readonly string[]> {
  const owners = new Map<string, string[]>();
  for (const { "bom-ref": ref, evidence } of components)
    for (const { location } of evidence.occurrences) owners.set(location, [...(owners.get(location) ?? []), ref]);
  return owners;
}

function ownerProblems(path: string, refs: readonly string[]): readonly string[] {
  if (refs.length === 0) return [`/${path} belongs to no component`];
  return refs.length === 1 ? [] : [`/${path} belongs to several components: ${refs.join(", ")}`];
}

/** The most exact place that is listed for a path: itself, or the nearest folder. */
function ownerOf(path: string, owners: ReadonlyMap<string, unknown>): string | undefined {
  for (let place = path; place !== ""; place = place.slice(0, place.slice(0, -1).lastIndexOf("/") + 1)) if (owners.has(place)) return place;
  return undefined;
}

function recordProblems({ components }: Sbom, files: ReadonlyMap<string, TarEntry>): readonly string[] {
  const listed = (prefix: string) =>
    components.filter(({ purl }) => purl.startsWith(prefix)).map(({ name, version }) => `${name} ${version}`);
  const debian = recordsIn(files).map(({ name, version }) => `${name} ${version}`);
  const npm = npmFolders(files).map((folder) => manifestName(files, `${folder}package.json`));
  const libraries = components
    .filter(({ type, purl }) => type === "library" && purl.startsWith("pkg:npm/"))
    .map(({ name, version }) => `${name} ${version}`);
  return [
    ...differences("Debian package", { listed: listed("pkg:deb/"), held: debian }),
    ...differences("npm package", { listed: libraries, held: npm }),
    ...nodeProblems(components.find(({ type }) => type === "platform")?.version, files),
    ...argosyProblems(components.find(({ type }) => type === "application")?.version, files),
  ];
}

function manifestName(files: ReadonlyMap<string, TarEntry>, path: string): string {
  const { name, version } = parseManifest(textOf(files, path));
  return `${name} ${version}`;
}

interface Compared {
  readonly listed: readonly string[];
  readonly held: readonly string[];
}

function differences(kind: string, { listed, held }: Compared): readonly string[] {
  const missing = held.filter((each) => !listed.includes(each)).map((each) => `the image holds the ${kind} ${each}, which is not listed`);
  const extra = listed.filter((each) => !held.includes(each)).map((each) => `the ${kind} ${each} is listed, which the image does not hold`);
  return [...missing, ...extra];
}

/** The program itself says which version it is; nothing of it has to be run. */
function nodeProblems(version: string | undefined, files: ReadonlyMap<string, TarEntry>): readonly string[] {
  const program = files.get("usr/bin/node");
  const isThere = program?.kind === "file" && version !== undefined && program.content.includes(`v${version}`);
  return isThere ? [] : [`/usr/bin/node is not the listed Node.js ${version ?? ""}`];
}

function argosyProblems(version: string | undefined, files: ReadonlyMap<string, TarEntry>): readonly string[] {
  const { version: held } = parseManifest(textOf(files, "app/package.json"));
  const isSame = version === held || version?.startsWith(`${held}-snapshot.`) === true;
  return isSame && held !== "" ? [] : [`the image holds Argosy ${held}, and ${version ?? "no version"} is listed`];
}
