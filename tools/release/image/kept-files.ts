/** Processors that there is an image for, as Debian and OCI call them. */
export const ARCHITECTURES = ["amd64", "arm64"] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** Where Debian keeps the libraries of a processor. */
export const TRIPLETS: Readonly<Record<Architecture, string>> = { amd64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" };

/** How the header of a program names its processor. */
export const MACHINES: Readonly<Record<Architecture, number>> = { amd64: 62, arm64: 183 };

/**
 * What the image takes from Debian packages beside shared libraries, which are found by what programs ask for. Paths are those of the package
 * with /bin, /lib and /lib64 read as /usr/bin, /usr/lib and /usr/lib64. Git's Perl programs are left out: none of them takes part in reading a
 * repository. A package may have no path here: then only its libraries are wanted.
 */
export const KEPT_FILES: Readonly<Record<string, (triplet: string) => readonly string[]>> = {
  // Names the distribution: vulnerability scanners go by it.
  "base-files": () => ["usr/lib/os-release", "etc/debian_version"],
  "ca-certificates": () => [],
  // Argosy sets limits for git in a shell, and git starts ssh in one. Nothing else needs it.
  dash: () => ["usr/bin/dash"],
  // Holds the licence of the compiler's libraries.
  "gcc-12-base": () => ["usr/share/doc/gcc-12-base/copyright"],
  git: () => [
    "usr/bin/git",
    "usr/lib/git-core/git-remote-http",
    "usr/lib/git-core/git-remote-https",
    "usr/share/git-core/templates/description",
    "usr/share/git-core/templates/info/exclude",
  ],
  // Gives a user without an entry in /etc/passwd a name: ssh refuses to run for one that has none, whatever its number.
  "libnss-unknown": (triplet) => [`usr/lib/${triplet}/libnss_unknown.so.2`],
  "openssh-client": () => ["usr/bin/ssh"],
  // Process 1: it passes signals on and collects the children of a git that was killed, which Node.js does not.
  tini: () => ["usr/bin/tini"],
};

/** The folder of each certificate authority's file in the package ca-certificates. */
export const AUTHORITIES = "usr/share/ca-certificates/mozilla";

/** Debian packages whose shared libraries programs of the image ask for. One that is missing is named by the error about its library. */
export const LIBRARY_PACKAGES: readonly string[] = `
  libbrotli1 libc6 libcom-err2 libcurl3-gnutls libffi8 libgcc-s1 libgmp10 libgnutls30 libgssapi-krb5-2 libhogweed6 libidn2-0 libk5crypto3
  libkeyutils1 libkrb5-3 libkrb5support0 libldap-2.5-0 libnettle8 libnghttp2-14 libp11-kit0 libpcre2-8-0 libpsl5 librtmp1 libsasl2-2
  libselinux1 libssh2-1 libssl3 libstdc++6 libtasn1-6 libunistring2 libzstd1 zlib1g
`
  .trim()
  .split(/\s+/);

/** Files of npm packages that no program reads. */
export const UNREAD_FILE =
  /\.(?:d\.[mc]?ts|map|flow|markdown)$|(?:^|\/)(?!(?:licen[cs]e|notice|copying)[^/]*$)[^/]*\.md$|\/\.(?:github|vscode|nycrc|eslintrc|prettierrc|npmignore|editorconfig)[^/]*(?:$|\/)/i;
