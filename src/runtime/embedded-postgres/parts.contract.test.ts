import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, vi } from "vitest";
import { stateDirError } from "./layout.ts";
import { createHolders, withLock } from "./lock.ts";
import { parsePostmasterPid } from "./postmaster-pid.ts";
import { probe, readAnswer, startupMessage } from "./probe.ts";
import { identify, isServerOf } from "./process-identity.ts";
import { parseUser } from "./run-as.ts";
import { databaseUrl } from "./settings.ts";

const never = new AbortController().signal;

describe("postmaster.pid", () => {
  it("is read line by line", () => {
    expect(parsePostmasterPid("42\n/var/data\n1700000000\n40123\n\n127.0.0.1\n  12 34\nready   \n")).toEqual({
      pid: 42,
      dataDir: "/var/data",
      port: 40123,
      status: "ready",
    });
  });

  it("may be seen while it is being written", () => {
    expect(parsePostmasterPid("42\n/var/data\n17000")).toEqual({ pid: 42, dataDir: "/var/data", port: undefined, status: "unknown" });
  });

  it.each(["", "\n", "42", "-42\n/var/data\n", "0\n/var/data", "x\n/var/data", "99999999999999\n/x"])("names no server in %j", (text) => {
    expect(parsePostmasterPid(text)).toBeUndefined();
  });
});

describe("probe", () => {
  const errorMessage = (sqlState: string): Buffer => {
    const fields = Buffer.from(`SFATAL\0C${sqlState}\0Mno\0\0`);
    const head = Buffer.alloc(5);
    head.write("E", 0);
    head.writeInt32BE(4 + fields.length, 1);
    return Buffer.concat([head, fields]);
  };

  it("takes a request for a password as a yes", () => {
    expect(readAnswer(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 10]))).toBe("accepting");
  });

  it("tells a server that starts from one that refuses us for another reason", () => {
    expect(readAnswer(errorMessage("57P03"))).toBe("starting");
    expect(readAnswer(errorMessage("53300"))).toBe("accepting");
  });

  it("waits for the whole message", () => {
    expect(readAnswer(Buffer.from("R"))).toBeUndefined();
    expect(readAnswer(errorMessage("57P03").subarray(0, 12))).toBeUndefined();
  });

  it("takes anything else for no server", async () => {
    expect(readAnswer(Buffer.from("HTTP/1.1 400"))).toBe("silent");
    const other = createServer((socket) => socket.resume().end("SSH-2.0-x\r\n")).listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    expect(await probe(port, never)).toBe("silent");
    other.close();
    await once(other, "close");
    expect(await probe(port, never)).toBe("silent");
  });

  it("sends a startup message that states its own length", () => {
    const message = startupMessage();
    expect(message.readInt32BE(0)).toBe(message.length);
    expect(message.subarray(-2)).toEqual(Buffer.from([0, 0]));
  });
});

