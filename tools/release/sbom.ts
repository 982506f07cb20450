import { createHash } from "node:crypto";
import { licencesOf, parseDebianRecord } from "./debian-record.ts";
import { timeText } from "./oci/image-archive.ts";
import type { TarEntry } from "./oci/tar.ts";

/** A part of the image in the words of CycloneDX 1.6. Where it lies stands in its occurrences: a file, or with a slash at its end a folder. */
export interface Component {
  readonly type: "application" | "library" | "platform";
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly LicenseChoice[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly supplier?: { readonly name: string };
  readonly evidence: { readonly occurrences: readonly { readonly location: string }[] };
}

type LicenseChoice = { readonly expression: string } | { readonly license: { readonly name: string } };

export interface Sbom {
  readonly $schema: string;
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.6";
  readonly serialNumber: string;
  readonly version: 1;
  readonly metadata: {
    readonly timestamp: string;
    readonly component: {
      readonly type: "container";
      readonly "bom-ref": string;
      readonly name: string;
      readonly version: string;
      readonly purl: string;
      readonly hashes: readonly { readonly alg: "SHA-256"; readonly content: string }[];
    };
  };
  readonly components: readonly Component[];
}

export interface SbomInput {
  readonly version: string;
  readonly architecture: string;
  readonly epochSeconds: number;
  /** Digest of the image's manifest. */
  readonly digest: string;
  /** The unpacked image. */
  readonly files: ReadonlyMap<string, TarEntry>;
  /** Integrity of npm packages by their folder, as package-lock.json has them. */
  readonly lockfile: string;
}

const STATUS = "var/lib/dpkg/status.d/";
const NODE_DOC = "usr/share/doc/node/";
/** Files that Argosy itself puts into the image outside its own folder. */
const OWN_FILES = ["etc/group", "etc/nsswitch.conf", "etc/passwd", "usr/bin/argosy"];
const NPM_FOLDER = /^app\/(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/@][^/]*\/$/;

/** Lists what an unpacked image holds, from its own records: the same image gives the same bytes. */
export function renderSbom(input: SbomInput): Sbom {
  const { version, architecture, digest, files } = input;
  const components = [
    ...debianComponents(files),
    nodeComponent(files),
    ...npmComponents(files, input.lockfile),
    argosyComponent(files, version),
  ];
  const hex = digest.replace("sha256:", "");
  const purl = `pkg:oci/argosy@sha256%3A${hex}?arch=${architecture}&tag=${version}`;
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(digest)}`,
    version: 1,
    metadata: {
      timestamp: timeText(input.epochSeconds),
      component: { type: "container", "bom-ref": purl, name: "argosy", version, purl, hashes: [{ alg: "SHA-256", content: hex }] },
    },
    components: components.sort((a, b) => (a["bom-ref"] < b["bom-ref"] ? -1 : 1)),
  };
}

/** A name-based UUID (RFC 9562, version 8): one image has one. */
function uuidOf(digest: string): string {
  const hex = createHash("sha256").update(`argosy sbom ${digest}`).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join("-");
}

function debianComponents(files: ReadonlyMap<string, TarEntry>): readonly Component[] {
  return recordsIn(files).map(({ name, version, architecture, source, maintainer, path }) => {
    const licences = licencesOf(textOf(files, `usr/share/doc/${name}/copyright`));
    const upstream = source === "" ? "" : `&upstream=${encodeURIComponent(source.replace(/ \((.*)\)$/, "@$1"))}`;
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-12${upstream}`;
    const owned = textOf(files, `${path}.md5sums`)
      .split("\n")
      .flatMap((line) => line.slice(34) || []);
    return {
      ...({ type: "library", "bom-ref": purl, name, version, purl, supplier: { name: maintainer } } as const),
      ...(licences.length === 0 ? {} : { licenses: licences.map((licence) => ({ license: { name: licence } })) }),
      evidence: occurrences([...owned, path, `${path}.md5sums`, ...linksOf(files, name, owned)]),
    };
  });
}

/** Links are in no list of sums. One belongs to whose file it leads to; those of folders belong to the package that lays out folders. */
function linksOf(files: ReadonlyMap<string, TarEntry>, name: string, owned: readonly string[]): readonly string[] {
  const own = new Set(owned);
  return [...files.values()].flatMap((entry) => {
    if (entry.kind !== "link" || OWN_FILES.includes(entry.path)) return [];
    const target = targetOf(files, entry.path);
    const isFolder = target !== undefined && files.get(target)?.kind === "directory";
    return (target !== undefined && own.has(target)) || (isFolder && name === "base-files") ? [entry.path] : [];
  });
}

const LINKS_AT_MOST = 8;

/** The path that a link leads to in the end, with links of folders followed on the way. */
export function targetOf(files: ReadonlyMap<string, TarEntry>, path: string): string | undefined {
  let at = path;
  for (let count = 0; count < LINKS_AT_MOST; count++) {
    const link = nearestLink(files, at);
    if (link === undefined) return files.has(at) ? at : undefined;
    const rest = at.slice(link.path.length);
    const from = link.target.startsWith("/") ? [] : link.path.split("/").slice(0, -1);
    at = normal([...from, ...link.target.split("/")]) + rest;
  }
  return undefined;
}

