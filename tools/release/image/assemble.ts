import { createHash, X509Certificate } from "node:crypto";
import { existsSync, globSync } from "node:fs";
import { chmod, copyFile, lstat, mkdir, readdir, readFile, readlink, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { DefectError, InputError } from "../../../src/domain/errors.ts";
import type { Mirrors } from "./apt.ts";
import { readDebianPackages, type UnpackedPackage, unpackDebianPackages } from "./debian-packages.ts";
import { readElfNeeds } from "./elf.ts";
import { type Architecture, AUTHORITIES, KEPT_FILES, MACHINES, TRIPLETS, UNREAD_FILE } from "./kept-files.ts";
import { writeProgram } from "./write-program.ts";

export interface Assembly {
  readonly architecture: Architecture;
  /** The project's files, with the production packages in `node_modules`. */
  readonly project: string;
  /** The npm package that holds Node.js for the architecture. */
  readonly node: string;
  /** An empty folder for what is needed on the way. */
  readonly work: string;
  /** Where Debian packages come from; `undefined`: from the sources that apt is set up with. */
  readonly mirrors: Mirrors | undefined;
  /** Becomes the root of the image. */
  readonly root: string;
}

const STATUS = "var/lib/dpkg/status.d";

/** Puts the root folder of the image together for any architecture, on any: nothing of what goes into it is run. */
export async function assemble(assembly: Assembly): Promise<void> {
  const { architecture, project, root, mirrors, work } = assembly;
  const lock = await readDebianPackages(join(project, "tools/release/image/debian-packages.json"));
  const packages = await unpackDebianPackages(lock[architecture], { architecture, mirrors, work });
  for (const { directory } of packages) await mergeUsr(directory);
  await makeRoot(root);
  await addNode(assembly);
  const owned = await addDebianFiles(packages, assembly);
  await addDebianRecords(packages, owned, root);
  await addNpmPackages(project, root);
  await writeProgram(project, join(root, "app"));
  await setModes(root);
}

/** Debian's packages still name /bin and /lib, which are links into /usr. */
async function mergeUsr(directory: string): Promise<void> {
  for (const name of ["bin", "sbin", "lib", "lib64"])
    if (existsSync(join(directory, name))) await moveInto(join(directory, name), join(directory, "usr", name));
}

async function moveInto(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (entry.isDirectory()) await moveInto(join(from, entry.name), join(to, entry.name));
    else await copyEntry(join(from, entry.name), join(to, entry.name));
  }
  await rm(from, { recursive: true });
}

async function makeRoot(root: string): Promise<void> {
  for (const folder of ["usr/bin", "usr/lib", "usr/lib64", "etc", "tmp", "var/lib/argosy", "app/bin", STATUS])
    await mkdir(join(root, folder), { recursive: true });
  for (const name of ["bin", "lib", "lib64"]) await symlink(`usr/${name}`, join(root, name));
  await writeFile(join(root, "etc/passwd"), "root:x:0:0:root:/:/nonexistent\n");
  await writeFile(join(root, "etc/group"), "root:x:0:\n");
  // The last source gives any other number a name.
  await writeFile(join(root, "etc/nsswitch.conf"), "passwd: files unknown\ngroup: files unknown\nhosts: files dns\n");
}

async function addNode({ node, root }: Assembly): Promise<void> {
  const doc = join(root, "usr/share/doc/node");
  await mkdir(doc, { recursive: true });
  await copyFile(join(node, "bin/node"), join(root, "usr/bin/node"));
  for (const name of ["LICENSE", "package.json"]) await copyFile(join(node, name), join(doc, name));
}

type Owned = Map<string, string[]>;

