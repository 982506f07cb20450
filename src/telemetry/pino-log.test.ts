import { describe, expect, it } from "vitest";
import { RefusedError } from "../domain/errors.ts";
import { createLog, type LogOptions } from "./pino-log.ts";

const SECRET = "S3cr3tV4lue-of-some-length";

function aLog(options: Partial<LogOptions> = {}): { readonly log: ReturnType<typeof createLog>; readonly lines: string[] } {
  const lines: string[] = [];
  return { lines, log: createLog({ level: "info", format: "json", write: (line) => void lines.push(line), ...options }) };
}

const parsed = (line: string | undefined): Record<string, unknown> => JSON.parse(line ?? "{}") as Record<string, unknown>;

describe("log", () => {
  it("writes one JSON object a line with time, level, message and fields", () => {
    const { log, lines } = aLog({ fields: { process: "a" } });
    log.child({ instance: "i-1" }).warn({ revision: 3 }, "Applying a shard");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/\n$/);
    expect(parsed(lines[0])).toEqual({
      level: "warn",
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      process: "a",
      instance: "i-1",
      revision: 3,
      message: "Applying a shard",
    });
  });

  it("leaves out what is below its level", () => {
    const { log, lines } = aLog({ level: "warn" });
    log.debug({}, "Reading");
    log.info({}, "Reading");
    log.error({}, "Failing");
    expect(lines.map((line) => parsed(line)["level"])).toEqual(["error"]);
  });

  it("never writes a secret: in a field, a child's field, a message, an error or its cause (P9)", () => {
    const { log, lines } = aLog({ level: "debug", fields: { token: SECRET } });
    const child = log.child({ authorization: `Bearer ${SECRET}`, nested: { kubeconfig: `token: ${SECRET}` } });
    child.debug({ password: SECRET }, `Connecting to https://u:${SECRET}@h`);
    child.info({ headers: { Authorization: SECRET } }, "Asking");
    child.warn({ list: [`password=${SECRET}`] }, "Asking");
    child.error(
      {
        err: new RefusedError(`sending bearer ${SECRET}`, {
          code: "x",
          context: { url: `https://${SECRET}@h` },
          cause: new Error(`token: ${SECRET}`),
        }),
      },
      "Failing",
    );
    expect(lines).toHaveLength(4);
    expect(lines.join("")).not.toContain(SECRET);
    expect(parsed(lines[3])["err"]).toMatchObject({ name: "RefusedError", code: "x", stack: expect.any(String), cause: { name: "Error" } });
  });

  it("does not let a field take the place of level, time or message", () => {
    const { log, lines } = aLog();
    log.info({ level: "none", time: 1, message: "other" }, "Working");
    expect(lines[0]?.match(/"message":/g)).toHaveLength(1);
    expect(parsed(lines[0])).toMatchObject({ level: "info", message: "Working", level_: "none", time_: 1, message_: "other" });
  });

  it("writes lines for people when asked to", () => {
    const { log, lines } = aLog({ format: "pretty" });
    log.info({ key: "a/b", why: "two words", n: 3 }, "Applying");
    log.error({ err: new Error("outer", { cause: new Error("inner") }) }, "Failing");
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}Applying key=a\/b why="two words" n=3\n$/);
    expect(lines[1]).toMatch(/ERROR Failing\n {2}Error: outer\n[\s\S]*caused by:\n {4}Error: inner/);
  });
});
