import type { DebianPackage } from "./image/debian-packages.ts";

/** Something that was made, by its file name or reference, with the hexadecimal SHA-256 of its bytes. */
export interface Subject {
  readonly name: string;
  readonly digest: { readonly sha256: string };
}

interface Material {
  readonly uri: string;
  readonly digest?: Readonly<Record<string, string>>;
}

/** An in-toto statement (version 1) with SLSA provenance (version 1). */
export interface Provenance {
  readonly _type: "https://in-toto.io/Statement/v1";
  readonly subject: readonly Subject[];
  readonly predicateType: "https://slsa.dev/provenance/v1";
  readonly predicate: {
    readonly buildDefinition: {
      readonly buildType: string;
      readonly externalParameters: Readonly<Record<string, unknown>>;
      readonly internalParameters: Readonly<Record<string, string>>;
      readonly resolvedDependencies: readonly Material[];
    };
    readonly runDetails: { readonly builder: { readonly id: string; readonly version: Readonly<Record<string, string>> } };
  };
}

export interface ProvenanceInput {
  readonly version: string;
  readonly subjects: readonly Subject[];
  readonly commit: string;
  readonly origin: string | undefined;
  readonly platforms: readonly string[];
  readonly base: string;
  readonly debian: readonly DebianPackage[];
  /** Digest of package-lock.json, which has those of all npm packages. */
  readonly lockfileSha256: string;
  readonly builder: string;
  /** Versions of the tools that took part. */
  readonly tools: Readonly<Record<string, string>>;
}

const BUILD_TYPE = "urn:argosy:release:1";

/** Says what was made of which commit, with what, by whom. It has no times, so that the same release gives the same bytes. */
export function renderProvenance(input: ProvenanceInput): Provenance {
  const { version, subjects, commit, origin, platforms, base, debian, lockfileSha256, builder, tools } = input;
  const materials: readonly Material[] = [
    { uri: `git+${origin ?? "argosy"}@${commit}`, digest: { gitCommit: commit } },
    { uri: "package-lock.json", digest: { sha256: lockfileSha256 } },
    baseMaterial(base),
    ...debian.map((each) => ({
      uri: `pkg:deb/debian/${each.name}@${encodeURIComponent(each.version)}`,
      digest: { sha256: each.sha256 },
    })),
  ];
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: subjects.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { version, commit, platforms },
        internalParameters: { base },
        resolvedDependencies: materials,
      },
      runDetails: { builder: { id: builder, version: tools } },
    },
  };
}

function baseMaterial(base: string): Material {
  const [, sha256] = /@sha256:([0-9a-f]{64})$/.exec(base) ?? [];
  return { uri: `oci:${base}`, ...(sha256 === undefined ? {} : { digest: { sha256 } }) };
}
