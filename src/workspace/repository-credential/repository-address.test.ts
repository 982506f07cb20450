import { describe, expect, it } from "vitest";
import { repositoryKey } from "../../domain/repository-credential.ts";
import { parseRepositoryAddress } from "./repository-address.ts";

const EGRESS = { allow: ["10.1.0.0/16"], http: ["git.inside", "plain.example"] };
const parse = (url: string) => parseRepositoryAddress(url, EGRESS);

describe("a repository's URL", () => {
  it.each([
    ["https://git.example/team/App.git", { scheme: "https", host: "git.example", port: 443, key: "https://git.example/team/app" }],
    [" https://git.example:8443/a ", { scheme: "https", host: "git.example", port: 8443, key: "https://git.example:8443/a" }],
    ["http://plain.example/a", { scheme: "http", host: "plain.example", port: 80, key: "http://plain.example/a" }],
    ["ssh://git@git.example/team/app.git", { scheme: "ssh", host: "git.example", port: 22, key: "git@git.example/team/app" }],
    ["ssh://git@git.example:2222/a", { scheme: "ssh", host: "git.example", port: 2222, key: "git@git.example:2222/a" }],
    ["git@git.example:team/app.git", { scheme: "ssh", host: "git.example", port: 22, key: "git@git.example/team/app" }],
    ["https://10.1.2.3/a", { scheme: "https", host: "10.1.2.3", port: 443, key: "https://10.1.2.3/a" }],
    ["https://[2a00:1450::1]/a", { scheme: "https", host: "2a00:1450::1", port: 443, key: "https://[2a00:1450::1]/a" }],
    ["https://git.example/a%20b", { scheme: "https", host: "git.example", port: 443, key: "https://git.example/a%20b" }],
  ] as const)("%s is read as what it is", (url, expected) => {
    expect(parse(url)).toEqual({ ok: true, address: { url: url.trim(), ...expected } });
  });

  it.each([
    ["", "required"],
    ["git.example/a", "must begin with"],
    ["file:///etc/passwd", "must begin with"],
    ["ext::sh -c id", "must begin with"],
    ["git://git.example/a", "must begin with"],
    ["http://git.example/a", "plain http"],
    ["https://user:word@git.example/a", "credentials"],
    ["https://token@git.example/a", "credentials"],
    ["https://127.0.0.1/a", "may not be reached"],
    ["https://2130706433/a", "may not be reached"],
    ["https://metadata/a", "may not be reached"],
    ["https://git.example/a*", "must not contain"],
    ["https://*.git.example/a", "must not contain"],
    ["https://git.example/a?b=c", "must not contain"],
    ["https://git.example/a#b", "must not contain"],
    ["https://git.example/!a", "must not contain"],
    ["https://git.example/a'b", "must not contain"],
    ["https://git.example/%zz", "two hexadecimal"],
    ["https://git.example/a\nb", "control characters"],
    ["https://ex\u00e4mple.example/a", "names no host"],
    ["https://git%2eexample/a", "names no host"],
    ["https://8.8.2056/a", "names no host"],
    ["https://git.example./a", "names no host"],
    ["ssh://git.example/a", "names no user"],
    ["ssh://git@-oProxyCommand=id/a", ""],
    ["ssh://git@a$(id)b.example/a", "names no host"],
    ["ssh://git@a;id.example/a", "names no host"],
    ["ssh://git@a&b.example/a", "names no host"],
    ["-oProxyCommand=id@git.example:a", ""],
    ["git@-oProxyCommand=id:a", ""],
    ["git@git.example:-a", ""],
  ])("%j is refused", (url, complaint) => {
    const parsed = parse(url);
    expect(parsed.ok).toBe(false);
    expect(parsed.ok ? "" : parsed.message).toContain(complaint);
    expect(parsed.ok ? "" : parsed.message).toMatch(/^spec\.repository /);
  });

  it("has one key for all spellings that Argo CD takes for one repository, and another for every other", () => {
    const same = [
      [
        "https://git.example/Team/App",
        "https://GIT.example/team/app.git",
        "HTTPS://git.example/TEAM/APP.GIT",
        " https://git.example/team/app ",
      ],
      ["git@git.example:team/app", "ssh://git@git.example/team/app.git", "GIT@git.example:team/app.git"],
    ];
    const keys = same.map((urls) => new Set(urls.map(repositoryKey)));
    for (const each of keys) expect(each.size).toBe(1);
    const others = [
      "https://git.example/team/app/",
      "https://git.example:443/team/app",
      "http://git.example/team/app",
      "me@git.example:team/app",
    ];
    expect(new Set([...keys.flatMap((each) => [...each]), ...others.map(repositoryKey)]).size).toBe(2 + others.length);
  });
});
