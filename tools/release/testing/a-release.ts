import type { DebianPackages } from "../image/debian-packages.ts";
import { packLayer } from "../oci/image-archive.ts";
import { divideIntoLayers } from "../oci/root-folder.ts";
import type { TarEntry } from "../oci/tar.ts";
import { type Made, renderRelease } from "../render-release.ts";
import { A_LOCKFILE, aRoot } from "./a-root.ts";

const DEBIAN: DebianPackages = {
  amd64: [{ name: "git", version: "1:2.39.5-0+deb12u3", sha256: "a".repeat(64) }],
  arm64: [],
};

/** The files of a small release, made by everything that makes a real one but the builder. */
export async function aRelease(
  options: { readonly root?: readonly TarEntry[]; readonly chart?: Buffer; readonly version?: string } = {},
): Promise<Made> {
  const { root = aRoot(), chart, version = "1.2.3" } = options;
  const layers = await Promise.all(divideIntoLayers(root).map(packLayer));
  return renderRelease({
    commit: { hash: "c".repeat(40), epochSeconds: 1_700_000_000, origin: "https://git.example/argosy" },
    version: { version, notes: `## ${version}\n\n- A change.\n` },
    chart,
    built: [{ architecture: "amd64", layers, run: { User: "65532:65532", Entrypoint: ["/usr/bin/node"] }, base: "localhost/base:1" }],
    image: "localhost/argosy",
    lockfile: A_LOCKFILE,
    debian: DEBIAN,
    builder: "urn:argosy:builder:test",
    tools: { node: "24.21.0" },
  });
}
