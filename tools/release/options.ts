import { parseArgs } from "node:util";
import { InputError } from "../../src/domain/errors.ts";
import { LOCAL_BASE } from "./build-image.ts";
import { type Mirrors, mirrorsOf } from "./image/apt.ts";
import { ARCHITECTURES, type Architecture } from "./image/kept-files.ts";

export interface ReleaseOptions {
  readonly commit: string;
  readonly architectures: readonly Architecture[];
  readonly base: string;
  /** Name of the image without its tag. */
  readonly image: string;
  readonly out: string;
  readonly key: string | undefined;
  readonly snapshot: boolean;
  readonly rebuild: boolean;
  readonly builder: string;
  readonly mirrors: Mirrors | undefined;
}

export type Wanted =
  | { readonly what: "help" }
  | { readonly what: "verify"; readonly directory: string; readonly publicKey: string | undefined; readonly output: Output }
  | { readonly what: "update-packages"; readonly options: ReleaseOptions; readonly output: Output }
  | { readonly what: "release"; readonly options: ReleaseOptions; readonly output: Output };

export type Output = "text" | "json";

const PLATFORMS = ARCHITECTURES.map((architecture) => `linux/${architecture}`);
const DEFAULTS = {
  commit: "HEAD",
  platform: PLATFORMS.join(","),
  base: LOCAL_BASE,
  image: "localhost/argosy",
  out: "dist/release",
  builder: "urn:argosy:builder:local",
} as const;

export const RELEASE_HELP = `Usage: npm run release -- [options]
       npm run release -- --verify DIR [--public-key FILE]

Makes a release of a commit: an image archive for each platform with its SBOM, the packaged chart, the notes, the provenance and SHA256SUMS, all of
them signed where a key is given. The same commit gives the same bytes. docs/release.md explains each file.

  --commit REF           what is released (default: ${DEFAULTS.commit}); never what lies in the working tree
  --platform LIST        default: ${DEFAULTS.platform}; each is put together on any machine
  --base REF             the image to build on, or "local" for one made of Debian's packages with debootstrap (default: ${DEFAULTS.base})
  --image NAME           name of the image, without a tag (default: ${DEFAULTS.image})
  --out DIR              where the release is put; one that is there is replaced (default: ${DEFAULTS.out})
  --key FILE             private Ed25519 key in PEM form that signs every file
  --snapshot             releases what the changelog calls Unreleased, under a version made of the commit
  --rebuild              builds the image even if the cache has it
  --builder URI          who builds, for the provenance (default: ${DEFAULTS.builder})
  --mirror URL           Debian's archive (default: the sources that apt is set up with on this machine)
  --security-mirror URL  that of its security updates (default: beside --mirror, as debian-security is beside debian)
  -o json                prints what was made, or found, as JSON
  --help                 this text

  --verify DIR           checks a release: bytes, digests, SBOMs against the images, versions. Ends with 1 when anything differs
  --public-key FILE      checks the signatures too

  --update-packages      writes the newest versions of the image's Debian packages to tools/release/image/debian-packages.json

Building needs root, buildah, git, npm, and for a local base debootstrap. What was built is kept in the cache of the development cluster (ARGOSY_CACHE).
`;

const FLAG = { type: "boolean", default: false } as const;
const TEXT = { type: "string" } as const;

/** Parses the arguments after `npm run release --`. Throws `InputError` with the argument and what is allowed. */
export function parseReleaseOptions(args: readonly string[]): Wanted {
  const texts = Object.fromEntries(Object.entries(DEFAULTS).map(([name, value]) => [name, { type: "string", default: value } as const]));
  const options = {
    ...(texts as Record<keyof typeof DEFAULTS, { type: "string"; default: string }>),
    ...{
      mirror: TEXT,
      "security-mirror": TEXT,
      key: TEXT,
      verify: TEXT,
      "public-key": TEXT,
      output: { type: "string", short: "o", default: "text" } as const,
    },
    ...{ snapshot: FLAG, rebuild: FLAG, "update-packages": FLAG, help: { type: "boolean", short: "h", default: false } as const },
  } as const;
  const values = parsed(() => parseArgs({ args: [...args], options }).values);
  if (values.help) return { what: "help" };
  for (const [name, value] of Object.entries(values)) if (value === "") throw refusal(`--${name} is empty`);
  const output = values.output === "json" || values.output === "text" ? values.output : undefined;
  if (output === undefined) throw refusal(`-o ${values.output}: it is json or text`);
  if (values.verify !== undefined) return { what: "verify", directory: values.verify, publicKey: values["public-key"], output };
  if (values["public-key"] !== undefined) throw refusal("--public-key goes with --verify");
  const { commit, base, image, out, key, snapshot, rebuild, builder } = values;
  if (!isImageName(image)) throw refusal(`--image ${image}: it is a name as registries have them, in lower case and without a tag`);
  if (!URL.canParse(builder)) throw refusal(`--builder ${builder}: it is a URI`);
  const mirrors = mirrorsOf(...(["mirror", "security-mirror"] as const).map((option) => mirrorOf(option, values[option])));
  const release = { commit, architectures: architecturesOf(values.platform), base, image, out, key, snapshot, rebuild, builder, mirrors };
  return { what: values["update-packages"] ? "update-packages" : "release", options: release, output };
}

function architecturesOf(platforms: string): readonly Architecture[] {
  const wanted = platforms.split(",").map((platform) => {
    const architecture = ARCHITECTURES.find((each) => platform.trim() === `linux/${each}`);
    if (architecture === undefined) throw refusal(`--platform ${platform}: there are ${PLATFORMS.join(" and ")}`);
    return architecture;
  });
  return [...new Set(wanted)].sort();
}

function isImageName(name: string): boolean {
  return /^(?:[a-z0-9]+(?:[.-][a-z0-9]+)*(?::\d+)?\/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/.test(
    name,
  );
}

function mirrorOf(option: string, address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  if (!/^https?:/.test(address) || !URL.canParse(address)) throw refusal(`--${option} ${address}: it is an address that begins with http`);
  return address.replace(/\/+$/, "");
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw refusal((cause as Error).message.replace(/\.$/, ""), cause);
  }
}

function refusal(what: string, cause?: unknown): InputError {
  const remedy = "`npm run release -- --help` lists the options";
  return new InputError(what, { code: "release.options", path: "npm run release", remedy, ...(cause === undefined ? {} : { cause }) });
}
