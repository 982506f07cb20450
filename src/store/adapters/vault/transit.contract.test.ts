import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { InputError, UnavailableError } from "../../../domain/errors.ts";
import { startTransitServer, type TransitServer } from "../../testing/transit-server.ts";
import { soon } from "../../testing/world.ts";
import { createTransitKeyService } from "./transit.ts";

const directory = mkdtempSync(join(tmpdir(), "argosy-transit-"));
const tokenFile = join(directory, "token");
const TOKEN = "hvs.geheim";

let server: TransitServer;
beforeAll(async () => {
  server = await startTransitServer();
  server.tokens.add(TOKEN);
});
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});
afterEach(() => server.answerWith(undefined));

const service = (more: object = {}) => {
  writeFileSync(tokenFile, `${TOKEN}\n`);
  return createTransitKeyService({ address: server.address, mount: "transit", key: "argosy", tokenFile, ...more });
};
const failure = async (promise: Promise<unknown>): Promise<Error> => {
  const error = await promise.then(
    () => new Error("it did not fail"),
    (cause: unknown) => cause as Error,
  );
  // Neither the token nor what was to be unwrapped is in what is logged.
  expect(JSON.stringify([error, error.message, String(error.cause)])).not.toMatch(/geheim|of-a-pod|vault:v1:/);
  return error;
};

describe("a key service", () => {
  it("makes a key that it unwraps again, the same each time, and another each time it is asked for one", async () => {
    const wrapped = await service().generate(soon());
    const key = await service().unwrap(wrapped, soon());
    expect(key).toHaveLength(32);
    expect(await service().unwrap(wrapped, soon())).toEqual(key);
    expect(await service().unwrap(await service().generate(soon()), soon())).not.toEqual(key);
  });

  it("is asked by a ServiceAccount that logs in, whose token is read anew each time", async () => {
    const kubernetes = { role: "argosy", mount: "kubernetes", tokenFile: join(directory, "pod") };
    writeFileSync(kubernetes.tokenFile, "of-another-pod");
    const asking = service({ tokenFile: undefined, kubernetes });
    expect(await failure(asking.generate(soon()))).toBeInstanceOf(UnavailableError);
    writeFileSync(kubernetes.tokenFile, "of-a-pod");
    expect(await asking.unwrap(await asking.generate(soon()), soon())).toHaveLength(32);
    expect(server.asked.slice(-4)).toEqual([
      "POST /v1/auth/kubernetes/login",
      "POST /v1/transit/datakey/wrapped/argosy",
      "POST /v1/auth/kubernetes/login",
      "POST /v1/transit/decrypt/argosy",
    ]);
  });

  it.each([
    ["a caller that it does not know", { status: 403 }, "does not let this caller use the key argosy"],
    ["one that is sealed", { status: 503 }, "status 503: it is sealed, or starting"],
    ["an answer that is none", { status: 200, body: "<html>" }, "gives no answer that can be used"],
    ["an endless one", { status: 200, body: `"${"x".repeat(100_000)}"` }, "answers with status 200"],
    // The token would go along.
    ["one that sends elsewhere", { status: 307, location: "/elsewhere" }, "gives no answer that can be used"],
  ])("is waited for: %s", async (_what, answer, sentence) => {
    const wrapped = await service().generate(soon());
    server.answerWith(answer);
    const error = await failure(service().unwrap(wrapped, soon()));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.message).toContain(sentence);
    expect(server.asked).not.toContain("POST /elsewhere");
  });

  it("is waited for where nothing listens", async () => {
    const gone = await startTransitServer();
    await gone.stop();
    const error = await failure(service({ address: gone.address }).generate(soon()));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.message).toContain("ECONNREFUSED");
  });

  it.each([
    ["what another key wrapped", `vault:v1:${Buffer.alloc(60).toString("base64")}`, {}, "is not what this key wrapped"],
    ["a key that is not there", undefined, { key: "other" }, "there is no key other in a transit engine at transit"],
  ])("refuses %s for good", async (_what, given, more, sentence) => {
    const wrapped = given ?? (await service().generate(soon()));
    const error = await failure(service(more).unwrap(wrapped, soon()));
    expect(error).toBeInstanceOf(InputError);
    expect(error.message).toContain(sentence);
  });

  it("needs a file with a token, and nothing else in it", async () => {
    const asking = service();
    for (const broken of ["", "two words", "line\nline"]) {
      writeFileSync(tokenFile, broken);
      expect(await failure(asking.generate(soon()))).toMatchObject({ code: "store.key-service-file" });
    }
    expect(await failure(service({ tokenFile: "/nowhere" }).generate(soon()))).toMatchObject({
      message: "the file /nowhere cannot be read",
    });
  });

  it("refuses a key of another size", async () => {
    const wrapped = await service().generate(soon());
    server.answerWith({ status: 200, body: JSON.stringify({ data: { plaintext: Buffer.alloc(16).toString("base64") } }) });
    expect((await failure(service().unwrap(wrapped, soon()))).message).toContain("unwraps to 16 bytes instead of 32");
  });
});