/** Copies the kept files, then every library that a program or another library asks for. Answers which files are whose. */
async function addDebianFiles(packages: readonly UnpackedPackage[], { architecture, root }: Assembly): Promise<Owned> {
  const owned: Owned = new Map(packages.map(({ name }) => [name, []]));
  const triplet = TRIPLETS[architecture];
  const take = async (from: UnpackedPackage, path: string): Promise<void> => {
    const source = join(from.directory, path);
    if (!existsSync(source) && !(await isLink(source))) throw missingFile(from, path);
    await mkdir(dirname(join(root, path)), { recursive: true });
    await copyEntry(source, join(root, path));
    if (!(await isLink(source))) owned.get(from.name)?.push(path);
  };
  for (const each of packages) for (const path of KEPT_FILES[each.name]?.(triplet) ?? []) await take(each, path);
  await addLibraries(packages, { root, triplet, machine: MACHINES[architecture], take });
  await symlink("dash", join(root, "usr/bin/sh"));
  await symlink("../../bin/git", join(root, "usr/lib/git-core/git"));
  await symlink("../usr/lib/os-release", join(root, "etc/os-release"));
  await symlink("/app/bin/argosy.js", join(root, "usr/bin/argosy"));
  await addAuthorities(packages, root, owned);
  return owned;
}

interface Libraries {
  readonly root: string;
  readonly triplet: string;
  readonly machine: number;
  readonly take: (from: UnpackedPackage, path: string) => Promise<void>;
}

async function addLibraries(packages: readonly UnpackedPackage[], { root, triplet, machine, take }: Libraries): Promise<void> {
  const places = libraryPlaces(packages, triplet);
  const open = globSync("usr/{bin,lib}/**/*", { cwd: root }).sort();
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (const name of await neededBy(join(root, path), machine)) {
      const place = places.get(name);
      if (place === undefined) throw missingLibrary(name, path);
      if (existsSync(join(root, place.path))) continue;
      const real = relative(place.from.directory, await realpath(join(place.from.directory, place.path)));
      await take(place.from, real);
      if (real !== place.path) await take(place.from, place.path);
      open.push(real);
    }
  }
  // Programs name the loader by a path that is a link on x86.
  const loader = places.get("ld-linux-x86-64.so.2");
  if (loader !== undefined) await symlink(`../lib/${triplet}/ld-linux-x86-64.so.2`, join(root, "usr/lib64/ld-linux-x86-64.so.2"));
}

/** Where each library's file or link is; the first package that has it wins. */
function libraryPlaces(
  packages: readonly UnpackedPackage[],
  triplet: string,
): ReadonlyMap<string, { from: UnpackedPackage; path: string }> {
  const found = packages.flatMap((from) =>
    globSync(`usr/lib/{,${triplet}/}*.so*`, { cwd: from.directory }).map((path) => [basename(path), { from, path }] as const),
  );
  return new Map(found.toSorted(([, a], [, b]) => (a.path.length < b.path.length ? -1 : 1)));
}

/** File names of the libraries that a file asks for, the loader among them. Raises DefectError for a program of another processor. */
async function neededBy(path: string, machine: number): Promise<readonly string[]> {
  const needs = (await lstat(path)).isFile() ? readElfNeeds(await readFile(path)) : undefined;
  if (needs === undefined) return [];
  if (needs.machine !== machine) throw new DefectError(`adding ${path}: it is for another processor`, { code: "release.machine" });
  return [...needs.libraries, ...(needs.loader === undefined ? [] : [basename(needs.loader)])];
}

/** All authorities in the one file that OpenSSL, GnuTLS and `--use-openssl-ca` of Node.js read. */
async function addAuthorities(packages: readonly UnpackedPackage[], root: string, owned: Owned): Promise<void> {
  const from = packages.find(({ name }) => name === "ca-certificates");
  const files = from === undefined ? [] : globSync(`${AUTHORITIES}/*.crt`, { cwd: from.directory }).sort();
  const certificates = await Promise.all(files.map((file) => readFile(join(from?.directory ?? "", file), "utf8")));
  if (certificates.length === 0) throw new DefectError(`finding certificates in ${AUTHORITIES}`, { code: "release.authorities" });
  const path = "etc/ssl/certs/ca-certificates.crt";
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), certificates.map((text) => new X509Certificate(text).toString()).join(""));
  owned.get("ca-certificates")?.push(path);
}

