/** What the files of a release are called. */
export const fileNames = {
  image: (version: string, architecture: string) => `argosy-${version}-linux-${architecture}.oci.tar`,
  sbom: (version: string, architecture: string) => `argosy-${version}-linux-${architecture}.cdx.json`,
  chart: (version: string) => `argosy-${version}.tgz`,
  provenance: (version: string) => `argosy-${version}.provenance.json`,
  notes: (version: string) => `argosy-${version}.notes.md`,
} as const;

/** The name of an image among the subjects of a provenance. */
export function imageSubject(version: string, architecture: string): string {
  return `argosy:${version} linux/${architecture}`;
}
