import { readFile, stat } from "node:fs/promises";
import { InputError } from "../../domain/errors.ts";

/** The user a server is started as when we are root ourselves. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
}

/** What Linux distributions use; for images whose /etc/passwd does not know `nobody`. */
const NOBODY: RunAs = { uid: 65_534, gid: 65_534, name: "nobody" };

/**
 * Decides who runs the server: ourselves (`undefined`) unless we are root, whom PostgreSQL refuses. Then it is the owner of
 * the data directory when there is one, else `nobody`. Raises InputError when the data directory belongs to somebody we
 * cannot become.
 */
export async function chooseRunAs(dataDir: string): Promise<RunAs | undefined> {
  const ownUid = process.getuid?.();
  const owner = await ownerOf(dataDir);
  if (ownUid === undefined || ownUid !== 0) {
    if (owner !== undefined && owner.uid !== ownUid)
      throw wrongOwner(dataDir, owner.uid, `Start Argosy as user ${owner.uid}, or choose another state directory`);
    return undefined;
  }
  if (owner === undefined) return parseUser(await readFile("/etc/passwd", "utf8").catch(() => ""), NOBODY);
  if (owner.uid === 0) throw wrongOwner(dataDir, 0, `Give it to the user the server shall run as: chown -R nobody '${dataDir}'`);
  return { ...owner, name: `uid ${owner.uid}` };
}

/** The entry of `fallback.name` in the text of an /etc/passwd, else `fallback`. Negative ids (macOS) wrap as in the kernel. */
export function parseUser(passwd: string, fallback: RunAs): RunAs {
  for (const line of passwd.split("\n")) {
    const [name, , uid, gid] = line.split(":");
    if (name === fallback.name && uid !== undefined && gid !== undefined && /^-?\d+$/.test(uid) && /^-?\d+$/.test(gid)) {
      return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0, name };
    }
  }
  return fallback;
}

async function ownerOf(dataDir: string): Promise<{ readonly uid: number; readonly gid: number } | undefined> {
  try {
    const { uid, gid } = await stat(dataDir);
    return { uid, gid };
  } catch {
    return undefined;
  }
}

function wrongOwner(dataDir: string, uid: number, remedy: string): InputError {
  return new InputError(`using ${dataDir}, which belongs to user ${uid}`, {
    code: "postgres.owner",
    path: "stateDir",
    remedy,
    context: { uid },
  });
}