describe("processes", () => {
  it("are told apart from the one that had the pid before", async () => {
    const self = await identify(process.pid);
    expect(self?.pid).toBe(process.pid);
    expect(self).toEqual(await identify(process.pid));
    expect(await identify(999_999_999)).toBeUndefined();
  });

  it.skipIf(process.platform !== "linux")("are gone although nobody has collected what remains of them", async () => {
    // The child ends once the shell has become a program that never asks after it.
    const parent = spawn("/bin/sh", ["-c", "(until grep -q sleep /proc/$$/comm; do :; done) & echo $!; exec /bin/sleep 60"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [pid] = (await once(createInterface(parent.stdout), "line")) as [string];
    await vi.waitFor(async () => expect(await readFile(`/proc/${pid}/stat`, "utf8")).toContain(") Z "), 20_000);
    expect(await identify(Number(pid))).toBeUndefined();
    parent.kill("SIGKILL");
  });

  it("are servers of a data directory by their command line alone", () => {
    const command = ["/x/native/bin/postgres", "-D", "/a b/data", "-p", "1"];
    expect(isServerOf("/a b/data", { pid: 1, startedAt: "", command })).toBe(true);
    expect(isServerOf("/a b/dat", { pid: 1, startedAt: "", command })).toBe(false);
    expect(isServerOf("/other", { pid: 1, startedAt: "", command })).toBe(false);
    expect(isServerOf("/a b/data", { pid: 1, startedAt: "", command: ["vi", "-D", "/a b/data", "-p"] })).toBe(false);
  });
});

describe("the user to run as", () => {
  const fallback = { uid: 65_534, gid: 65_534, name: "nobody" };
  it("is looked up by name, with negative ids as the kernel counts them", () => {
    expect(parseUser("root:x:0:0::/:/bin/sh\nnobody:x:99:98:::\n", fallback)).toEqual({ uid: 99, gid: 98, name: "nobody" });
    expect(parseUser("nobody:*:-2:-2:x:/:/x", fallback)).toEqual({ uid: 4_294_967_294, gid: 4_294_967_294, name: "nobody" });
    expect(parseUser("nobody:x:oops\nroot:x:0:0", fallback)).toEqual(fallback);
  });
});

describe("lock", () => {
  const inDirectory = async (work: (directory: string) => Promise<void>): Promise<void> => {
    const directory = await mkdtemp(join(tmpdir(), "argosy-lock-"));
    try {
      await work(directory);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  };

  it("lets one work at a time, and leaves nothing behind", () =>
    inDirectory(async (directory) => {
      let inside = 0;
      const work = async (): Promise<void> => {
        inside += 1;
        expect(inside).toBe(1);
        // Long enough for another holder to come in, if the lock let it.
        for (let turn = 0; turn < 20; turn += 1) await readdir(directory);
        inside -= 1;
      };
      await Promise.all(Array.from({ length: 10 }, () => withLock(join(directory, "lock"), work, never)));
      expect(await readdir(directory)).toEqual([]);
    }));

  it("is given back when the work fails, and not waited for when nobody wants it", () =>
    inDirectory(async (directory) => {
      const file = join(directory, "lock");
      await expect(withLock(file, () => Promise.reject(new Error("no")), never)).rejects.toThrow("no");
      await withLock(
        file,
        async () => {
          await expect(withLock(file, async () => {}, AbortSignal.timeout(100))).rejects.toThrow();
        },
        never,
      );
      expect(await readdir(directory)).toEqual([]);
    }));

  it.each(["999999999 1\nx\n", `${process.pid} 1\nanother start of this pid\n`, "", "garbage"])(
    "is taken over from a process that is gone: %j",
    (claim) =>
      inDirectory(async (directory) => {
        const file = join(directory, "lock");
        await writeFile(file, claim);
        expect(await withLock(file, () => readFile(file, "utf8"), never)).toMatch(new RegExp(`^${process.pid} `));
      }),
  );

  it("counts as users of a server the living only", () =>
    inDirectory(async (directory) => {
      await writeFile(join(directory, "dead"), "999999999 1\nx\n");
      const holders = createHolders(directory);
      const [leaveA, leaveB] = [await holders.join(), await holders.join()];
      expect(await leaveA()).toEqual({ othersRemain: true });
      expect(await leaveB()).toEqual({ othersRemain: false });
      expect(await readdir(directory)).toEqual([]);
    }));
});

describe("words", () => {
  it.each(["EROFS", "ENOSPC", "EACCES", "ENOTDIR", "EIO"])("name a remedy for %s", (code) => {
    const error = stateDirError("creating it", "postgres.state-dir", Object.assign(new Error("no"), { code }));
    expect(error).toMatchObject({ code: "postgres.state-dir", path: "stateDir", remedy: expect.stringMatching(/\w{3}/) });
  });

  it("make a URL of a port and a password of any kind", () => {
    expect(new URL(databaseUrl(5, "a/b@c")).password).toBe("a%2Fb%40c");
  });
});
