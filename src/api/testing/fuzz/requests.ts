import fc from "fast-check";

/** As much of a JSON schema as the API's document uses. */
export interface JsonSchema {
  readonly type?: string;
  readonly $ref?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

export interface Operation {
  readonly method: string;
  /** With its parameters in braces. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: JsonSchema | undefined;
  /** Schemas of answers by status. */
  readonly answers: Readonly<Record<string, JsonSchema | undefined>>;
}

interface DocumentOperation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>> }>>;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

/** A request as it goes over the wire. */
export interface RawRequest {
  readonly operation: Operation;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
}

/** What requests are made of besides the document. */
export interface Material {
  /** Names and ids of what is there. */
  readonly known: readonly string[];
  /** Tokens of every role. */
  readonly tokens: readonly string[];
}

export function operationsOf({ paths, components }: ApiDocument): readonly Operation[] {
  const resolved = (schema: JsonSchema | undefined): JsonSchema | undefined =>
    schema?.$ref === undefined ? schema : components.schemas[schema.$ref.replace("#/components/schemas/", "")];
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...{ method: method.toUpperCase(), path, parameters: operation.parameters ?? [] },
      body: resolved(operation.requestBody?.content["application/json"]?.schema),
      answers: Object.fromEntries(
        Object.entries(operation.responses).map(([status, { content }]) => [status, content?.["application/json"]?.schema]),
      ),
    })),
  );
}

/** Texts that have broken servers before. */
const HOSTILE_TEXTS: readonly string[] = [
  ...["", " ", "\0", "a\0b", "\u{feff}", "\u{202e}gnp.exe", "\ud800", "\u{1f4a9}".repeat(40), "é\u0301\u0301\u0301", "İ", "ß", "\u2028"],
  ...["..", "../../../../etc/passwd", "..\\..\\", "%2e%2e%2f", "/", "//", "%00", "%", "%zz", "%c0%af", "%ff%fe", "\\", ";", "?", "#", "*"],
  ...["__proto__", "constructor", "toString", "hasOwnProperty", "null", "undefined", "NaN", "true", "[]", "{}"],
  ...["' or 1=1 --", '"; drop table api_token; --', "$(id)", "`id`", "{{7*7}}", "\x24{jndi:ldap://x}", "<script>", "\r\nx-injected: 1"],
  ...[
    "0",
    "-1",
    "1e999",
    "9".repeat(40),
    "2147483648",
    "9223372036854775808",
    "0x10",
    "1.5",
    "9999-99-99T99:99:99Z",
    "-271821-04-20T00:00:00Z",
  ],
  ...[
    "+275760-09-13T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "0192f3a4",
    "0192f3a4-9c1d-7abc-8def-0123456789ab",
    "ffff",
    "A".repeat(254),
    "b".repeat(5_000),
  ],
];
const HOSTILE_VALUES: readonly unknown[] = [
  ...[null, true, 0, -1, 1.5, 1e308, -0, Number.MAX_SAFE_INTEGER, [], {}, [[[[]]]], { a: { b: { c: 1 } } }, [null, "x", {}]],
  ...[{ __proto__: { admin: true } }, { constructor: { prototype: 1 } }, { toString: 1 }, { length: -1 }, { $ref: "#/x" }],
];
const CONTENT_TYPES: readonly string[] = [
  ...[
    "text/plain",
    "application/xml",
    "application/json; charset=utf-16",
    "application/json;;;",
    "multipart/form-data; boundary=x",
    "json",
  ],
  ...[
    "application/merge-patch+json",
    "application/x-www-form-urlencoded",
    "APPLICATION/JSON",
    "application/json, text/html",
    ";",
    "a/b".repeat(500),
  ],
];
const METHODS: readonly string[] = ["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "PROPFIND"];

const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS),
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.string({ unit: "grapheme", maxLength: 300 }),
);
const hostileValue = fc.oneof(fc.constantFrom(...HOSTILE_VALUES), hostileText, fc.jsonValue(), fc.double());

