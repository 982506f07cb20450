import { describe, expect, it } from "vitest";
import { isLoopback } from "./is-loopback.ts";

describe("a host that is this machine", () => {
  it.each(["localhost", "LOCALHOST", "127.0.0.1", "127.255.0.9", "::1", "[::1]", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "[::ffff:7f00:1]"])(
    "is %s",
    (host) => expect(isLoopback(host)).toBe(true),
  );

  it.each(
    [
      ["0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "::2", "[::ffff:10.0.0.1]", "127.0.0.1.example.com", "localhost.example.com"],
      ["notlocalhost", "127.1", "", "127.0.0.1:80", "[127.0.0.1", "argosy.localhost", "localhost."],
    ].flat(),
  )("is not %s", (host) => expect(isLoopback(host)).toBe(false));
});
