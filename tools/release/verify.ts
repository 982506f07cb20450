import type { KeyObject } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../../src/domain/errors.ts";
import { chartInside } from "./chart.ts";
import { checkSbom } from "./check-sbom.ts";
import { CHECKSUMS, parseChecksums, sha256 } from "./checksums.ts";
import { fileNames, imageSubject } from "./file-names.ts";
import { type ReadImage, readImageArchive } from "./oci/image-archive.ts";
import type { Provenance } from "./provenance.ts";
import { parseManifest, recordsIn, type Sbom, textOf } from "./sbom.ts";
import { isSignedBy, SIGNATURE } from "./signature.ts";
import { chartField, isVersionOf } from "./versions.ts";

export interface Problem {
  readonly file: string;
  /** What differs, as the end of a sentence that begins with the file. */
  readonly what: string;
}

export interface Verdict {
  readonly version: string | undefined;
  readonly files: readonly string[];
  /** Whether signatures were checked: without a public key they are not. */
  readonly isSignatureChecked: boolean;
  /** Digests of the images by platform. */
  readonly images: Readonly<Record<string, string>>;
  readonly problems: readonly Problem[];
}

/**
 * Checks a folder with a release: the bytes of every file, its signature where a public key is given, every digest inside the images, the SBOMs
 * against what the images hold, and that all name the same version and digests. Raises InputError when the folder cannot be read.
 */
export async function verifyRelease(directory: string, publicKey: KeyObject | undefined): Promise<Verdict> {
  const files = await readFiles(directory);
  const problems = [...sumProblems(files), ...(publicKey === undefined ? [] : signatureProblems(files, publicKey))];
  const names = [...files.keys()].filter((name) => !name.endsWith(SIGNATURE)).sort();
  const version = versionOf(names);
  const start = { version, files: names, isSignatureChecked: publicKey !== undefined };
  // What is not what was signed is not read any further.
  if (problems.length > 0 || version === undefined) {
    const unnamed = version === undefined ? [{ file: directory, what: "holds no provenance, and so no version" }] : [];
    return { ...start, images: {}, problems: [...problems, ...unnamed] };
  }
  return { ...start, ...contentProblems(files, version) };
}

async function readFiles(directory: string): Promise<ReadonlyMap<string, Buffer>> {
  try {
    const names = await readdir(directory);
    return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name))] as const)));
  } catch (cause) {
    throw new InputError("is no folder with a release", {
      code: "release.folder",
      path: directory,
      remedy: "Give the folder that `npm run release` wrote",
      cause,
    });
  }
}

function sumProblems(files: ReadonlyMap<string, Buffer>): readonly Problem[] {
  const text = files.get(CHECKSUMS);
  if (text === undefined) return [{ file: CHECKSUMS, what: "is missing" }];
  const sums = parseChecksums(text.toString("utf8"));
  const listed = [...sums].flatMap(([file, sum]) => {
    const bytes = files.get(file);
    if (bytes === undefined) return [{ file, what: "is missing" }];
    const found = sha256(bytes);
    return found === sum ? [] : [{ file, what: `has the SHA-256 ${found}, and ${CHECKSUMS} says ${sum}` }];
  });
  const unlisted = [...files.keys()].filter((name) => !name.endsWith(SIGNATURE) && name !== CHECKSUMS && !sums.has(name));
  return [...listed, ...unlisted.map((file) => ({ file, what: `is not in ${CHECKSUMS}` }))];
}

function signatureProblems(files: ReadonlyMap<string, Buffer>, key: KeyObject): readonly Problem[] {
  const names = [...files.keys()];
  const unsigned = names
    .filter((name) => !name.endsWith(SIGNATURE))
    .flatMap((file) => {
      const signature = files.get(file + SIGNATURE);
      if (signature === undefined) return [{ file, what: `has no signature ${file}${SIGNATURE}` }];
      return isSignedBy(files.get(file) ?? Buffer.alloc(0), signature, key)
        ? []
        : [{ file, what: "is not what the owner of the public key signed" }];
    });
  const alone = names.filter((name) => name.endsWith(SIGNATURE) && !files.has(name.slice(0, -SIGNATURE.length)));
  return [...unsigned, ...alone.map((file) => ({ file, what: "is a signature of nothing" }))];
}

function versionOf(names: readonly string[]): string | undefined {
  const found = names.map((name) => /^argosy-(.+)\.provenance\.json$/.exec(name)?.[1]).filter((each) => each !== undefined);
  return found.length === 1 ? found[0] : undefined;
}

function contentProblems(files: ReadonlyMap<string, Buffer>, version: string): Pick<Verdict, "images" | "problems"> {
  const problems: Problem[] = [];
  const images: Record<string, string> = {};
  const attempt = <T>(file: string, work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      problems.push({ file, what: `cannot be read: ${(error as Error).message}` });
      return undefined;
    }
  };
  const provenanceName = fileNames.provenance(version);
  const provenance = attempt(provenanceName, () => readJson<Provenance>(files, provenanceName));
  for (const file of [...files.keys()].filter((name) => name.endsWith(".oci.tar")).sort()) {
    const image = attempt(file, () => readImageArchive(files.get(file) ?? Buffer.alloc(0)));
    if (image === undefined) continue;
    const { architecture } = image.config;
    images[`linux/${architecture}`] = image.digest;
    if (file !== fileNames.image(version, architecture)) problems.push({ file, what: `holds an image for linux/${architecture}` });
    problems.push(...imageProblems(file, { image, version, commit: commitOf(provenance) }));
    const sbomName = fileNames.sbom(version, architecture);
    const sbom = attempt(sbomName, () => readJson<Sbom>(files, sbomName));
    if (sbom !== undefined) attempt(sbomName, () => problems.push(...sbomProblems(sbomName, { sbom, image, version })));
  }
  if (Object.keys(images).length === 0) problems.push({ file: provenanceName, what: "is of no image that is here" });
  if (provenance !== undefined)
    attempt(provenanceName, () => problems.push(...provenanceProblems(provenanceName, { provenance, files, images, version })));
  problems.push(...noteProblems(files, version));
  const chart = files.get(fileNames.chart(version));
  if (chart !== undefined)
    attempt(fileNames.chart(version), () => problems.push(...chartProblems(fileNames.chart(version), chart, version)));
  return { images, problems };
}

