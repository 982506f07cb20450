/** A Debian package as its record in `/var/lib/dpkg/status.d` has it. */
export interface DebianRecord {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  /** The source package and its version, where they differ from the package's. */
  readonly source: string;
  readonly maintainer: string;
}

/** Parses a control paragraph (Debian policy, chapter 5); `undefined` without a name and a version. */
export function parseDebianRecord(text: string): DebianRecord | undefined {
  const field = (name: string): string => new RegExp(`^${name}: *(.*)$`, "m").exec(text)?.[1]?.trim() ?? "";
  const [name, version] = [field("Package"), field("Version")];
  if (name === "" || version === "") return undefined;
  return { name, version, architecture: field("Architecture"), source: field("Source"), maintainer: field("Maintainer") };
}

/** Licences that a machine-readable copyright file names (Debian's DEP 5), sorted; none where it is prose. */
export function licencesOf(copyright: string): readonly string[] {
  if (!/^Format:/m.test(copyright)) return [];
  const names = [...copyright.matchAll(/^License: *(\S.*)$/gm)].map(([, name = ""]) => name.trim());
  return [...new Set(names)].sort();
}
