import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { link, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { run } from "./run.ts";

/** An image put together from layers that are there as tar files. */
export interface ImageContent {
  /** As manifests name it. */
  readonly name: string;
  /** Tar files, uncompressed, the lowest first. */
  readonly layers: readonly string[];
  readonly entrypoint: readonly string[];
  /** A number: there may be no name for it in the image. */
  readonly user?: number;
  readonly workingDirectory?: string;
  /** What its process is ended with; default SIGTERM. */
  readonly stopSignal?: string;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** This machine's architecture as images name it. */
export const architecture = (): string => ARCHITECTURES[process.arch] ?? process.arch;

/**
 * Writes an OCI image layout (image-spec v1.0) with one image as a tar file, complete or not at all. `ctr images import` gives it the
 * name that it says.
 */
export async function writeImageArchive(file: string, image: ImageContent, signal: AbortSignal): Promise<void> {
  await mkdir(join(file, ".."), { recursive: true });
  const draft = await mkdtemp(`${file}.draft-`);
  const blobs = join(draft, "blobs", "sha256");
  const put = async (mediaType: string, content: unknown): Promise<Descriptor> => {
    const text = JSON.stringify(content);
    const hex = createHash("sha256").update(text).digest("hex");
    await writeFile(join(blobs, hex), text);
    return { mediaType, digest: `sha256:${hex}`, size: Buffer.byteLength(text) };
  };
  try {
    await mkdir(blobs, { recursive: true });
    const layers: Descriptor[] = [];
    for (const layer of image.layers) layers.push(await putLayer(blobs, layer, signal));
    const config = await put("application/vnd.oci.image.config.v1+json", configOf(image, layers));
    const manifest = await put("application/vnd.oci.image.manifest.v1+json", {
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      config,
      layers,
    });
    const annotations = { "io.containerd.image.name": image.name };
    await writeFile(join(draft, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }));
    await writeFile(join(draft, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    await run("tar", ["-C", draft, "-cf", join(draft, "archive"), "oci-layout", "index.json", "blobs"], signal);
    await rename(join(draft, "archive"), file);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** The digest of the one image in an archive, as registries and nodes would give it. */
export async function digestOfArchive(file: string, signal: AbortSignal): Promise<string> {
  const index = JSON.parse(await run("tar", ["-xOf", file, "index.json"], signal)) as { readonly manifests: readonly Descriptor[] };
  const [manifest] = index.manifests;
  if (manifest === undefined) throw new Error(`${file} holds no image`);
  return manifest.digest;
}

async function putLayer(blobs: string, layer: string, signal: AbortSignal): Promise<Descriptor> {
  const hash = createHash("sha256");
  let size = 0;
  await pipeline(
    createReadStream(layer),
    async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        hash.update(chunk);
        size += chunk.length;
      }
    },
    { signal },
  );
  const hex = hash.digest("hex");
  await link(layer, join(blobs, hex));
  return { mediaType: "application/vnd.oci.image.layer.v1.tar", digest: `sha256:${hex}`, size };
}

function configOf(image: ImageContent, layers: readonly Descriptor[]): unknown {
  return {
    architecture: architecture(),
    os: "linux",
    config: {
      Entrypoint: image.entrypoint,
      Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
      ...(image.user === undefined ? {} : { User: String(image.user) }),
      ...(image.workingDirectory === undefined ? {} : { WorkingDir: image.workingDirectory }),
      ...(image.stopSignal === undefined ? {} : { StopSignal: image.stopSignal }),
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ digest }) => digest) },
  };
}