/** What says which packages the image holds, where vulnerability scanners search for it, and the licences. */
async function addDebianRecords(packages: readonly UnpackedPackage[], owned: Owned, root: string): Promise<void> {
  for (const { name, directory, control } of packages) {
    const files = owned.get(name) ?? [];
    if (files.length === 0) throw needless(name);
    const copyright = `usr/share/doc/${name}/copyright`;
    await mkdir(join(root, dirname(copyright)), { recursive: true });
    await copyFile(await realpath(await copyrightOf(packages, directory, copyright)), join(root, copyright));
    await writeFile(join(root, STATUS, name), `${control.trim()}\nStatus: install ok installed\n`);
    const sums = [...new Set([...files, copyright])].sort().map(async (path) => `${md5(await readFile(join(root, path)))}  ${path}\n`);
    await writeFile(join(root, STATUS, `${name}.md5sums`), (await Promise.all(sums)).join(""));
  }
}

/** The doc folder of some packages is a link to that of another one. */
async function copyrightOf(packages: readonly UnpackedPackage[], directory: string, copyright: string): Promise<string> {
  const folder = join(directory, dirname(copyright));
  if (!(await isLink(folder))) return join(directory, copyright);
  const other = basename(await readlink(folder));
  const from = packages.find(({ name }) => name === other);
  if (from === undefined) throw new DefectError(`finding the licence of ${copyright} in ${other}`, { code: "release.licence" });
  return join(from.directory, "usr/share/doc", other, "copyright");
}

function md5(bytes: Buffer): string {
  return createHash("md5").update(bytes).digest("hex");
}

async function addNpmPackages(project: string, root: string): Promise<void> {
  const from = join(project, "node_modules");
  for (const entry of (await readdir(from, { recursive: true, withFileTypes: true })).sort(byPath)) {
    const path = relative(from, join(entry.parentPath, entry.name));
    if (!entry.isFile() || isUnread(path)) continue;
    const to = join(root, "app/node_modules", path);
    await mkdir(dirname(to), { recursive: true });
    await copyFile(join(from, path), to);
  }
}

function byPath(a: { readonly parentPath: string; readonly name: string }, b: typeof a): number {
  return join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1;
}

/** npm's own notes, links to programs, and files that nothing reads. */
function isUnread(path: string): boolean {
  return /(?:^|\/)node_modules\/\.|^\./.test(path) || UNREAD_FILE.test(path);
}

const WRITABLE = new Set(["tmp", "var/lib/argosy"]);
const PROGRAMS = /^(?:usr\/bin\/|usr\/lib\/git-core\/|usr\/lib\/(?:[^/]+\/)?ld-linux|app\/bin\/)/;

/** Modes do not depend on who built it: everybody reads, programs run, and only two folders, which are volumes, are written to. */
async function setModes(root: string): Promise<void> {
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = relative(root, join(entry.parentPath, entry.name));
    if (entry.isSymbolicLink()) continue;
    const mode = entry.isDirectory() ? (WRITABLE.has(path) ? 0o1777 : 0o755) : PROGRAMS.test(path) ? 0o755 : 0o644;
    await chmod(join(root, path), mode);
  }
}

async function copyEntry(from: string, to: string): Promise<void> {
  if (await isLink(from)) await symlink(await readlink(from), to);
  else await copyFile(from, to);
}

async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (entry) => entry.isSymbolicLink(),
    () => false,
  );
}

const TABLE = "tools/release/image/kept-files.ts";

function missingFile(from: UnpackedPackage, path: string): InputError {
  return new InputError(`${from.name} ${from.version} has no file ${path}`, {
    code: "release.kept-file",
    path: TABLE,
    remedy: "Name the file that took its place",
  });
}

function missingLibrary(library: string, path: string): InputError {
  return new InputError(`${path} asks for ${library}, which no package there has`, {
    code: "release.library",
    path: TABLE,
    remedy: "Add the Debian package of that library to LIBRARY_PACKAGES and run `npm run release -- --update-packages`",
  });
}

function needless(name: string): InputError {
  return new InputError(`nothing in the image needs the package ${name}`, {
    code: "release.needless-package",
    path: TABLE,
    remedy: "Take it out and run `npm run release -- --update-packages`",
  });
}