function nearestLink(files: ReadonlyMap<string, TarEntry>, path: string) {
  const parts = path.split("/");
  for (let length = 1; length <= parts.length; length++) {
    const entry = files.get(parts.slice(0, length).join("/"));
    if (entry?.kind === "link") return entry;
  }
  return undefined;
}

function normal(parts: readonly string[]): string {
  const found: string[] = [];
  for (const part of parts) {
    if (part === "..") found.pop();
    else if (part !== "" && part !== ".") found.push(part);
  }
  return found.join("/");
}

/** The records of Debian packages in an image, by which scanners know them too. */
export function recordsIn(files: ReadonlyMap<string, TarEntry>) {
  const paths = [...files.keys()].filter((path) => path.startsWith(STATUS) && !path.endsWith(".md5sums"));
  return paths.flatMap((path) => {
    const record = parseDebianRecord(textOf(files, path));
    return record === undefined ? [] : [{ ...record, path }];
  });
}

function nodeComponent(files: ReadonlyMap<string, TarEntry>): Component {
  const { name, version, license } = parseManifest(textOf(files, `${NODE_DOC}package.json`));
  const purl = `pkg:npm/${name}@${version}`;
  return {
    ...({ type: "platform", "bom-ref": purl, name: "node", version, purl } as const),
    ...licensesOf(license),
    evidence: occurrences(["usr/bin/node", NODE_DOC]),
  };
}

function npmComponents(files: ReadonlyMap<string, TarEntry>, lockfile: string): readonly Component[] {
  const locked = (JSON.parse(lockfile) as { readonly packages?: Readonly<Record<string, { readonly integrity?: string }>> }).packages ?? {};
  return npmFolders(files).map((folder) => {
    const { name, version, license } = parseManifest(textOf(files, `${folder}package.json`));
    const purl = `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
    const integrity = locked[folder.slice("app/".length, -1)]?.integrity;
    return {
      ...({ type: "library", "bom-ref": `${purl}#${folder}`, name, version, purl } as const),
      ...licensesOf(license),
      ...(integrity === undefined ? {} : { hashes: [hashOf(integrity)] }),
      evidence: occurrences([folder]),
    };
  });
}

/** Folders of npm packages, each with a slash at its end. */
export function npmFolders(files: ReadonlyMap<string, TarEntry>): readonly string[] {
  const manifests = [...files.keys()].filter((path) => path.endsWith("/package.json")).map((path) => path.slice(0, -"package.json".length));
  return manifests.filter((folder) => NPM_FOLDER.test(folder));
}

/** `sha512-` and base64, as lockfiles write it. */
function hashOf(integrity: string): { readonly alg: string; readonly content: string } {
  const [algorithm = "", base64 = ""] = integrity.split("-");
  return { alg: algorithm.replace(/^sha(\d+)$/, "SHA-$1"), content: Buffer.from(base64, "base64").toString("hex") };
}

function argosyComponent(files: ReadonlyMap<string, TarEntry>, version: string): Component {
  const own = ["app/LICENSE", "app/package.json", "app/bin/", "app/migrations/", "app/src/", ...OWN_FILES];
  const { license } = parseManifest(textOf(files, "app/package.json"));
  const purl = `pkg:generic/argosy@${version}`;
  return {
    ...({ type: "application", "bom-ref": purl, name: "argosy", version, purl } as const),
    ...licensesOf(license),
    evidence: occurrences(own),
  };
}

interface NpmManifest {
  readonly name: string;
  readonly version: string;
  readonly license: unknown;
}

export function parseManifest(text: string): NpmManifest {
  const { name, version, license, licenses } = JSON.parse(text || "{}") as Readonly<Record<string, unknown>>;
  const string = (value: unknown): string => (typeof value === "string" ? value : "");
  return { name: string(name), version: string(version), license: license ?? licenses };
}

/** An SPDX expression where the package gives one; old packages give objects, or lists of them. */
function licensesOf(license: unknown): Pick<Component, "licenses"> | Record<never, never> {
  const given = Array.isArray(license) ? license : [license];
  const names = given.flatMap((each: unknown) => (typeof each === "string" ? each : ((each as { type?: string } | undefined)?.type ?? [])));
  if (names.length === 0) return {};
  const [only = ""] = names;
  const isExpression = typeof license === "string" && /^[\w.+-]+(?: (?:OR|AND|WITH) [\w.+-]+)*$|^\(.*\)$/.test(only);
  return { licenses: isExpression ? [{ expression: only }] : names.map((name) => ({ license: { name } })) };
}

function occurrences(paths: readonly string[]): Component["evidence"] {
  return { occurrences: [...new Set(paths)].sort().map((path) => ({ location: `/${path}` })) };
}

export function textOf(files: ReadonlyMap<string, TarEntry>, path: string): string {
  const entry = files.get(path);
  return entry?.kind === "file" ? entry.content.toString("utf8") : "";
}
