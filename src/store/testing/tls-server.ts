import { chown, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { vi } from "vitest";
import type { KeyPair } from "../../runtime/certificate.ts";
import type { TestServer } from "./test-server.ts";

export interface TlsServer {
  /** Shows this certificate to connections from now on. */
  useCertificate(certificate: KeyPair): Promise<void>;
  /** Takes connections over TLS only, or also others. */
  requireTls(isRequired: boolean): Promise<void>;
}

/** Lets a server of a test speak TLS. Settings are changed over the connection of `server`, which needs no TLS. */
export async function speakTls(server: TestServer, certificate: KeyPair): Promise<TlsServer> {
  const [row] = await server.query<{ readonly data_directory: string }>("show data_directory");
  const directory = row?.data_directory ?? "";
  const { uid, gid } = await stat(directory);
  // The server runs as another user where tests run as root, and takes a key only that is its own.
  const write = async (name: string, text: string): Promise<void> => {
    await rm(join(directory, name), { force: true });
    await writeFile(join(directory, name), text, { mode: 0o600 });
    await chown(join(directory, name), uid, gid);
  };
  const rules = await readFile(join(directory, "pg_hba.conf"), "utf8");
  const reload = async (url?: string): Promise<void> => void (await server.query("select pg_reload_conf()", url));
  const useCertificate = async ({ cert, key }: KeyPair): Promise<void> => {
    await write("server.crt", cert);
    await write("server.key", key);
    await reload();
  };
  await server.query("alter system set ssl = on");
  await useCertificate(certificate);
  await vi.waitFor(async () => {
    const [{ ssl } = { ssl: "" }] = await server.query<{ readonly ssl: string }>("show ssl");
    if (ssl !== "on") throw new Error("the server does not speak TLS yet");
  });
  return {
    useCertificate,
    async requireTls(isRequired) {
      await write("pg_hba.conf", isRequired ? rules.replace(/^host /gm, "hostssl ") : rules);
      await reload(`${server.url}?sslmode=no-verify`);
      await vi.waitFor(async () => {
        const isPlain = await server.query("select").then(
          () => true,
          () => false,
        );
        if (isPlain === isRequired) throw new Error("the server has not read its rules yet");
      });
    },
  };
}
