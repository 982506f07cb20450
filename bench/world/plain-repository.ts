import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const REVISION = "1".repeat(40);
/** What git asks a web server for that knows nothing of git (gitprotocol-http(5), dumb clients). */
const FILES: Readonly<Record<string, string>> = { "/info/refs": `${REVISION}\trefs/heads/main\n`, "/HEAD": "ref: refs/heads/main\n" };

/** A repository that says which revision its branch has, and holds nothing. */
export interface PlainRepository {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Serves a repository to whoever only asks which revision it has, as Argosy does for each workspace. Nothing is started for an answer: git's own
 * server takes a process for each question, so filling a fleet would measure that.
 */
export async function servePlainRepository(): Promise<PlainRepository> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname.replace(/^\/app\.git/, "");
    const text = FILES[path];
    response.writeHead(text === undefined ? 404 : 200, { "content-type": "text/plain" }).end(text);
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/app.git`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