/** Requests to these operations: about half of them as the document says, the others with some of it broken. */
export function requestsTo(operations: readonly Operation[], material: Material): fc.Arbitrary<RawRequest> {
  return fc.gen().map((g) => {
    const operation = operations[g(fc.nat, operations.length - 1)] as Operation;
    const isOdd = (percent: number): boolean => g(fc.nat, 99) < percent;
    const textOf = (parameter: Parameter): string => String(isOdd(15) ? g(() => hostileText) : g(fitting, parameter.schema, material, 0));
    const fill = (_whole: string, name: string): string => {
      const parameter = operation.parameters.find((each) => each.in === "path" && each.name === name);
      const text = parameter === undefined ? g(() => hostileText) : textOf(parameter);
      return isOdd(6) ? visible(text) : encode(text);
    };
    const path = operation.path.replaceAll(/\{(\w+)\}/g, fill);
    const pairs = operation.parameters.flatMap((parameter) => {
      if (parameter.in !== "query" || isOdd(50)) return [];
      return Array.from({ length: isOdd(10) ? 3 : 1 }, () => `${encode(parameter.name)}=${encode(textOf(parameter))}`);
    });
    if (isOdd(8)) pairs.push(g(oddQuery));
    const headers: Record<string, string> = { ...g(authorizationOf, material), ...(isOdd(10) ? g(oddHeaders) : {}) };
    const body = operation.body === undefined && !isOdd(5) ? undefined : g(bodyOf, operation.body ?? {}, material);
    if (body !== undefined && !isOdd(3)) headers["content-type"] = isOdd(6) ? g(fc.constantFrom, ...CONTENT_TYPES) : "application/json";
    const target = isOdd(4) ? g(oddPath, path) : path;
    const method = isOdd(4) ? g(fc.constantFrom, ...METHODS) : operation.method;
    return { operation, method, target: pairs.length === 0 ? target : `${target}?${pairs.join("&")}`, headers, body };
  });
}

/** Percent-encoded, halves of surrogate pairs as they would come from a client that does not care. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** What a request line can hold, unencoded otherwise. */
function visible(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]/g, (character) => encode(character));
}

const oddQuery = () =>
  fc.constantFrom(
    ...[
      "limit=1&limit=2",
      "limit[]=1",
      "a[b][c]=1",
      "limit=%",
      "=",
      "&&&",
      "__proto__=1",
      "__proto__[x]=1",
      "limit=1%00",
      "unknown=1",
      "%ff=1",
    ],
    ...["after=%ED%A0%80", "since=now", "limit=1;limit=2", "limit=+1", "dryRun", "dryRun=TRUE", "q=".concat("x".repeat(4_000))],
  );

const oddPath = (path: string) =>
  fc.constantFrom(
    ...[
      `/${path}`,
      `${path}/`,
      `${path}/..`,
      `${path}/%2e%2e/%2e%2e/etc/passwd`,
      path.toUpperCase(),
      `${path};x=1`,
      `${path}%20`,
      `${path}.json`,
    ],
    ...[
      `/./${path}`,
      path.replace("/v1", "/v1/../v1"),
      path.replace("/v1", "/%76%31"),
      `${path}%`,
      `${path}%zz`,
      `${path}%00`,
      `/${"a/".repeat(800)}`,
    ],
    ...[path.replace(/[^/]+$/, "x".repeat(2_000)), `http://other.example${path}`, "*", `${path}#fragment`],
  );

const oddHeaders = (): fc.Arbitrary<Record<string, string>> =>
  fc.constantFrom<Record<string, string>>(
    ...[
      { accept: "text/html" },
      { accept: "application/xml;q=9" },
      { "accept-encoding": "br, *;q=0" },
      { "x-http-method-override": "DELETE" },
    ],
    ...[
      { "x-forwarded-for": "127.0.0.1" },
      { range: "bytes=0-1" },
      { "if-match": "*" },
      { origin: "https://evil.example" },
      { host: "evil.example" },
    ],
    ...[{ "content-encoding": "gzip" }, { cookie: "a=b; ".repeat(300) }, { traceparent: "00-zz-zz-01" }, { "x-long": "x".repeat(6_000) }],
    ...[
      { "x-request-id": "\u00ff\u00fe" },
      { "accept-version": "9.9.9" },
      { "content-length": "0" },
      { te: "trailers" },
      { "transfer-encoding": "chunked" },
    ],
  );

function authorizationOf({ tokens }: Material): fc.Arbitrary<Record<string, string>> {
  const good = fc.constantFrom(...tokens).map((token) => ({ authorization: `Bearer ${token}` }));
  const odd = fc.constantFrom<Record<string, string>>(
    ...[
      {},
      { authorization: "" },
      { authorization: "Bearer" },
      { authorization: "Basic YTpi" },
      { authorization: `Bearer ${"x".repeat(4_000)}` },
    ],
    ...[
      { authorization: "Bearer argosy_nobody_knows_this_one" },
      { authorization: "Bearer \u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9" },
    ],
    ...[{ authorization: "bearer argosy_nobody_knows_this_one" }, { authorization: "Bearer ' or 1=1 -- -------------" }],
  );
  return fc.oneof({ weight: 12, arbitrary: good }, { weight: 1, arbitrary: odd });
}

