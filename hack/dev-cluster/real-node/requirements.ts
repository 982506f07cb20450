import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { InputError } from "../../../src/domain/errors.ts";
import { run } from "./run.ts";

/** What a real node runs that is not built here: the file that shows that it is there, and the Debian package that has it. */
const PROGRAMS: readonly { readonly program: string; readonly debian: string }[] = [
  { program: "containerd", debian: "containerd" },
  { program: "ctr", debian: "containerd" },
  { program: "runc", debian: "runc" },
  { program: "iptables", debian: "iptables" },
  { program: "conntrack", debian: "conntrack" },
  { program: "nft", debian: "nftables" },
  { program: "ip", debian: "iproute2" },
  { program: "nsenter", debian: "util-linux" },
  { program: "sysctl", debian: "procps" },
  { program: "debootstrap", debian: "debootstrap" },
  { program: "/usr/lib/cni/ptp", debian: "containernetworking-plugins" },
  // Builds Argosy's own image, which pods of the chart's tests run.
  { program: "buildah", debian: "buildah" },
];

/** Where programs of administrators are, also for a user whose PATH leaves them out. */
const PATHS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** What is missing for a real node, as the end of a sentence, and what to do about it. */
export interface MissingForRealNode {
  readonly why: string;
  readonly remedy: string;
  /** Debian packages that would mend it. Empty: no package would. */
  readonly packages: readonly string[];
}

/** Whether this machine can run a real node: root, control groups, overlayfs, and the programs of a few Debian packages. */
export function missingForRealNode(): MissingForRealNode | undefined {
  if (process.platform !== "linux") return unable("it needs Linux", "Run it on Linux, or leave --node out");
  if (process.getuid?.() !== 0)
    return unable("it needs root (network namespaces, control groups, mounts)", "Run it as root, or leave --node out");
  if (!/\boverlay$/m.test(readFileSync("/proc/filesystems", "utf8")))
    return unable("the kernel has no overlayfs", "Load the module overlay, or leave --node out");
  if (!isWritable("/sys/fs/cgroup"))
    return unable("control groups cannot be made below /sys/fs/cgroup", "Mount them so that root may write");
  const absent = PROGRAMS.filter(({ program }) => !isThere(program));
  if (absent.length === 0) return undefined;
  const packages = [...new Set(absent.map(({ debian }) => debian))];
  const remedy = `Install the packages: apt-get install --no-install-recommends ${packages.join(" ")}`;
  return { why: `it needs ${absent.map(({ program }) => program).join(", ")}`, remedy, packages };
}

function unable(why: string, remedy: string): MissingForRealNode {
  return { why, remedy, packages: [] };
}

/**
 * Installs what is missing with apt-get, where there is one. Throws `InputError` with what is missing and the remedy where that is not
 * possible, or has not helped.
 */
export async function provideForRealNode(say: (text: string) => void, signal: AbortSignal): Promise<void> {
  const missing = missingForRealNode();
  if (missing === undefined) return;
  if (missing.packages.length > 0 && isThere("apt-get")) {
    say(`installing Debian packages: ${missing.packages.join(" ")}`);
    const env = { DEBIAN_FRONTEND: "noninteractive" };
    await run("apt-get", ["update", "-q"], signal, env);
    await run("apt-get", ["install", "-qy", "--no-install-recommends", ...missing.packages], signal, env);
  }
  const still = missingForRealNode();
  if (still === undefined) return;
  throw new InputError(`A real node cannot run here: ${still.why}`, { code: "dev.no-real-node", path: "--node", remedy: still.remedy });
}

function isThere(program: string): boolean {
  if (program.startsWith("/")) return existsSync(program);
  return [...(process.env["PATH"] ?? "").split(delimiter), ...PATHS].some((folder) => folder !== "" && existsSync(join(folder, program)));
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
