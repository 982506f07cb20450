import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { cacheDirectory } from "../../hack/dev-cluster/build.ts";
import type { LocalImage } from "../../hack/dev-cluster/real-node/images.ts";
import { InputError } from "../../src/domain/errors.ts";
import { type BuildImageOptions, buildImage, findImage, LOCAL_BASE } from "../../tools/release/build-image.ts";
import { type Commit, readCommit } from "../../tools/release/commit.ts";
import { writeImageArchive } from "../../tools/release/oci/image-archive.ts";
import { runConfig } from "../../tools/release/oci/image-config.ts";
import { createProgress } from "../../tools/release/progress.ts";
import { readWorkingTree } from "../../tools/release/working-tree.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const REPOSITORY = "argosy.dev/argosy";

/** Argosy's image for a real node, or why there is none here, as one sentence. */
export type ArgosyImage = { readonly image: LocalImage } | { readonly skip: string };

/** The image of this checkout as it lies here, committed or not. Built where the cache has none of the same files. */
export async function imageOfCheckout(signal: AbortSignal): Promise<ArgosyImage> {
  const tree = await readWorkingTree(PROJECT, signal).catch(onInputError(() => undefined));
  return tree === undefined
    ? { skip: "the image is made of files that git knows, and this is no git repository" }
    : provideImage(tree, signal);
}

/** The image of an earlier commit, by any name that git knows it by. A clone need not have it: then says so. */
export async function imageOf(ref: string, signal: AbortSignal): Promise<ArgosyImage> {
  const commit = await readCommit(PROJECT, ref, signal).catch(onInputError(() => undefined));
  if (commit === undefined) return { skip: `this clone does not have the commit ${ref}: git fetch --unshallow --tags may bring it` };
  if (!commit.files.some(({ path }) => path === "Containerfile"))
    return { skip: `the commit ${ref} is of a time before there was an image` };
  return provideImage(commit, signal);
}

function onInputError<T>(answer: () => T): (error: unknown) => T {
  return (error) => {
    if (error instanceof InputError) return answer();
    throw error;
  };
}

async function provideImage(commit: Commit, signal: AbortSignal): Promise<ArgosyImage> {
  const options: BuildImageOptions = {
    ...{ commit, architecture: process.arch === "arm64" ? "arm64" : "amd64", base: LOCAL_BASE, rebuild: false, mirrors: undefined },
    ...{ project: PROJECT, cache: cacheDirectory() },
    progress: createProgress((line) => process.stdout.write(`e2e: ${line}\n`)),
  };
  const found = await findImage(options);
  const reason = found === undefined ? whyNotBuilt() : undefined;
  if (reason !== undefined) return { skip: reason };
  const { layers, run } = found ?? (await buildImage(options, signal));
  // Nothing in it is of its commit but its files: the same files are the same image under the same name.
  const content = { layers, run: runConfig(run, {}), architecture: options.architecture, epochSeconds: 0 };
  const { digest } = writeImageArchive({ ...content, reference: REPOSITORY });
  const tag = digest.replace("sha256:", "").slice(0, 12);
  const name = `${REPOSITORY}:${tag}`;
  const archive = join(options.cache, "images", `argosy-${tag}.tar`);
  if (!existsSync(archive)) {
    await mkdir(join(archive, ".."), { recursive: true });
    const draft = `${archive}.${process.pid}.draft`;
    await writeFile(draft, writeImageArchive({ ...content, reference: name }).archive);
    await rename(draft, archive);
  }
  // What nobody has used for a month is deleted there.
  await utimes(archive, new Date(), new Date());
  return { image: { name, archive } };
}

function whyNotBuilt(): string | undefined {
  if (process.getuid?.() !== 0) return "the image is not in the cache, and only root can build it";
  const missing = ["buildah", "debootstrap"].filter((program) => spawnSync(program, ["--version"]).error !== undefined);
  return missing.length === 0 ? undefined : `the image is not in the cache; to build it, install ${missing.join(" and ")}`;
}
