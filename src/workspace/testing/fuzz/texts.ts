import fc from "fast-check";

/** Stands in every secret that is generated, in one piece however it is cut: nothing that anybody reads may contain it. */
export const MARK = "Zq7NeverShow9vX";

/** Hosts that only mean something inside, in the spellings that programs take for them. */
export const INSIDE_HOSTS = [
  ...["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "localhost", "LOCALHOST.", "[::1]", "[::ffff:127.0.0.1]"],
  ...["169.254.169.254", "[fd00:ec2::254]", "metadata.google.internal", "kubernetes.default.svc", "10.0.0.1", "0", "[::]"],
] as const;

const PATHS = ["..", "../..", "a/../../b", "/", "//", "/etc/passwd", "./..", "a\\..\\..\\b", "%2e%2e/%2e%2e", "~root", "a/./../../x"];
const OPTIONS = ["-", "--", "-oProxyCommand=id", "--upload-pack=id", "--exec-path=.", "-c core.sshCommand=id"];
const URLS = [
  ...["file:///etc/passwd", "file://localhost/etc", "git://git.example/x", "ext::sh -c id", "http://git.example/x", "ftp://git.example"],
  ...["javascript:alert(1)", "https://", "https:///x", "https://-host/x", "https://[/x", "ssh://-oProxyCommand=id@git.example/x"],
  ...[
    "git@-host:x",
    "git@git.example:-x",
    "-git@git.example:x",
    "https://git.example:99999/x",
    "https://git.example/%zz",
    "//git.example/x",
  ],
  ...[
    `https://jane:${MARK}@git.example/x`,
    `https://${MARK}@git.example/x`,
    `ssh://git:${MARK}@git.example/x`,
    "https://git.example:port/x",
  ],
  ...INSIDE_HOSTS.flatMap((host) => [`https://${host}/x`, `https://${host}:8443/latest/meta-data`, `ssh://git@${host}/x`, `git@${host}:x`]),
];
const CONTROL = [
  "\u0000",
  "\r\n",
  "a\r\nSet-Cookie: x",
  "\u001b[2J",
  "\u007f",
  "\u0085",
  "\u2028",
  "\u202e",
  "\ufeff",
  "a\tb",
  " ",
  "\u00a0",
];
const UNICODE = [
  "é",
  "🚀",
  "👩‍👩‍👧‍👦",
  "ａｄｍｉｎ",
  "xn--80ak6aa92e.example",
  "раураl.example",
  "İ",
  "ß",
  "\ud800",
  "a\udfffb",
  "\u0301\u0301",
];
const WORDS = [
  "",
  "null",
  "undefined",
  "true",
  "0",
  "-1",
  "1e309",
  "NaN",
  "__proto__",
  "constructor",
  "{{.}}",
  "$x",
  "$(id)",
  "`id`",
  "'\"",
  "*",
  "?",
];

/** Text as somebody would choose it who wants to get somewhere, or to break something. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...PATHS, ...OPTIONS, ...URLS, ...CONTROL, ...UNICODE, ...WORDS) },
  { weight: 3, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom("a", "/", "..", "é", "🚀", "%", "\n"), fc.integer({ min: 200, max: 5000 })).map(repeated),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...URLS), fc.constantFrom(...CONTROL, ...UNICODE, ...OPTIONS)).map(([a, b]) => a + b) },
);

/** Anything JSON can say: deep, wide, with names that objects have already. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: hostileText },
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 3, stringUnit: "binary" }) },
  { weight: 2, arbitrary: fc.constantFrom(null, true, -1, 1.5, 1e300, Number.MAX_SAFE_INTEGER + 2, [], {}, [[]], [null]) },
  { weight: 1, arbitrary: fc.integer({ min: 10, max: 500 }).map(deep) },
  {
    weight: 1,
    arbitrary: fc.tuple(hostileText, fc.integer({ min: 2, max: 2000 })).map(([text, times]) => Array.from({ length: times }, () => text)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('{"__proto__":{"a":1}}', '{"constructor":{"prototype":{}}}').map((text): unknown => JSON.parse(text)),
  },
);

function repeated([text, times]: readonly [string, number]): string {
  return text.repeat(times);
}

function deep(levels: number): unknown {
  let value: unknown = "deep";
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? { a: value } : [value];
  return value;
}
