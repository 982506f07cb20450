import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Architecture } from "./kept-files.ts";

/** The release of Debian that the image is made of. */
export const SUITE = "bookworm";
const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** The addresses of Debian's archive and of its security updates. A snapshot of an earlier day will do as well. */
export interface Mirrors {
  readonly debian: string;
  readonly security: string;
}

/** Mirrors as they are given, each of which may be left out, as an empty text or altogether. */
export function mirrorsOf(debian = "", security = ""): Mirrors | undefined {
  if (debian === "" && security === "") return undefined;
  return { debian: debian || security.replace(/-security$/, ""), security: security || `${debian}-security` };
}

export interface AptOptions {
  readonly architecture: Architecture;
  /** Where packages come from; `undefined`: from the sources that apt is set up with here. */
  readonly mirrors: Mirrors | undefined;
  /** An empty folder for its lists and what it downloads. */
  readonly place: string;
}

/** Arguments for apt-get that let it work on lists of its own in `place`: what is installed here is neither read nor changed. */
export async function prepareApt({ architecture, mirrors, place }: AptOptions): Promise<readonly string[]> {
  for (const folder of ["state/lists/partial", "cache/archives/partial"]) await mkdir(join(place, folder), { recursive: true });
  await writeFile(join(place, "status"), "");
  const settings = {
    ...{ "APT::Architecture": architecture, "APT::Architectures": architecture, "APT::Sandbox::User": "root" },
    ...{ "Dir::State": join(place, "state"), "Dir::State::status": join(place, "status"), "Dir::Cache": join(place, "cache") },
    ...{ "Acquire::Languages": "none", "Acquire::Retries": "3" },
    ...(mirrors === undefined ? {} : await writeSources(mirrors, place)),
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
}

async function writeSources(mirrors: Mirrors, place: string): Promise<Readonly<Record<string, string>>> {
  const file = join(place, "sources.list");
  await writeFile(file, renderSources(mirrors));
  return { "Dir::Etc::sourcelist": file, "Dir::Etc::sourceparts": "/dev/null" };
}

/** The lines of sources.list(5) that name the suite with its updates in these archives. */
export function renderSources({ debian, security }: Mirrors): string {
  const line = (url: string, suite: string): string => `deb [signed-by=${KEYRING}] ${url} ${suite} main\n`;
  return line(debian, SUITE) + line(debian, `${SUITE}-updates`) + line(security, `${SUITE}-security`);
}
