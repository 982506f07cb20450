import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const REVISION = "1".repeat(40);
const packet = (text: string): string => `${(text.length + 4).toString(16).padStart(4, "0")}${text}`;
/** What a host says of itself in version 2 of Git's protocol, and where HEAD is (gitprotocol-v2(5)). */
const ANSWERS: Readonly<Record<string, { readonly of: string; readonly text: string }>> = {
  "/info/refs": { of: "advertisement", text: `${packet("version 2\n")}${packet("ls-refs\n")}0000` },
  "/git-upload-pack": { of: "result", text: `${packet(`${REVISION} HEAD\n`)}0000` },
};

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
    const answer = ANSWERS[path];
    // A question is read to its end: the next one comes on the same connection.
    request.resume();
    if (answer === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": `application/x-git-upload-pack-${answer.of}` }).end(answer.text);
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
