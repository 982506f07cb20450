import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { InputError } from "../../src/domain/errors.ts";
import type { Builder } from "./builder.ts";
import { type Mirrors, renderSources, SUITE } from "./image/apt.ts";
import { type NpmPackage, unpackNpmPackage } from "./npm-package.ts";
import type { Progress } from "./progress.ts";
import { runProgram } from "./run-program.ts";

/** Any npm that knows `--cpu` will do: packages come from the lockfile. */
const NPM: NpmPackage = {
  name: "npm",
  version: "11.21.2",
  integrity: "sha512-7HPApk+AflMUavSseL1Pm6CnYqMIHk53x+KmuhqmTDqPkjPMgxIpTPcTqsE91EKNw4gFBJV9fnXiSdGm1DXq9A==",
};
/** Raised when what is done below changes. */
const RECIPE = 2;

export interface LocalBaseOptions {
  readonly builder: Builder;
  /** The checkout, whose tools/node names the Node.js. */
  readonly project: string;
  readonly mirrors: Mirrors | undefined;
  readonly progress: Progress;
}

/**
 * Makes the base that the Containerfile builds on, where no registry has to be reached: Debian from `debootstrap` with the Node.js of tools/node
 * and npm, laid out as in the published base. It is kept in the builder's storage under a name that changes with what it is made of. Answers that name.
 */
export async function provideLocalBase({ builder, project, mirrors, progress }: LocalBaseOptions, signal: AbortSignal): Promise<string> {
  const node = await pinnedNode(project);
  const key = createHash("sha256")
    .update(JSON.stringify([RECIPE, SUITE, process.arch, node, NPM, mirrors ?? "own"]))
    .digest("hex")
    .slice(0, 16);
  const name = `localhost/argosy-base:${key}`;
  const known = await builder.run(["images", "--format", "{{.Name}}:{{.Tag}}"], signal);
  if (known.split("\n").includes(name)) return name;
  return progress("making a base from Debian's packages", () => makeBase({ name, node, builder, mirrors }, signal));
}

interface Recipe {
  readonly name: string;
  readonly node: NpmPackage;
  readonly builder: Builder;
  readonly mirrors: Mirrors | undefined;
}

async function makeBase({ name, node, builder, mirrors }: Recipe, signal: AbortSignal): Promise<string> {
  const work = await mkdtemp(join(tmpdir(), "argosy-base-"));
  try {
    const container = await builder.run(["from", "scratch"], signal);
    const root = await builder.run(["mount", container], signal);
    await runProgram(
      "debootstrap",
      ["--variant=minbase", "--include=ca-certificates", SUITE, root, ...(mirrors === undefined ? [] : [mirrors.debian])],
      {},
      signal,
    );
    await setUpApt(root, mirrors, signal);
    await unpackNpmPackage(node, { work: join(work, "node"), to: join(work, "node/unpacked") }, signal);
    await runProgram("install", ["-D", join(work, "node/unpacked/bin/node"), join(root, "usr/local/bin/node")], {}, signal);
    const npm = "lib/node_modules/npm";
    await unpackNpmPackage(NPM, { work: join(work, "npm"), to: join(root, "usr/local", npm) }, signal);
    await symlink(`../${npm}/bin/npm-cli.js`, join(root, "usr/local/bin/npm"));
    await runProgram("chmod", ["755", join(root, "usr/local", npm, "bin/npm-cli.js")], {}, signal);
    await tidy(root);
    await builder.run(["commit", "--quiet", "--timestamp", "0", "--rm", container, name], signal);
    return name;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Its apt finds packages as that of this machine does, which may need settings to do so; or in the mirrors that are named. */
async function setUpApt(root: string, mirrors: Mirrors | undefined, signal: AbortSignal): Promise<void> {
  if (mirrors !== undefined) return writeFile(join(root, "etc/apt/sources.list"), renderSources(mirrors));
  const release = await readFile("/etc/os-release", "utf8").catch(() => "");
  if (!release.includes(`VERSION_CODENAME=${SUITE}`))
    throw new InputError(`this machine's sources of packages are not those of Debian ${SUITE}`, {
      code: "release.no-sources",
      path: "--mirror",
      remedy: "Name Debian's archive with --mirror URL",
    });
  await runProgram("cp", ["--archive", "--no-target-directory", "/etc/apt", join(root, "etc/apt")], {}, signal);
}

/** Takes out what tells one run from another: logs, caches, and what debootstrap copied from the machine. */
async function tidy(root: string): Promise<void> {
  const passing = [
    "var/log/*",
    "var/cache/*",
    "var/lib/apt/lists/*",
    "tmp/*",
    "etc/resolv.conf",
    "etc/hostname",
    "var/lib/dpkg/*-old",
    "etc/*-",
  ];
  for (const path of globSync(passing, { cwd: root })) await rm(join(root, path), { recursive: true });
  await mkdir(join(root, "var/cache/apt/archives/partial"), { recursive: true });
  await mkdir(join(root, "var/lib/apt/lists/partial"), { recursive: true });
  await writeFile(join(root, "etc/machine-id"), "");
}

async function pinnedNode(project: string): Promise<NpmPackage> {
  const path = "tools/node/package-lock.json";
  const name = `node-linux-${process.arch}`;
  const { packages } = JSON.parse(await readFile(join(project, path), "utf8")) as { packages: Record<string, Partial<NpmPackage>> };
  const { version, integrity } = packages[`node_modules/${name}`] ?? {};
  if (version !== undefined && integrity !== undefined) return { name, version, integrity };
  throw new InputError(`there is no Node.js for ${process.arch}`, { code: "release.no-node", path, remedy: "Build on x64 or arm64" });
}
