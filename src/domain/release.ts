import type { CatalogueEntry, FleetSpec } from "./fleet.ts";

/** What a release is made of: its two images, as declared, and the hash of its definitions, as they were first read. */
export const RELEASE_PARTS = ["image", "redisImage", "crds"] as const;

/** One part of a release. Once it is known it never changes, whatever becomes of the catalogue. */
export interface ReleasePart {
  readonly version: string;
  readonly part: (typeof RELEASE_PARTS)[number];
  readonly content: string;
}

/** A part of a declared release that is another than the one that is known under that version. */
export interface ChangedPart {
  /** Of the release in the catalogue. */
  readonly index: number;
  readonly version: string;
  readonly part: "image" | "redisImage";
}

/** The images of a catalogue as parts of its releases. Its definitions are files, which are not in the document. */
export function imagesOf(catalogue: readonly CatalogueEntry[]): readonly ReleasePart[] {
  return catalogue.flatMap(({ version, image, redisImage }) => [
    { version, part: "image" as const, content: image },
    { version, part: "redisImage" as const, content: redisImage },
  ]);
}

/**
 * Where a declaration names another image for a release than the one that is known. What stands in the present declaration is never
 * refused, whatever is remembered: an earlier program may have written it, and everything else has to stay changeable.
 */
export function changedParts(
  known: readonly ReleasePart[],
  declared: FleetSpec | undefined,
  { versions }: Pick<FleetSpec, "versions">,
): readonly ChangedPart[] {
  const present = imagesOf(declared?.versions.catalogue ?? []);
  return versions.catalogue.flatMap((entry, index) =>
    imagesOf([entry]).flatMap(({ version, part, content }) => {
      const contents = [...present, ...known].filter((one) => one.version === version && one.part === part).map((one) => one.content);
      if (contents.length === 0 || contents.includes(content) || part === "crds") return [];
      return [{ index, version, part }];
    }),
  );
}

/** Images of releases that are new, without a digest: a tag may name another image tomorrow. */
export function undigestedParts(
  known: readonly ReleasePart[],
  declared: FleetSpec | undefined,
  { versions }: Pick<FleetSpec, "versions">,
): readonly ChangedPart[] {
  const present = new Set([...imagesOf(declared?.versions.catalogue ?? []), ...known].map(({ version, part }) => `${version} ${part}`));
  return versions.catalogue.flatMap((entry, index) =>
    imagesOf([entry]).flatMap(({ version, part, content }) => {
      if (hasDigest(content) || present.has(`${version} ${part}`) || part === "crds") return [];
      return [{ index, version, part }];
    }),
  );
}

export function hasDigest(image: string): boolean {
  return /@sha256:[0-9a-f]{64}$/.test(image);
}

/** The name under which another image of the same Argo CD is declared: the first build that is not taken. */
export function nextBuild(version: string, taken: readonly string[]): string {
  const release = version.replace(/-\d+$/, "");
  for (let build = 2; ; build += 1) if (!taken.includes(`${release}-${build}`)) return `${release}-${build}`;
}
