import { describe, expect, it } from "vitest";
import { parseReleaseOptions } from "./options.ts";

describe("the options of npm run release", () => {
  it("make a release of HEAD for every platform without any", () => {
    expect(parseReleaseOptions([])).toMatchObject({
      what: "release",
      output: "text",
      options: { commit: "HEAD", architectures: ["amd64", "arm64"], base: "local", key: undefined, out: "dist/release", snapshot: false },
    });
  });

  it("check a release, with its signatures where a key is given", () => {
    expect(parseReleaseOptions(["--verify", "dist/release", "--public-key", "key.pem", "-o", "json"])).toEqual({
      what: "verify",
      directory: "dist/release",
      publicKey: "key.pem",
      output: "json",
    });
  });

  it("take a platform once, and mirrors without a slash at the end", () => {
    const wanted = parseReleaseOptions(["--platform", "linux/arm64,linux/arm64", "--mirror", "http://mirror.example/debian/"]);
    expect(wanted).toMatchObject({
      options: {
        architectures: ["arm64"],
        mirrors: { debian: "http://mirror.example/debian", security: "http://mirror.example/debian-security" },
      },
    });
  });

  it.each([
    [["--platform", "linux/s390x"], "--platform linux/s390x: there are linux/amd64 and linux/arm64"],
    [["--platform="], "--platform is empty"],
    [["--image", "Argosy"], "--image Argosy"],
    [["--image", "host/argosy:1"], "--image host/argosy:1"],
    [["--mirror", "file:///srv"], "--mirror file:///srv"],
    [["--builder", "ci"], "--builder ci: it is a URI"],
    [["-o", "yaml"], "-o yaml: it is json or text"],
    [["--public-key", "a"], "--public-key goes with --verify"],
    [["--unheard"], "'--unheard'"],
    [["extra"], "'extra'"],
  ])("refuse %j", (args, message) => {
    expect(() => parseReleaseOptions(args)).toThrow(
      expect.objectContaining({ code: "release.options", message: expect.stringContaining(message) as string }),
    );
  });
});
