import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import type { RunConfig } from "../oci/image-config.ts";
import type { TarEntry } from "../oci/tar.ts";

/** Unpacks an image's files below a folder, as an engine would. */
export async function unpackImage(entries: Iterable<TarEntry>, to: string): Promise<void> {
  for (const entry of entries) {
    const path = join(to, entry.path);
    await mkdir(dirname(path), { recursive: true });
    if (entry.kind === "directory") await mkdir(path, { recursive: true });
    if (entry.kind === "link") await symlink(entry.target, path);
    else if (entry.kind === "file") await writeFile(path, entry.content);
    if (entry.kind !== "link") await chmod(path, entry.mode);
  }
}

export interface ContainerOptions {
  /** The unpacked image. */
  readonly root: string;
  readonly run: RunConfig;
  /** In place of the image's entry point and command. */
  readonly args?: readonly string[];
  readonly user?: number;
  readonly env?: readonly string[];
}

export interface ContainerEnd {
  readonly exitCode: number | null;
  readonly output: string;
}

/** Runs a container as a restricted pod's: no capability, no way to gain any, a read-only root, and the volumes of the image empty. It shares this machine's network. */
export async function runContainer({ root, run, args, user, env = [] }: ContainerOptions, work: string): Promise<ContainerEnd> {
  const folder = await mkdtemp(join(work, "container-"));
  const id = `argosy-test-${randomUUID()}`;
  const uid = user ?? Number(run.User?.split(":")[0]);
  const tmpfs = (destination: string) => ({ destination, type: "tmpfs", source: "tmpfs", options: ["nosuid", "nodev", "mode=1777"] });
  const spec = {
    ociVersion: "1.0.2",
    process: {
      ...{ terminal: false, user: { uid, gid: user === undefined ? uid : 0 }, cwd: run.WorkingDir ?? "/", noNewPrivileges: true },
      args: args ?? [...(run.Entrypoint ?? []), ...(run.Cmd ?? [])],
      env: [...(run.Env ?? []), ...env],
    },
    root: { path: root, readonly: true },
    mounts: [
      { destination: "/proc", type: "proc", source: "proc" },
      { destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "strictatime", "mode=755", "size=65536k"] },
      ...Object.keys(run.Volumes ?? {}).map(tmpfs),
    ],
    linux: { namespaces: ["pid", "mount", "ipc", "uts"].map((type) => ({ type })) },
  };
  await writeFile(join(folder, "config.json"), JSON.stringify(spec));
  try {
    const child = spawn("runc", ["--root", join(work, "runc"), "run", "-b", folder, id], { stdio: ["ignore", "pipe", "pipe"] });
    const [out, err, exitCode] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve)),
    ]);
    return { exitCode, output: out + err };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
