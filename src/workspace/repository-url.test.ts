import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRepositoryUrl } from "./repository-url.ts";

const CLOSED = { allow: [], http: [] };
const INSIDE = { allow: ["10.1.0.0/16", "fd00::/8"], http: ["git.inside.example", "127.0.0.1:3000", "gitea.tools.svc"] };

const urlOf = (raw: string, egress: typeof CLOSED | typeof INSIDE = CLOSED) => {
  const parsed = parseRepositoryUrl(raw, egress);
  return parsed.ok ? parsed.url : parsed.problem.message;
};

describe("a repository's URL", () => {
  it.each([
    ["https://git.example/jane/guestbook"],
    ["https://git.example:8443/jane/guestbook.git"],
    ["HTTPS://Git.Example/Jane/Guestbook"],
    ["ssh://git@git.example/jane/guestbook"],
    ["ssh://git.example:2222/jane/guestbook"],
    ["git@git.example:jane/guestbook.git"],
    ["git@[2606:4700::1111]:jane/guestbook.git"],
    ["https://git.example/a%20b;c&d'e"],
    ["https://140.82.112.3/jane/guestbook"],
  ])("takes %s as it is", (url) => {
    expect(urlOf(url)).toBe(url);
  });

  it("W14: encodes what a URL may not hold instead of dropping it, and drops space around it", () => {
    expect(urlOf("  https://git.example/my repo/é\n")).toBe("https://git.example/my%20repo/%C3%A9");
    expect(urlOf('https://git.example/a"b`c{d}')).toBe("https://git.example/a%22b%60c%7Bd%7D");
    expect(urlOf("https://git.example/\ud800")).toBe("https://git.example/%EF%BF%BD");
  });

  it.each([
    "file:///etc/passwd",
    "git://git.example/x",
    "ftp://git.example/x",
    "ext::sh -c id",
    "/srv/git/x",
    "git.example:jane/x",
    "-oProxyCommand=id@host:x",
    "git@-oProxyCommand=id:x",
    "git@host:-x",
    "javascript:alert(1)",
    "file:/etc@host:x",
  ])("refuses %s: none of the forms it may have", (url) => {
    expect(urlOf(url)).toContain("must begin with https:// or ssh://, or have the form user@host:path");
  });

  it.each([
    ["", "is a required field and it cannot be empty"],
    ["   ", "is a required field and it cannot be empty"],
    ["https://git.example/a\u0000b", "must not contain control characters"],
    ["https://git.example/a\nb", "must not contain control characters"],
    ["https://jane:secret@git.example/x", "must not contain credentials"],
    ["https://token@git.example/x", "must not contain credentials"],
    ["ssh://git:secret@git.example/x", "must not contain credentials"],
    ["ssh://-oProxyCommand=id@git.example/x", "names a user that is none"],
    ["ssh:///x", "names no host"],
    ["ssh://-oProxyCommand/x", "names no host"],
    ["https://", "is not a valid URL"],
    ["https://git.example:99999/x", "is not a valid URL"],
    ["http://git.example/x", "plain http, which is not allowed for this host"],
  ])("refuses %j: %s", (url, complaint) => {
    expect(urlOf(url)).toContain(complaint);
  });

  it.each([
    "https://127.0.0.1/x",
    "https://10.0.0.7/x",
    "https://169.254.169.254/latest",
    "https://192.168.1.1/x",
    "https://[::1]/x",
    "https://[fd00::7]/x",
    "https://[::ffff:10.0.0.7]/x",
    "https://0x7f.1/x",
    "https://2130706433/x",
    "ssh://git@0177.0.0.1/x",
    "git@10.0.0.7:x",
    "git@[::1]:x",
    "https://localhost/x",
    "https://LOCALHOST./x",
    "https://git/x",
    "https://gitea.tools.svc/x",
    "https://gitea.tools.svc.cluster.local/x",
    "https://metadata.google.internal/x",
  ])("S5: refuses %s: it leads inside", (url) => {
    expect(urlOf(url)).toMatch(/may not be reached from here; ask your administrator/);
  });

  it.each([
    "https://10.1.2.3/x",
    "git@10.1.2.3:x",
    "https://[fd00::7]/x",
    "http://git.inside.example/x",
    "http://GIT.inside.example./x",
    "https://gitea.tools.svc/x",
  ])("takes %s where the administrator allows it", (url) => {
    expect(urlOf(url, INSIDE)).toBe(url);
  });

  it("allows plain http for a listed host and port only, and an address only by its range", () => {
    expect(urlOf("http://127.0.0.1:3000/x", INSIDE)).toContain("may not be reached");
    expect(urlOf("http://127.0.0.1:3000/x", { ...INSIDE, allow: ["127.0.0.0/8"] })).toBe("http://127.0.0.1:3000/x");
    expect(urlOf("http://127.0.0.1:3001/x", { ...INSIDE, allow: ["127.0.0.0/8"] })).toContain("plain http");
  });

  it("refuses what is too long for a status once it is encoded", () => {
    expect(urlOf(`https://git.example/${"é".repeat(2000)}`)).toContain("is longer than 2048 characters once it is percent-encoded");
    expect(urlOf(`https://git.example/${"é".repeat(300)}`)).toContain("%C3%A9");
  });

  it("names the field it was asked about, and never lets a control character, a file or credentials through", () => {
    expect(parseRepositoryUrl("x", CLOSED, "spec.repository")).toMatchObject({ problem: { path: "spec.repository" } });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.webUrl({ withFragments: true }),
          fc.string().map((text) => `https://${text}`),
        ),
        (raw) => {
          const parsed = parseRepositoryUrl(raw, CLOSED);
          if (!parsed.ok) return;
          expect(parsed.url).toMatch(/^[\u0021-\u007e]+$/);
          expect(parsed.url).toMatch(/^(https|ssh):\/\/|^[A-Za-z0-9_][A-Za-z0-9._-]*@/i);
          if (URL.canParse(parsed.url)) expect(new URL(parsed.url).password).toBe("");
        },
      ),
    );
  });
});