function readJson<T>(files: ReadonlyMap<string, Buffer>, name: string): T {
  const bytes = files.get(name);
  if (bytes === undefined) throw new Error("it is missing");
  return JSON.parse(bytes.toString("utf8")) as T;
}

function commitOf(provenance: Provenance | undefined): string | undefined {
  const commit = provenance?.predicate?.buildDefinition?.externalParameters?.["commit"];
  return typeof commit === "string" ? commit : undefined;
}

interface ImageFacts {
  readonly image: ReadImage;
  readonly version: string;
  readonly commit: string | undefined;
}

function imageProblems(file: string, { image, version, commit }: ImageFacts): readonly Problem[] {
  const labels = image.config.config.Labels ?? {};
  const held = parseManifest(textOf(image.files, "app/package.json")).version;
  const label = (name: string, wanted: string): readonly Problem[] => {
    const found = labels[`org.opencontainers.image.${name}`];
    return found === wanted ? [] : [{ file, what: `has the label ${name} ${found ?? "nowhere"}, and the provenance says ${wanted}` }];
  };
  const { architecture } = image.config;
  const foreign = recordsIn(image.files).filter((record) => record.architecture !== "all" && record.architecture !== architecture);
  return [
    ...foreign.map(({ name, architecture: other }) => ({ file, what: `is for ${architecture} and holds ${name} for ${other}` })),
    ...label("version", version),
    ...(commit === undefined ? [] : label("revision", commit)),
    ...(isVersionOf(version, held) ? [] : [{ file, what: `holds the version ${held} of package.json, not ${version}` }]),
    ...(image.reference.endsWith(`:${version}`) ? [] : [{ file, what: `is called ${image.reference}, not by its version ${version}` }]),
  ];
}

interface SbomFacts {
  readonly sbom: Sbom;
  readonly image: ReadImage;
  readonly version: string;
}

function sbomProblems(file: string, { sbom, image, version }: SbomFacts): readonly Problem[] {
  const { component } = sbom.metadata;
  const digest = `sha256:${component.hashes[0]?.content ?? ""}`;
  return [
    ...(digest === image.digest ? [] : [{ file, what: `is of the image ${digest}, and the archive holds ${image.digest}` }]),
    ...(component.version === version ? [] : [{ file, what: `is of the version ${component.version}, not ${version}` }]),
    ...checkSbom(sbom, image.files).map((what) => ({ file, what: `differs from the image: ${what}` })),
  ];
}

interface ProvenanceFacts {
  readonly provenance: Provenance;
  readonly files: ReadonlyMap<string, Buffer>;
  readonly images: Readonly<Record<string, string>>;
  readonly version: string;
}

function provenanceProblems(file: string, { provenance, files, images, version }: ProvenanceFacts): readonly Problem[] {
  const named = new Map(provenance.subject.map(({ name, digest }) => [name, digest.sha256]));
  const made = [...files].filter(([name]) => name !== file && name !== CHECKSUMS && !name.endsWith(SIGNATURE));
  const wanted = [
    ...made.map(([name, bytes]) => [name, sha256(bytes)] as const),
    ...Object.entries(images).map(
      ([platform, digest]) => [imageSubject(version, platform.replace("linux/", "")), digest.replace("sha256:", "")] as const,
    ),
  ];
  const differing = wanted.flatMap(([name, digest]) =>
    named.get(name) === digest ? [] : [{ file, what: `names ${named.get(name) ?? "no digest"} for ${name}, which has ${digest}` }],
  );
  const known = new Set(wanted.map(([name]) => name));
  const extra = [...named.keys()].filter((name) => !known.has(name)).map((name) => ({ file, what: `names ${name}, which is not here` }));
  const stated = provenance.predicate.buildDefinition.externalParameters["version"];
  return [...differing, ...extra, ...(stated === version ? [] : [{ file, what: `is of the version ${String(stated)}, not ${version}` }])];
}

function noteProblems(files: ReadonlyMap<string, Buffer>, version: string): readonly Problem[] {
  const file = fileNames.notes(version);
  const notes = files.get(file)?.toString("utf8");
  if (notes === undefined) return [{ file, what: "is missing" }];
  const title = version.includes("-snapshot.") ? "Unreleased" : version;
  return notes.startsWith(`## ${title}`) ? [] : [{ file, what: `is not the section ${title} of the changelog` }];
}

function chartProblems(file: string, archive: Buffer, version: string): readonly Problem[] {
  const chart = chartInside(archive);
  return (["version", "appVersion"] as const).flatMap((field) => {
    const found = chartField(chart, field);
    return found === version ? [] : [{ file, what: `has ${field} ${found ?? "nowhere"}, not ${version}` }];
  });
}
