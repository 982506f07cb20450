import type { BuiltImage } from "./build-image.ts";
import { CHECKSUMS, renderChecksums, sha256 } from "./checksums.ts";
import type { Commit } from "./commit.ts";
import { fileNames, imageSubject } from "./file-names.ts";
import type { DebianPackages } from "./image/debian-packages.ts";
import type { Architecture } from "./image/kept-files.ts";
import { readImageArchive, timeText, writeImageArchive } from "./oci/image-archive.ts";
import { runConfig } from "./oci/image-config.ts";
import { renderProvenance } from "./provenance.ts";
import { renderSbom } from "./sbom.ts";
import type { ReleaseVersion } from "./versions.ts";

export interface BuiltFor extends BuiltImage {
  readonly architecture: Architecture;
}

export interface ReleaseParts {
  readonly commit: Pick<Commit, "hash" | "epochSeconds" | "origin">;
  readonly version: ReleaseVersion;
  readonly chart: Buffer | undefined;
  readonly built: readonly BuiltFor[];
  /** Name of the image without its tag. */
  readonly image: string;
  /** Text of package-lock.json. */
  readonly lockfile: string;
  readonly debian: DebianPackages;
  readonly builder: string;
  /** Versions of the tools that took part. */
  readonly tools: Readonly<Record<string, string>>;
}

export interface Made {
  /** The files of a release by name, without signatures. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** Digests of the images by platform. */
  readonly images: Readonly<Record<string, string>>;
}

/** The files of a release: the same parts give the same bytes. */
export function renderRelease(parts: ReleaseParts): Made {
  const { version } = parts.version;
  const files = new Map<string, Buffer>([[fileNames.notes(version), Buffer.from(parts.version.notes)]]);
  if (parts.chart !== undefined) files.set(fileNames.chart(version), parts.chart);
  const images: Record<string, string> = {};
  for (const each of parts.built) {
    const { archive, digest, sbom } = renderImage(parts, each);
    files.set(fileNames.image(version, each.architecture), archive);
    files.set(fileNames.sbom(version, each.architecture), sbom);
    images[`linux/${each.architecture}`] = digest;
  }
  files.set(fileNames.provenance(version), json(provenanceOf(parts, { files, images })));
  files.set(CHECKSUMS, Buffer.from(renderChecksums(files)));
  return { files, images };
}

function renderImage({ commit, version: { version }, image, lockfile }: ReleaseParts, { architecture, layers, run }: BuiltFor) {
  const { epochSeconds } = commit;
  const reference = `${image}:${version}`;
  const config = runConfig(run, labelsOf(commit, version));
  const { archive, digest } = writeImageArchive({ layers, run: config, architecture, epochSeconds, reference });
  const { files } = readImageArchive(archive);
  return { archive, digest, sbom: json(renderSbom({ version, architecture, epochSeconds, digest, files, lockfile })) };
}

/** The annotations of the OCI image specification that scanners and registries show. */
function labelsOf({ epochSeconds, hash, origin }: ReleaseParts["commit"], version: string): Readonly<Record<string, string>> {
  const name = (field: string): string => `org.opencontainers.image.${field}`;
  return {
    [name("created")]: timeText(epochSeconds),
    [name("description")]: "Control plane for a fleet of Argo CD instances",
    [name("licenses")]: "Apache-2.0",
    [name("revision")]: hash,
    ...(origin === undefined ? {} : { [name("source")]: origin }),
    [name("title")]: "argosy",
    [name("version")]: version,
  };
}

function provenanceOf({ commit, version: { version }, built, lockfile, debian, builder, tools }: ReleaseParts, { files, images }: Made) {
  const made = [...files].map(([name, bytes]) => ({ name, digest: { sha256: sha256(bytes) } }));
  const digests = Object.entries(images).map(([platform, digest]) => ({
    name: imageSubject(version, platform.replace("linux/", "")),
    digest: { sha256: digest.replace("sha256:", "") },
  }));
  return renderProvenance({
    ...{ version, commit: commit.hash, origin: commit.origin, builder, tools },
    subjects: [...made, ...digests],
    platforms: Object.keys(images),
    base: built[0]?.base ?? "",
    debian: built.flatMap(({ architecture }) => debian[architecture]),
    lockfileSha256: sha256(Buffer.from(lockfile)),
  });
}

function json(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
}
