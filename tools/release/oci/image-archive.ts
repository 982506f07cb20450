import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzipSync, gzip } from "node:zlib";
import { DefectError } from "../../../src/domain/errors.ts";
import type { ImageConfig, RunConfig } from "./image-config.ts";
import { readTar, type TarEntry, writeTar } from "./tar.ts";

const compress = promisify(gzip);
const LEVEL = 6;

/** A part of the image that changes as a whole, so that an update of Argosy fetches nothing but Argosy. */
export interface Layer {
  readonly name: string;
  readonly entries: readonly TarEntry[];
}

/** A layer as it is stored and sent. */
export interface PackedLayer {
  readonly name: string;
  /** Digest of the archive before it was compressed: the same whoever compresses it. */
  readonly diffId: string;
  readonly content: Buffer;
}

export interface Image {
  readonly layers: readonly PackedLayer[];
  readonly run: RunConfig;
  readonly architecture: string;
  /** When it was made, in seconds since the epoch: the time of its commit. */
  readonly epochSeconds: number;
  /** Name and tag under which engines that load the archive list it. */
  readonly reference: string;
}

const MEDIA = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
} as const;

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

interface Manifest {
  readonly schemaVersion: 2;
  readonly mediaType: string;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

interface Index {
  readonly schemaVersion: 2;
  readonly mediaType: string;
  readonly manifests: readonly (Descriptor & {
    readonly platform: { readonly architecture: string; readonly os: string };
    readonly annotations: Readonly<Record<string, string>>;
  })[];
}

/** Of every file in the image: a layer whose files did not change stays the same from release to release and is fetched once. */
const FILE_TIME = 0;

/** Packs a layer. Its digest follows from its entries and, for the compressed form, from the version of Node.js. */
export async function packLayer({ name, entries }: Layer): Promise<PackedLayer> {
  const tar = writeTar(entries, FILE_TIME);
  return { name, diffId: digestOf(tar), content: await compress(tar, { level: LEVEL }) };
}

/**
 * Writes an image as an archive of an OCI image layout (OCI image specification 1.1) whose bytes follow from the image alone. Answers the
 * archive and the digest of the manifest, by which registries call the image.
 */
export function writeImageArchive(image: Image): { readonly archive: Buffer; readonly digest: string } {
  const blobs = new Map<string, Buffer>();
  const add = (mediaType: string, content: Buffer): Descriptor => {
    const digest = digestOf(content);
    blobs.set(digest, content);
    return { mediaType, digest, size: content.length };
  };
  const layers = image.layers.map(({ content }) => add(MEDIA.layer, content));
  const config = add(MEDIA.config, json(imageConfig(image)));
  const manifest = add(MEDIA.manifest, json({ schemaVersion: 2, mediaType: MEDIA.manifest, config, layers } satisfies Manifest));
  const archive = writeTar(layoutEntries(indexOf(image, manifest), blobs), image.epochSeconds);
  return { archive, digest: manifest.digest };
}

function imageConfig({ architecture, epochSeconds, layers, run }: Image): ImageConfig {
  const created = timeText(epochSeconds);
  return {
    created,
    architecture,
    os: "linux",
    ...variantOf(architecture),
    config: run,
    rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ name }) => ({ created, created_by: `argosy release: ${name}` })),
  };
}

function variantOf(architecture: string): { readonly variant?: string } {
  return architecture === "arm64" ? { variant: "v8" } : {};
}

/** An instant in the form of RFC 3339. */
export function timeText(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toISOString().replace(".000Z", "Z");
}

function indexOf({ architecture, reference }: Image, manifest: Descriptor): Index {
  const tag = reference.slice(reference.lastIndexOf(":") + 1);
  const platform = { architecture, os: "linux", ...variantOf(architecture) };
  // containerd goes by the first name, the reference tool of the specification by the second.
  const annotations = { "io.containerd.image.name": reference, "org.opencontainers.image.ref.name": tag };
  return { schemaVersion: 2, mediaType: MEDIA.index, manifests: [{ ...manifest, platform, annotations }] };
}

function layoutEntries(index: Index, blobs: ReadonlyMap<string, Buffer>): readonly TarEntry[] {
  const file = (path: string, content: Buffer): TarEntry => ({ kind: "file", path, mode: 0o644, content });
  const directory = (path: string): TarEntry => ({ kind: "directory", path, mode: 0o755 });
  return [
    ...[
      directory("blobs"),
      directory("blobs/sha256"),
      file("index.json", json(index)),
      file("oci-layout", json({ imageLayoutVersion: "1.0.0" })),
    ],
    ...[...blobs].map(([digest, content]) => file(blobPath(digest), content)),
  ];
}

const blobPath = (digest: string): string => `blobs/${digest.replace(":", "/")}`;

/** What an archive holds, once every digest in it was found right. */
export interface ReadImage {
  readonly digest: string;
  readonly reference: string;
  readonly config: ImageConfig;
  /** Files, folders and links of the unpacked image by path; a later layer's replaces an earlier one's. */
  readonly files: ReadonlyMap<string, TarEntry>;
}

/** Reads an archive that `writeImageArchive` wrote. Raises DefectError, which says what is wrong, when a byte of it was changed. */
export function readImageArchive(archive: Buffer): ReadImage {
  const files = new Map(readTar(archive).flatMap((entry) => (entry.kind === "file" ? [[entry.path, entry.content] as const] : [])));
  const index = parse<Index>(required(files, "index.json"), "index.json");
  const [listed] = index.manifests ?? [];
  if (listed === undefined || index.manifests.length !== 1) throw wrong("its index does not name one image");
  const manifest = parse<Manifest>(blob(files, listed), "its manifest");
  const config = parse<ImageConfig>(blob(files, manifest.config), "its configuration");
  const tars = manifest.layers.map((layer) => unzip(blob(files, layer), layer.digest));
  const diffIds = tars.map(digestOf).join(" ");
  if (config.rootfs.diff_ids.join(" ") !== diffIds) throw wrong("its layers are not those its configuration names");
  const unpacked = new Map(tars.flatMap((tar) => readTar(tar).map((entry) => [entry.path, entry] as const)));
  return { digest: listed.digest, reference: listed.annotations["io.containerd.image.name"] ?? "", config, files: unpacked };
}

function required(files: ReadonlyMap<string, Buffer>, path: string): Buffer {
  const content = files.get(path);
  if (content === undefined) throw wrong(`${path} is missing`);
  return content;
}

function blob(files: ReadonlyMap<string, Buffer>, { digest, size }: Descriptor): Buffer {
  const content = required(files, blobPath(digest));
  if (content.length !== size || digestOf(content) !== digest) throw wrong(`${digest} has other bytes than its name says`);
  return content;
}

function unzip(content: Buffer, digest: string): Buffer {
  try {
    return gunzipSync(content);
  } catch (cause) {
    throw new DefectError(`reading an image: layer ${digest} cannot be unpacked`, { code: "release.image", cause });
  }
}

function parse<T>(content: Buffer, what: string): T {
  try {
    return JSON.parse(content.toString("utf8")) as T;
  } catch (cause) {
    throw new DefectError(`reading an image: ${what} is no JSON`, { code: "release.image", cause });
  }
}

function wrong(what: string): DefectError {
  return new DefectError(`reading an image: ${what}`, { code: "release.image" });
}

/** A digest as OCI writes it. */
function digestOf(content: Buffer): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
