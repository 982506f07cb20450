import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = "/sys/fs/cgroup";

/** The folders in which groups are made: the one of version 2, or one for each hierarchy of version 1. */
function hierarchies(): readonly string[] {
  if (existsSync(join(ROOT, "cgroup.controllers"))) return [ROOT];
  return readdirSync(ROOT)
    .map((name) => join(ROOT, name))
    .filter((path) => existsSync(join(path, "cgroup.procs")));
}

/** Makes the group of a node in every hierarchy: the kubelet makes those of pods below it, and not this one. */
export function createControlGroup(name: string): void {
  for (const hierarchy of hierarchies()) {
    const group = join(hierarchy, name);
    mkdirSync(group, { recursive: true });
    // A new group of version 1 has neither CPUs nor memory nodes, and nothing can be put into it.
    for (const file of ["cpuset.cpus", "cpuset.mems"])
      if (existsSync(join(hierarchy, file)) && existsSync(join(group, file)))
        writeFileSync(join(group, file), readFileSync(join(hierarchy, file), "utf8"));
  }
}

/** Process ids in a node's groups. */
export function processesIn(name: string): readonly number[] {
  const ids = hierarchies().flatMap((hierarchy) =>
    groupsBelow(join(hierarchy, name)).flatMap((group) => read(join(group, "cgroup.procs"))),
  );
  return [...new Set(ids)];
}

/** Removes a node's groups, as far as nothing runs in them. */
export function removeControlGroup(name: string): void {
  // The lowest first: a group with others in it cannot be removed.
  for (const hierarchy of hierarchies())
    for (const group of [...groupsBelow(join(hierarchy, name))].reverse())
      try {
        rmdirSync(group);
      } catch {
        // It is in use, and a later removal takes it.
      }
}

function groupsBelow(group: string): readonly string[] {
  if (!existsSync(group)) return [];
  const children = readdirSync(group, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [group, ...children.flatMap(({ name }) => groupsBelow(join(group, name)))];
}

function read(file: string): readonly number[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map(Number);
  } catch {
    return [];
  }
}