function bodyOf(schema: JsonSchema, material: Material): fc.Arbitrary<string | Buffer> {
  const value = fitting(schema, material, 0);
  const broken = fc
    .tuple(value, hostileValue, fc.nat(), fc.nat(2))
    .map(([whole, hostile, at, how]) => mutated(whole, { hostile, at, how }));
  const text = (arbitrary: fc.Arbitrary<unknown>) => arbitrary.map((each) => JSON.stringify(each) ?? "null");
  return fc.oneof(
    { weight: 12, arbitrary: text(value) },
    { weight: 8, arbitrary: text(broken) },
    { weight: 1, arbitrary: text(hostileValue) },
    { weight: 2, arbitrary: text(value).chain((whole) => fc.nat(whole.length).map((length) => whole.slice(0, length))) },
    { weight: 2, arbitrary: fc.constantFrom<string | Buffer>(...oddBodies()) },
  );
}

const oddBodies = (): readonly (string | Buffer)[] => [
  ...[
    "",
    " ",
    "null",
    "[]",
    "{",
    "\u{feff}{}",
    '{"__proto__":{"admin":true}}',
    '{"constructor":{"prototype":{}}}',
    '{"reason":"a","reason":"b"}',
  ],
  ...[
    "[".repeat(20_000),
    `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`,
    '{"seconds":1e400}',
    '{"seconds":-0}',
    '{"reason":"\\u0000\\ud800"}',
  ],
  ...["a=b&c=d", "<xml/>", `{"reason":"${"x".repeat(100_000)}"}`, "\0\0\0"],
  ...[Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), Buffer.from('{"reason":"\xc0\xaf"}', "latin1"), Buffer.alloc(2_000, 0x80)],
];

/** One value in it replaced, one of its members left out, or one added. */
function mutated(whole: unknown, { hostile, at, how }: { readonly hostile: unknown; readonly at: number; readonly how: number }): unknown {
  if (typeof whole !== "object" || whole === null || Array.isArray(whole)) return hostile;
  const names = Object.keys(whole);
  const name = names[at % Math.max(1, names.length)];
  const members = Object.entries(whole);
  if (how === 0 || name === undefined) return { ...whole, [typeof hostile === "string" ? hostile : "unknown"]: hostile };
  if (how === 1) return Object.fromEntries(members.filter(([each]) => each !== name));
  return Object.fromEntries(members.map(([each, value]) => [each, each === name ? mutated(value, { hostile, at: at >> 3, how }) : value]));
}

const DEEPEST = 5;

/** Values that a schema allows. */
function fitting(schema: JsonSchema, material: Material, depth: number): fc.Arbitrary<unknown> {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map((choice) => fitting(choice, material, depth)));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if ("const" in schema) return fc.constant(schema.const);
  switch (schema.type) {
    case "string":
      return stringOf(schema, material);
    case "integer":
    case "number":
      return numberOf(schema);
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(depth > DEEPEST ? fc.constant(null) : fitting(schema.items ?? {}, material, depth + 1), { maxLength: 3 });
    case "object":
      return fc.record(
        Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, each]) => [name, fitting(each, material, depth + 1)])),
        { requiredKeys: [...(schema.required ?? [])] },
      );
    default:
      return fc.jsonValue();
  }
}

function numberOf({ minimum = -1e6, maximum = 1e6 }: JsonSchema): fc.Arbitrary<number> {
  const [min, max] = [Math.ceil(Math.max(minimum, Number.MIN_SAFE_INTEGER)), Math.floor(Math.min(maximum, Number.MAX_SAFE_INTEGER))];
  return fc.oneof(fc.integer({ min, max: Math.min(max, min + 100) }), fc.constantFrom(min, max));
}

function stringOf({ pattern, format, minLength = 0, maxLength = 300 }: JsonSchema, { known }: Material): fc.Arbitrary<string> {
  if (format === "date-time") return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  if (format === "uri") return fc.webUrl();
  if (pattern !== undefined) {
    const fits = known.filter((each) => new RegExp(pattern).test(each) && each.length <= maxLength);
    // Those with an assertion of what follows cannot be made by what makes the others.
    const made = pattern.includes("(?") ? hostileText : fc.stringMatching(new RegExp(pattern)).filter((each) => each.length <= maxLength);
    return fits.length === 0 ? made : fc.oneof(made, fc.constantFrom(...fits));
  }
  const text = fc.string({ unit: "grapheme", minLength, maxLength: Math.min(maxLength, 300) });
  return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: text });
}
